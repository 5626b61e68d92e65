"""Motion that goes on from its end to its start, and where numbers turn back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from twobone_addon.core.curves.frames import goes_on, meets, seam_slopes, turning_points

FRAMES = np.arange(101.0)


def swing(periods, *, per_frame=100, phase=0.4):
    """Two channels that swing about different means, `(F, 2)`."""
    time = 2.0 * np.pi * periods * FRAMES / per_frame + phase
    return np.stack([0.3 + 0.5 * np.sin(time), 2.0 - 0.2 * np.cos(time)], axis=-1)


def test_a_cycle_ends_where_it_begins_also_after_whole_turns():
    assert meets(swing(2))
    assert meets(swing(2) + np.outer(FRAMES / 100.0, [2.0 * np.pi, -4.0 * np.pi]))
    assert not meets(swing(2) + np.outer(FRAMES / 100.0, [np.pi, 0.0]))
    assert not meets(swing(2) + np.outer(FRAMES / 100.0, [0.0, -0.01]))
    assert not meets(swing(1.5))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("step", [0.5, 1.0, 2.0])
def test_a_cycle_goes_on_and_what_comes_back_another_way_does_not(step, size):
    assert goes_on(step * FRAMES, size * swing(1))
    assert goes_on(step * FRAMES, -size * swing(3))
    there_and_back = np.abs(FRAMES - 50.0)[:, np.newaxis]
    assert meets(there_and_back)
    assert not goes_on(step * FRAMES, size * there_and_back)
    assert not goes_on(step * FRAMES, size * np.concatenate([swing(1), there_and_back], axis=-1))
    assert goes_on(step * FRAMES, np.ones((101, 2)))
    assert goes_on(step * FRAMES, np.zeros((101, 0)))


def test_a_motion_that_comes_to_its_end_from_rest_does_not_go_on():
    ends_at_rest = np.sin(np.pi * FRAMES / 200.0)[:, np.newaxis]
    assert not goes_on(FRAMES, ends_at_rest)
    assert not goes_on(FRAMES, ends_at_rest[::-1])


def test_slopes_across_the_seam_are_those_of_the_motion_per_frame():
    times = np.sort(np.concatenate([FRAMES, [0.25, 99.5]]))
    turn = 2.0 * np.pi * times / 100.0
    expected = [0.5 * 2.0 * np.pi / 100.0, -0.03]
    slopes = seam_slopes(times, np.stack([0.5 * np.sin(turn), 4.0 - 0.03 * times], axis=-1))
    assert slopes == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("rest", [slice(0, 2), slice(0, 3), slice(-2, None), slice(-3, None)])
def test_a_rest_at_either_side_of_the_seam_stays_flat(rest):
    values = swing(1)
    values[rest] = values[0]
    assert seam_slopes(FRAMES, values).tolist() == [0.0, 0.0]
    moving = values.copy()
    moving[:, 1] = swing(1)[:, 1]
    assert seam_slopes(FRAMES, moving)[1] != 0.0


@given(arrays.arrays(float, st.tuples(st.integers(0, 12), st.integers(1, 3)), elements=st.integers(-3, 3)))
def test_numbers_turn_back_where_they_rise_before_and_fall_after_or_the_other_way_round(values):
    turns = [
        row
        for row in range(1, len(values) - 1)
        if any(
            before < here > after or before > here < after
            for before, here, after in zip(values[row - 1], values[row], values[row + 1], strict=True)
        )
    ]
    assert turning_points(values).tolist() == turns
