"""A baked range never flips: not inside, and not where it meets the keys around it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from twobone_addon.core.curves.continuity import continuous_angles, continuous_axis_angles, continuous_quaternions

TURN = 2.0 * np.pi
ROUNDING = 1e-9

angle_lists = arrays.arrays(float, arrays.array_shapes(min_dims=1, max_dims=2, max_side=30), elements=st.floats(-60, 60))
keys_around = st.none() | st.floats(-60, 60)


@given(angle_lists, keys_around, keys_around)
def test_neighbouring_angles_are_within_half_a_turn_and_mean_the_same(angles, before, after):
    result = continuous_angles(angles, before=before, after=after)
    assert np.all(np.abs(np.diff(result, axis=-1)) <= np.pi + ROUNDING)
    turns = (result - angles) / TURN
    assert np.allclose(turns, np.round(turns), atol=ROUNDING)


@given(angle_lists, keys_around)
def test_one_key_before_or_after_is_met_within_half_a_turn(angles, key):
    assert np.all(np.abs(continuous_angles(angles, before=key)[..., 0] - (key or 0)) <= np.pi + ROUNDING) or key is None
    assert np.all(np.abs(continuous_angles(angles, after=key)[..., -1] - (key or 0)) <= np.pi + ROUNDING) or key is None


def test_ten_full_turns_stay_ten_full_turns():
    angles = np.linspace(0.3, 0.3 + 10 * TURN, 400)
    result = continuous_angles(np.angle(np.exp(1j * angles)))
    assert np.all(np.diff(result) > 0)
    assert result[-1] - result[0] == pytest.approx(10 * TURN)


def test_both_keys_are_met_when_one_shift_meets_both():
    assert np.allclose(continuous_angles([0.1, 0.5], before=4 * np.pi, after=4 * np.pi + 1), [0.1 + 4 * np.pi, 0.5 + 4 * np.pi])


def test_the_key_before_wins_when_the_curve_cannot_meet_both():
    turning = np.linspace(0, 5 * TURN, 200)
    assert np.allclose(continuous_angles(turning, before=0.0, after=0.0), turning)
    assert np.allclose(continuous_angles(turning + 3 * TURN, before=TURN, after=TURN), turning + TURN)


def test_the_key_after_is_joined_where_that_leaves_less_of_a_jump_on_both_sides_together():
    angles = np.array([0.0, 1.0])
    assert np.allclose(continuous_angles(angles, before=0.4 * TURN, after=1.0 + TURN), angles + TURN)
    assert np.allclose(continuous_angles(angles, before=-0.4 * TURN, after=1.0 - TURN), angles - TURN)


def test_a_continuous_curve_comes_back_bit_for_bit():
    angles = np.cumsum(np.random.default_rng(1).uniform(-3, 3, 50))
    assert np.array_equal(continuous_angles(angles), angles)


@pytest.mark.parametrize("frames", [0, 1])
def test_no_frames_and_one_frame(frames):
    assert continuous_angles(np.zeros((2, frames)), before=7.0, after=8.0).shape == (2, frames)
    assert continuous_quaternions(np.ones((2, frames, 4)), before=np.ones(4)).shape == (2, frames, 4)
    assert continuous_axis_angles(np.zeros((2, frames)), np.ones((2, frames, 3)))[1].shape == (2, frames, 3)


quaternion_lists = arrays.arrays(float, st.tuples(st.integers(1, 20), st.just(4)), elements=st.floats(-1, 1, width=32))


@given(quaternion_lists, arrays.arrays(float, 4, elements=st.floats(-1, 1, width=32)))
def test_without_a_quaternion_before_the_last_one_goes_on_to_that_after(quaternions, after):
    result = continuous_quaternions(quaternions, after=after)
    assert np.array_equal(np.abs(result), np.abs(quaternions))
    assert np.all(np.einsum("fk,fk->f", result[1:], result[:-1]) >= 0)
    assert result[-1] @ after >= 0


@given(quaternion_lists, st.none() | arrays.arrays(float, 4, elements=st.floats(-1, 1, width=32)))
def test_quaternions_never_change_sign_from_frame_to_frame(quaternions, before):
    result = continuous_quaternions(quaternions, before=before)
    assert np.array_equal(np.abs(result), np.abs(quaternions))
    assert np.all(np.einsum("fk,fk->f", result[1:], result[:-1]) >= 0)
    assert result[0] @ before >= 0 if before is not None else result[0, 0] >= 0


def test_the_quaternion_after_decides_where_there_is_none_before():
    turning = _about_x(np.linspace(0, 3 * np.pi, 40))
    assert continuous_quaternions(turning, after=-turning[-1])[-1] @ -turning[-1] > 0.99


def test_each_chain_of_a_batch_gets_its_own_sign():
    two = np.stack([_about_x(np.linspace(0, 1, 5)), -_about_x(np.linspace(0, 1, 5))])
    assert np.allclose(*continuous_quaternions(two))


def _about_x(angles):
    zero = np.zeros_like(angles)
    return np.stack([np.cos(angles / 2), np.sin(angles / 2), zero, zero], axis=-1)


def test_an_axis_angle_hinge_swings_through_zero_as_one_hinge():
    swing = np.linspace(-1.0, 1.0, 21)
    # What a conversion gives: positive angles, a flipped axis on one side, any axis at all in the middle.
    axis = np.where((swing < 0)[:, None], [-1.0, 0, 0], [1.0, 0, 0])
    axis[10] = [0, 1, 0]
    angle, axis = continuous_axis_angles(np.abs(swing), axis, before=[-0.9, 1, 0, 0])
    assert np.allclose(axis, [1, 0, 0])
    assert np.allclose(angle, swing)


@pytest.mark.parametrize("around", [{}, {"before": [4.0, 0, 1, 0]}, {"after": [-9.0, 1, 0, 0]}])
def test_axis_angles_mean_the_same_rotations_whatever_their_signs_and_turns(around):
    rng = np.random.default_rng(7)
    angle, axis = rng.uniform(-9.0, 9.0, (3, 40)), rng.normal(size=(3, 40, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    again = continuous_axis_angles(angle, axis, **around)
    assert np.allclose(_turned(*again), _turned(angle, axis))
    assert np.all(np.einsum("cfk,cfk->cf", again[1][:, 1:], again[1][:, :-1]) >= 0)
    assert np.all(np.abs(np.diff(again[0])) <= np.pi + ROUNDING)


def _turned(angle, axis):
    """Where rotations take two vectors, by Rodrigues' formula."""
    vectors = np.array([[0.3, -0.5, 0.8], [0.9, 0.1, 0.2]])
    axis, angle = axis[..., np.newaxis, :], angle[..., np.newaxis, np.newaxis]
    along = axis * (axis * vectors).sum(axis=-1, keepdims=True)
    return along + np.cos(angle) * (vectors - along) + np.sin(angle) * np.cross(axis, vectors)


def test_an_axis_angle_keeps_turning():
    angles = np.linspace(0.2, 4 * TURN, 100)
    folded = np.mod(angles, TURN)
    flipped = folded > np.pi
    angle, axis = continuous_axis_angles(
        np.where(flipped, TURN - folded, folded), np.where(flipped[:, None], [0, 0, -1.0], [0, 0, 1.0])
    )
    assert np.allclose(angle, angles)
    assert np.allclose(axis, [0, 0, 1])


def test_an_axis_angle_meets_the_key_after():
    angle, axis = continuous_axis_angles([0.1, 0.2], np.tile([0, 0, 1.0], (2, 1)), after=[-TURN, 0, 0, -1])
    assert np.allclose(axis, [0, 0, -1])
    assert np.allclose(angle, [-TURN - 0.1, -TURN - 0.2])


def test_no_rotation_at_all_leaves_the_axis_as_it_is():
    axis = np.tile([0.0, 1.0, 0.0], (4, 1))
    assert np.array_equal(continuous_axis_angles(np.zeros(4), axis)[1], axis)
