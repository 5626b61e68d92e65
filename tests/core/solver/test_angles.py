"""Angles over time: whole turns, holding, and the side of a bend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.solver import hold, sides_with_hysteresis, wrap

angle = st.floats(-1000, 1000)


@pytest.mark.parametrize(
    "degrees, wrapped",
    [(0, 0), (180, 180), (-180, 180), (181, -179), (-181, 179), (360, 0), (540, 180), (-540, 180), (725, 5)],
)
def test_wrapping(degrees, wrapped):
    assert np.degrees(wrap(np.radians(degrees))) == pytest.approx(wrapped)


@given(angle)
def test_wrapped_angles_are_in_range_and_point_the_same_way(value):
    wrapped = wrap(value)
    assert -np.pi < wrapped <= np.pi
    assert np.exp(1j * wrapped) == pytest.approx(np.exp(1j * value), abs=1e-12)


@given(st.floats(-3.14159, 3.14159))
def test_angles_in_range_come_back_to_the_bit(value):
    assert wrap(value) == value


def test_holding_repeats_the_last_valid_value():
    values = np.array([9.0, 1.0, 9.0, 9.0, 2.0, 9.0])
    valid = np.array([False, True, False, False, True, False])
    assert list(hold(values, valid)) == [1, 1, 1, 1, 2, 2]


def test_each_row_holds_its_own_values_and_a_row_without_any_is_zero():
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [np.nan, 3.0]])
    assert np.array_equal(hold(values, np.isfinite(values)), [[1, 1], [0, 0], [3, 3]])


def test_holding_nothing_returns_a_copy():
    values = np.ones(3)
    held = hold(values, np.ones(3, dtype=bool))
    held[0] = 5
    assert values[0] == 1


def side_by_walking(angles, threshold):
    """What a person would do with a pencil, frame by frame."""
    clear = [value for value in angles if abs(value) > threshold]
    side = np.sign(clear[0])
    sides = []
    for value in angles:
        side = np.sign(value) if abs(value) > threshold else side
        sides.append(side)
    return sides


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30).filter(lambda row: max(map(abs, row)) > 0.3))
def test_the_side_changes_only_on_a_clear_bend(row):
    assert list(sides_with_hysteresis(np.array(row), 0.3)) == side_by_walking(row, 0.3)


def test_noise_around_straight_does_not_chatter(rng):
    bend = np.linspace(0.5, -0.5, 200) + rng.normal(0, 0.02, 200)
    assert np.count_nonzero(np.diff(sides_with_hysteresis(bend, 0.1))) == 1


def test_a_motion_that_is_never_clear_keeps_one_side():
    assert list(sides_with_hysteresis(np.array([0.01, -0.02, 0.015]), 0.1)) == [-1, -1, -1]
    assert list(sides_with_hysteresis(np.zeros(3), 0.1)) == [1, 1, 1]


def test_a_frame_without_a_pose_keeps_the_side():
    assert list(sides_with_hysteresis(np.array([-0.5, np.nan, 0.5]), 0.1)) == [-1, -1, 1]
    assert sides_with_hysteresis(np.zeros((2, 0)), 0.1).shape == (2, 0)
