"""Euler curves go on smoothly, whichever branch a conversion returned and however often the bone turned."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from twobone_addon.core.curves.continuity import continuous_eulers, nearest_turn, other_branch

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ROUNDING = 1e-9


def rotation(eulers, order):
    """Blender's rotation matrices `(..., 3, 3)`: the first letter turns first."""
    matrix = np.eye(3)
    for letter in order:
        matrix = _turn(np.asarray(eulers)[..., "XYZ".index(letter)], "XYZ".index(letter)) @ matrix
    return matrix


def _turn(angle, axis):
    matrix = np.zeros((*angle.shape, 3, 3))
    following, last = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., following, following] = matrix[..., last, last] = np.cos(angle)
    matrix[..., following, last], matrix[..., last, following] = -np.sin(angle), np.sin(angle)
    return matrix


euler_lists = arrays.arrays(float, st.tuples(st.integers(1, 12), st.just(3)), elements=st.floats(-3, 3))


@given(euler_lists, st.sampled_from(ORDERS), st.none() | arrays.arrays(float, 3, elements=st.floats(-20, 20)))
def test_the_rotations_stay_the_same(eulers, order, before):
    result = continuous_eulers(eulers, order=order, before=before)
    assert np.allclose(rotation(result, order), rotation(eulers, order), atol=1e-5)
    assert np.all(np.abs(np.diff(result, axis=0)) <= np.pi + ROUNDING)


@settings(max_examples=60)
@given(arrays.arrays(float, st.tuples(st.integers(2, 10), st.just(3)), elements=st.floats(-1.5, 1.5)), st.booleans())
def test_each_frame_takes_the_branch_nearer_to_the_frame_before(eulers, from_second):
    other = other_branch(eulers)
    before = (other if from_second else eulers)[0]
    expected = [before]
    for branches in zip(eulers[1:], other[1:], strict=True):
        moves = [nearest_turn(branch - expected[-1]) for branch in branches]
        jumps = [np.abs(move).sum() for move in moves]
        expected.append(expected[-1] + moves[int(jumps[1] < jumps[0] - ROUNDING)])
    assert np.allclose(continuous_eulers(eulers, other, np.zeros(len(eulers), bool), before=before), expected)


@pytest.mark.parametrize("order", ORDERS)
def test_a_smooth_motion_scrambled_by_branches_and_turns_comes_back(order):
    rng = np.random.default_rng(5)
    time = np.linspace(0, 30, 400)
    smooth = np.stack([time, 2 * np.sin(time / 3) + time / 9, -2 * time + np.cos(time)], axis=-1)
    scrambled = np.where(rng.random((400, 1)) < 0.5, smooth, other_branch(smooth, order))
    scrambled = scrambled + 2 * np.pi * rng.integers(-2, 3, (400, 3))
    result = continuous_eulers(scrambled, order=order, before=smooth[0])
    assert np.allclose(result, smooth)
    assert np.allclose(continuous_eulers(scrambled, order=order, after=smooth[-1]), smooth)


@pytest.mark.parametrize("order, side", list(itertools.product(ORDERS, (-1, 1))))
def test_swinging_straight_through_gimbal_lock_is_smooth(order, side):
    names = ["XYZ".index(letter) for letter in order]
    smooth = np.empty((41, 3))
    smooth[:, names[0]], smooth[:, names[2]] = 0.4, -0.7
    smooth[:, names[1]] = side * (np.pi / 2 + np.linspace(-0.5, 0.5, 41))
    conversion = np.where((np.cos(smooth[:, names[1]]) < 0)[:, None], other_branch(smooth, order), smooth)
    # In the lock a conversion puts everything into one outer angle.
    locked = smooth[20].copy()
    for choice in (1.0, -1.0):
        locked[names[0]], locked[names[2]] = smooth[20, names[0]] + choice * smooth[20, names[2]], 0.0
        if np.allclose(rotation(locked, order), rotation(smooth[20], order)):
            conversion[20] = locked
    result = continuous_eulers(conversion, order=order)
    assert np.allclose(result, smooth)


