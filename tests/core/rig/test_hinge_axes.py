"""The roll that makes a hinge one of a bone's own axes, and the Euler orders that make it one channel."""

import numpy as np
import pytest

from tests.core.rig.turns import AXES, about, about_axes
from twobone_addon.core.rig.hinges import ORDERS, roll_rotation, roll_to_axis


@pytest.mark.parametrize("angle", np.linspace(-np.pi, np.pi, 25))
def test_after_the_roll_the_axis_is_one_of_the_bones_own_and_no_smaller_roll_does(angle):
    axis = np.array([np.cos(angle), 0.0, np.sin(angle)])
    change = roll_to_axis(axis)
    assert np.sort(np.abs(roll_rotation(change).T @ axis)) == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert np.abs(change) <= np.pi / 4 + 1e-12
    assert roll_rotation(change) == pytest.approx(about(AXES["Y"], change))


@pytest.mark.parametrize("axis", range(3))
def test_the_angle_about_a_hinge_is_a_turn_about_it_whatever_the_others_are(rng, axis):
    angles = rng.uniform(-3.0, 3.0, 3)
    bent = angles + np.eye(3)[axis] * 0.7
    change = about_axes(bent, ORDERS[axis]) @ about_axes(angles, ORDERS[axis]).T
    assert change == pytest.approx(about(np.eye(3)[axis], 0.7))
