"""Quaternions, matrices, axis-angles and Euler angles say the same rotation."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from twobone_addon.core.rig.channels import ORDERS, from_eulers, to_eulers
from twobone_addon.core.rig.rotations import (
    about_axis,
    from_quaternion,
    nearest_rotation,
    slerp,
    times_still,
    to_axis_angle,
    to_quaternion,
    unit,
)

EXACT = 1e-12
GIMBAL = 1e-7
"""Next to gimbal lock an angle of 1e-16 turns the outer angles by anything; their matrix is right to its square root."""

finite = st.floats(-1e3, 1e3)
angles = arrays(float, (4, 3), elements=st.floats(-10, 10))
quaternions = arrays(float, (4, 4), elements=st.floats(-1, 1)).filter(lambda q: np.all(np.linalg.norm(q, axis=-1) > 1e-3))


@given(quaternions)
def test_a_matrix_is_a_rotation_and_gives_its_quaternion_back(quaternion):
    matrix = from_quaternion(quaternion)
    assert np.abs(matrix @ np.swapaxes(matrix, -1, -2) - np.eye(3)).max() <= EXACT
    assert np.abs(np.linalg.det(matrix) - 1).max() <= EXACT
    back = to_quaternion(matrix)
    wanted = unit(quaternion)
    assert np.abs(np.abs(np.sum(back * wanted, axis=-1)) - 1).max() <= EXACT


@pytest.mark.parametrize("quaternion", [*np.eye(4), (1e-9, 1, 0, 0), (0.5, 0.5, 0.5, -0.5)], ids=str)
def test_half_turns_and_axes_lose_nothing(quaternion):
    wanted = unit(np.array(quaternion, dtype=float))
    assert np.abs(np.abs(to_quaternion(from_quaternion(wanted)) @ wanted) - 1) <= EXACT


@given(quaternions)
def test_axis_and_angle_turn_as_the_quaternion_does(quaternion):
    angle, axis = to_axis_angle(unit(quaternion))
    assert np.all((angle >= 0) & (angle <= np.pi + EXACT))
    assert np.abs(about_axis(axis, angle) - from_quaternion(quaternion)).max() <= 1e-11


def test_no_turn_has_blenders_axis():
    angle, axis = to_axis_angle(np.array([1.0, 0, 0, 0]))
    assert angle == 0
    assert axis.tolist() == [0, 1, 0]


@pytest.mark.parametrize("order", ORDERS)
@given(angles)
def test_euler_angles_of_a_matrix_give_the_matrix(order, values):
    matrix = from_eulers(values, order)
    back = to_eulers(matrix, order)
    assert np.abs(from_eulers(back, order) - matrix).max() <= GIMBAL
    middle = back[:, "XYZ".index(order[1])]
    assert np.all(np.abs(middle) <= np.pi / 2 + EXACT)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("quarter", [np.pi / 2, -np.pi / 2])
def test_gimbal_lock_is_finite_and_right(order, quarter):
    values = np.array([0.3, 0.7, -0.4])
    values["XYZ".index(order[1])] = quarter
    matrix = from_eulers(values, order)
    assert np.abs(from_eulers(to_eulers(matrix, order), order) - matrix).max() <= GIMBAL


QUARTER_TURNS = [
    turn
    for axes in itertools.permutations(np.eye(3))
    for signs in itertools.product((1.0, -1.0), repeat=3)
    if np.linalg.det(turn := np.array(axes) * signs) > 0.0
]
"""The 24 rotations that bring axes to axes: in a third of them an order's outer angles turn about one line, exactly."""


@pytest.mark.parametrize("order", ORDERS)
def test_exactly_at_gimbal_lock_the_last_angle_is_none_and_the_first_one_makes_up_for_it(order):
    back = to_eulers(np.stack(QUARTER_TURNS), order)
    assert from_eulers(back, order) == pytest.approx(np.stack(QUARTER_TURNS))
    locked = np.isclose(np.abs(back[:, "XYZ".index(order[1])]), np.pi / 2)
    assert np.count_nonzero(locked) == 8
    assert np.all(back[locked, "XYZ".index(order[2])] == 0.0)


@pytest.mark.parametrize("order", ORDERS)
@given(values=arrays(float, 3, elements=st.floats(-4, 4)))
def test_euler_matrices_are_blenders(order, values):
    pytest.importorskip("bpy")  # which brings mathutils
    mathutils = pytest.importorskip("mathutils")
    theirs = np.array(mathutils.Euler(values, order).to_matrix())
    assert np.abs(from_eulers(values, order) - theirs).max() <= 1e-6


@given(quaternions, st.floats(0, 1))
def test_slerp_goes_evenly_on_the_shortest_way(quaternion, amount):
    start, end = unit(quaternion[:2]), unit(quaternion[2:])
    between = slerp(start, end, np.full(2, amount))
    whole, part = (2 * np.arctan2(*halves(start, other)) for other in (end, between))
    whole, part = (np.minimum(angle, np.pi - angle) for angle in (whole, part))  # both signs are the same rotation
    assert np.abs(part - amount * whole).max() <= 1e-7


def halves(first, second):
    """Sine and cosine of the angle between unit quaternions, as chords: exact for tiny and wide ones alike."""
    return np.linalg.norm(first - second, axis=-1), np.linalg.norm(first + second, axis=-1)


@given(quaternions, arrays(float, (4, 3), elements=st.floats(0.1, 3)))
def test_the_nearest_rotation_to_a_stretched_one_is_itself(quaternion, scale):
    turn = from_quaternion(quaternion)
    stretched = turn @ (np.eye(3) * scale[:, None, :])
    assert np.abs(nearest_rotation(stretched) - turn).max() <= 1e-9


@given(quaternions, arrays(float, (4, 3), elements=st.floats(0.99996, 1.00004)))
def test_the_nearest_rotation_to_one_of_single_precision_is_itself(quaternion, scale):
    turn = from_quaternion(quaternion)
    assert np.abs(nearest_rotation(turn @ (np.eye(3) * scale[:, None, :])) - turn).max() <= 1e-12


@pytest.mark.parametrize("shape", [(3, 3), (1, 3, 3), (5, 3, 3), (2, 1, 3, 3)])
def test_products_with_what_stands_still_are_those_of_each_frame(rng, shape):
    moving, still = rng.normal(size=(2, 5, 3, 3)), rng.normal(size=shape)
    assert np.abs(times_still(moving, still) - np.einsum("...ij,...jk->...ik", moving, still)).max() <= EXACT


@given(st.floats(1e-300, 1e300))
def test_directions_survive_tiny_and_huge_lengths(size):
    assert np.abs(unit(np.array([3.0, 0, -4.0]) * size) - [0.6, 0, -0.8]).max() <= EXACT


def test_the_zero_vector_stays_zero():
    assert unit(np.zeros((2, 3))).tolist() == [[0, 0, 0]] * 2