@pytest.mark.parametrize("order, side", list(itertools.product(ORDERS, (-1, 1))))
def test_standing_still_in_gimbal_lock_its_two_free_angles_turn_evenly(order, side):
    """One rotation from frame 10 to 19, which leaves by other outer angles than it came by."""
    outer, middle, inner = ("XYZ".index(letter) for letter in order)
    turned = np.interp(np.arange(30.0), [9, 20], [0.2, 1.0])
    smooth = np.empty((30, 3))
    smooth[:, middle] = side * np.interp(np.arange(30.0), [0, 9, 10, 19, 20, 29], [1.2, 1.5, np.pi / 2, np.pi / 2, 1.5, 1.2])
    locked = slice(10, 20)

    def with_outer(angles, balance):
        """The outer angle, and the inner one that leaves the locked rotation as it is."""
        smooth[:, outer], smooth[:, inner] = angles, -0.4 + balance * angles
        return smooth.copy()

    balance = next(
        sign for sign in (1.0, -1.0) if np.ptp(rotation(with_outer(turned, sign)[locked], order), axis=0).max() < ROUNDING
    )
    expected = with_outer(turned, balance)
    told = expected.copy()
    told[locked] = with_outer(np.random.default_rng(3).uniform(-1.0, 1.0, 30), balance)[locked]
    assert np.allclose(rotation(told, order), rotation(expected, order))
    assert np.allclose(continuous_eulers(told, order=order), expected)


@pytest.mark.parametrize("order, side", list(itertools.product(ORDERS, (-1, 1))))
def test_resting_in_gimbal_lock_turns_evenly_to_where_it_leaves(order, side):
    names = ["XYZ".index(letter) for letter in order]
    rng = np.random.default_rng(3)
    eulers = np.zeros((30, 3))
    eulers[:, names[1]] = side * np.concatenate([np.linspace(1.4, np.pi / 2, 11)[:10], np.full(10, np.pi / 2), np.full(10, 1.5)])
    eulers[10:20, names[0]] = rng.uniform(-3, 3, 10)
    eulers[10:20, names[2]] = rng.uniform(-3, 3, 10)
    eulers[20:, names[0]] = 1.0
    result = continuous_eulers(eulers, order=order)
    assert np.allclose(rotation(result, order), rotation(eulers, order), atol=1e-6)
    kept = np.abs(rotation(result, order)[1:] - rotation(result, order)[:-1]).sum(axis=(1, 2))
    assert np.all(np.abs(np.diff(result[9:21], axis=0)).sum(axis=1) <= 4 * kept[9:20] + 0.5)


def test_a_range_wholly_in_gimbal_lock_is_finite_and_the_same_rotation():
    eulers = np.array([[[0.3, np.pi / 2, 0.1], [1.0, np.pi / 2, -1.0], [0.0, np.pi / 2, 2.0]]])
    result = continuous_eulers(eulers)
    assert np.allclose(rotation(result, "XYZ"), rotation(eulers, "XYZ"))


@pytest.mark.parametrize("frames", [0, 1])
def test_no_frames_and_one_frame(frames):
    assert continuous_eulers(np.full((2, frames, 3), 0.1), before=np.ones(3), after=np.ones(3)).shape == (2, frames, 3)


def test_the_first_branch_is_kept_where_nothing_is_keyed_around():
    eulers = np.array([[3.0, 2.0, 3.0], [3.1, 2.0, 3.0]])
    assert np.array_equal(continuous_eulers(eulers), eulers)


def test_a_whole_batch_gets_what_each_chain_would_get_alone():
    rng = np.random.default_rng(8)
    eulers = rng.uniform(-3, 3, (4, 2, 25, 3))
    whole = continuous_eulers(eulers, before=np.zeros(3))
    for index in np.ndindex(4, 2):
        assert np.array_equal(whole[index], continuous_eulers(eulers[index], before=np.zeros(3)))
