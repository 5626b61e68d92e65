"""Rotation channels say what Blender's manual says of their mode."""

import numpy as np
import pytest

from tests.core.rig.turns import about, about_axes
from twobone_addon.core.rig.channels import ORDERS, channel_rotations, to_eulers

EXACT = 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_turn_about_one_axis_after_the_other(rng, order):
    values = np.concatenate([rng.uniform(-7.0, 7.0, (20, 3)), np.zeros((20, 1))], axis=-1)
    wanted = np.stack([about_axes(each, order) for each in values])
    assert np.abs(channel_rotations(order, values) - wanted).max() <= EXACT


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_read_back_as_they_were_where_the_middle_one_is_within_a_quarter_turn(rng, order):
    angles = rng.uniform(-3.0, 3.0, (20, 3))
    angles[:, "XYZ".index(order[1])] *= 0.5
    assert to_eulers(np.stack([about_axes(each, order) for each in angles]), order) == pytest.approx(angles)


def test_an_axis_needs_no_unit_length_and_none_at_all_is_no_turn(rng):
    values = rng.normal(size=(20, 4))
    values[-3:, 1:] = 0.0
    values[0] = (1.0, 0.0, 0.0, -2.0)
    wanted = [about(each[1:] / np.linalg.norm(each[1:]), each[0]) if each[1:].any() else np.eye(3) for each in values]
    assert np.abs(channel_rotations("AXIS_ANGLE", values) - wanted).max() <= EXACT


def test_a_quaternion_needs_no_unit_length_and_none_at_all_is_no_turn(rng):
    axes, angles = rng.normal(size=(20, 3)), rng.uniform(-6.0, 6.0, 20)
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    values = np.concatenate([np.cos(angles / 2)[:, np.newaxis], np.sin(angles / 2)[:, np.newaxis] * axes], axis=-1)
    wanted = np.stack([about(axis, angle) for axis, angle in zip(axes, angles, strict=True)])
    assert np.abs(channel_rotations("QUATERNION", values * rng.uniform(0.1, 9.0, (20, 1))) - wanted).max() <= EXACT
    assert channel_rotations("QUATERNION", np.zeros((1, 4)))[0].tolist() == np.eye(3).tolist()
