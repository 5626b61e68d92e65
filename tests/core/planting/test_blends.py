"""Corrections between stances: they arrive where and as fast as the foot does, and go away in between."""

import numpy as np
import pytest

from twobone_addon.core.planting.blends import Ease, eased

EASE = 40
BRIEF = Ease(EASE, EASE)
FIRST, LAST = slice(60, 81), slice(220, 231)
SPEEDS = np.array([0.01, -0.02, 0.03])
"""Change per sample of what is known, by axis."""


def known_twice(second, count=300):
    """Which samples two stances have, and corrections that are known in them and change steadily there."""
    known = np.zeros(count, bool)
    known[FIRST], known[second] = True, True
    values = np.arange(count)[:, None] * SPEEDS + [1.0, 5.0, -7.0]
    return known, np.where(known[:, None], values, np.nan)


@pytest.mark.parametrize("second", [slice(140, 151), slice(161, 171), LAST], ids=["close", "just far enough", "far"])
def test_corrections_leave_and_arrive_as_fast_as_what_is_known_moves(second):
    known, values = known_twice(second)
    found, touched = eased(known, values, BRIEF)
    assert np.array_equal(found[known], values[known])
    for edge, way in ((FIRST.start, -1), (FIRST.stop - 1, 1), (second.start, -1), (second.stop - 1, 1)):
        step, following = np.diff(found[[edge, edge + way, edge + 2 * way]], axis=0) * way
        assert step == pytest.approx(SPEEDS, abs=2e-3)
        assert following == pytest.approx(SPEEDS, abs=2e-2)
    assert np.abs(np.diff(found, 2, axis=0)).max() < 10.0 * np.abs(values[known]).max() / EASE**2
    assert np.array_equal(touched, np.any(found != 0.0, axis=1))


def test_a_foot_that_slid_by_is_held_and_let_go_without_ever_being_faster_than_it_was():
    speed = 0.01
    raw = np.arange(2500)[:, None] * [speed, 0.0, 0.0]
    known = np.zeros(len(raw), bool)
    known[1240:1261] = True
    found, _ = eased(known, raw[known].mean(axis=0) - raw, Ease(least=10, most=1000, speed=0.02 * speed))
    steps = np.diff((raw + found)[:, 0])
    assert np.all((steps >= -1e-12) & (steps <= 1.05 * speed))


def test_far_from_what_is_known_there_is_no_correction():
    known, values = known_twice(LAST)
    found, touched = eased(known, values, BRIEF)
    near = np.zeros(len(known), bool)
    near[FIRST.start - EASE + 1 : FIRST.stop + EASE - 1] = near[LAST.start - EASE + 1 : LAST.stop + EASE - 1] = True
    assert np.array_equal(touched, near)
    assert not found[~near].any()


def test_between_stances_that_are_close_the_correction_does_not_go_away():
    known, values = known_twice(slice(120, 131))
    values[120:131] = values[60]
    values[FIRST] = values[70]
    found, touched = eased(known, values, BRIEF)
    between = slice(FIRST.stop, 120)
    assert touched[between].all()
    low, high = (edge(values[80], values[120]) for edge in (np.minimum, np.maximum))
    assert np.all((found[between] >= low) & (found[between] <= high))


@pytest.mark.parametrize("start, stop", [(50, 300), (0, 240), (61, 229)])
def test_where_a_motion_is_cut_off_corrections_are_as_if_it_went_on(start, stop):
    known, values = known_twice(LAST)
    whole, _ = eased(known, values, BRIEF)
    cut, _ = eased(known[start:stop], values[start:stop], BRIEF)
    assert cut == pytest.approx(whole[start:stop], abs=1e-12)


def test_without_anything_known_there_is_no_correction():
    found, touched = eased(np.zeros(5, bool), np.ones((5, 3)), BRIEF)
    assert not found.any()
    assert not touched.any()


def test_a_large_correction_takes_longer_than_a_small_one_and_is_no_faster_than_wanted():
    widths = []
    for size in (0.01, 1.0, 3.0, 100.0):
        known, values = np.zeros(400, bool), np.full((400, 3), np.nan)
        known[190:211], values[190:211] = True, [size, 0.0, 0.0]
        found, touched = eased(known, values, Ease(least=10, most=150, speed=0.05))
        widths.append(np.flatnonzero(touched)[-1] - 210)
        if size < 100.0:
            assert np.abs(np.diff(found, axis=0)).max() <= 0.0501
    assert widths == [9, 37, 112, 149]
