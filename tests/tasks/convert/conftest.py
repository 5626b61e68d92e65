"""The leg on IK with which the tests of conversions begin."""

import math

import numpy as np
import pytest

from tests.tasks.rigs.legs_with_ik import LAST, add_ik
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_places, set_range

FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.6, -0.8), "lower", connected=True)


@pytest.fixture
def ik_leg(empty_file):
    """A leg with a foot whose shin has an IK constraint with a pole, on a target that moves in space."""
    rig = build_armature((*LEG, FOOT))
    turn = np.linspace(0.0, 2.0 * math.pi, LAST)
    places = np.stack([0.1 + 0.4 * np.sin(turn), 0.2 + 0.7 * np.cos(turn), -0.2 + 0.3 * np.sin(2 * turn)], axis=-1)
    key_places(add_empty("Target"), places)
    add_empty("Pole").location = (0.3, -3.0, 0.4)
    add_ik(rig, "lower")
    set_range(1, LAST)
    return rig
