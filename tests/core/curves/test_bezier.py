"""Curves as Blender draws them, checked without Blender."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from twobone_addon.core.curves.bezier import Keys, clamped_handles, evaluate, parameters_at

shares = st.floats(0, 1)


def keys_with(frames, values, *, left, right):
    frames, values = np.asarray(frames, dtype=float), np.asarray(values, dtype=float)
    offset = np.stack([np.ones(len(frames)), np.zeros(len(frames))], axis=-1)
    points = np.stack([frames, values], axis=-1)
    return Keys(frames, values, points - left * offset, points + right * offset)


@given(shares, shares, arrays.arrays(float, 20, elements=shares))
def test_the_parameter_found_is_met_at_the_time_asked_for(right, left, share):
    parameter = parameters_at(share, right, left)
    assert np.all((parameter >= 0) & (parameter <= 1))
    rest = 1 - parameter
    time = 3 * right * parameter * rest**2 + 3 * left * parameter**2 * rest + parameter**3
    assert np.allclose(time, share, atol=1e-12)


@pytest.mark.parametrize("handles", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (1 / 3, 2 / 3)])
def test_the_hardest_handles_still_give_one_answer(handles):
    share = np.linspace(0, 1, 1001)
    assert np.all(np.diff(parameters_at(share, *handles)) >= 0)


def test_handles_at_thirds_are_time_itself():
    share = np.linspace(0, 1, 11)
    assert np.allclose(parameters_at(share, 1 / 3, 2 / 3), share)


def test_keys_are_met_and_held_outside():
    keys = keys_with([2, 5, 11], [1, -3, 4], left=1, right=2)
    assert np.allclose(evaluate(keys, [-9, 2, 5, 11, 99]), [1, 1, -3, 4, 4])
    assert np.allclose(evaluate(keys_with([2], [7], left=1, right=1), [0, 2, 5]), 7)
    assert evaluate(keys, []).shape == (0,)


def test_a_handle_longer_than_its_segment_is_shortened_along_its_own_direction():
    keys = Keys(np.array([0.0, 10.0]), np.array([0.0, 0.0]), np.array([[-1.0, 0], [7.0, 1]]), np.array([[40.0, 8], [11.0, 0]]))
    right, left = clamped_handles(keys)
    assert right.tolist() == [[10.0, 2.0]]
    assert left.tolist() == [[7.0, 1.0]]


def test_flat_handles_between_equal_keys_are_exactly_flat():
    keys = keys_with([0, 7, 20], [0.3, 0.3, 0.3], left=2, right=3)
    assert np.ptp(evaluate(keys, np.linspace(0, 20, 500))) < 1e-15
