"""Frames in a row, drawn as texts: `#` is a frame that counts."""

import numpy as np
import pytest

from twobone_addon.core.contacts.feet import slopes
from twobone_addon.core.contacts.states import runs, without_gaps, without_short


def drawn(text):
    return np.array([letter == "#" for letter in text], bool)


def text_of(mask):
    return "".join("#" if each else "." for each in mask)


@pytest.mark.parametrize(
    "mask, expected",
    [("", []), ("...", []), ("###", [(0, 2)]), ("#..##.#", [(0, 0), (3, 4), (6, 6)]), (".##.", [(1, 2)])],
)
def test_rows_have_a_first_and_a_last_frame(mask, expected):
    assert runs(drawn(mask)) == expected


@pytest.mark.parametrize(
    "mask, longest, expected",
    [
        ("..#.#..#...#.", 2, "..######...#."),
        ("..#.#..#...#.", 1.5, "..###..#...#."),
        ("..#.#..#...#.", 3, "..##########."),
        ("..#.#..#...#.", 0, "..#.#..#...#."),
        ("....", 9, "...."),
    ],
)
def test_gaps_are_closed_up_to_their_longest_but_not_before_and_after_all(mask, longest, expected):
    given = drawn(mask)
    assert text_of(without_gaps(given, longest)) == expected
    assert text_of(given) == mask


@pytest.mark.parametrize(
    "mask, shortest, expected",
    [
        ("#..##.###..#", 3, "#.....###..#"),
        ("#..##.###..#", 2, "#..##.###..#"),
        (".#..##.###.#.", 2.5, ".......###..."),
        ("##.##.##", 9, "##....##"),
    ],
)
def test_short_rows_are_dropped_unless_they_are_cut_off(mask, shortest, expected):
    given = drawn(mask)
    assert text_of(without_short(given, shortest)) == expected
    assert text_of(given) == mask


def test_of_a_single_frame_there_are_no_slopes_for_any_foot():
    assert slopes(np.ones((2, 3, 1, 3)), steps=4).shape == (2, 3, 0, 3)
    rising = np.arange(3.0)[:, np.newaxis] * [1.0, 0.0, -2.0]
    np.testing.assert_allclose(slopes(rising, steps=4), [[1.0, 0.0, -2.0]], atol=1e-15)
