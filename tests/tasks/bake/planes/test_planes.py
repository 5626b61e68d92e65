"""Three planes in three spaces: the tip is on the target as seen in the plane, no bone leaves its depth."""

import numpy as np
import pytest

from tests.tasks.checks.checking import BENDS, RIG, assert_bake_reaches, assert_within_promise
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import LEG, bake, bent, build_armature, key_channel, set_range

DEPTH_KEPT = 1e-6
"""Of a metre: Blender's single precision for a limb this size."""

SKEWED_LEG = bent(bent(LEG, "upper", tail=(0.4, -0.3, 0.3)), "lower", head=(0.4, -0.3, 0.3), tail=(-0.1, 0.5, -0.4))
"""A leg with something to see in every letter plane and something out of it."""


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("space", ["WORLD", "ARMATURE", "PARENT"])
@pytest.mark.parametrize("plane", ["XY", "XZ", "YZ"])
def test_every_plane_in_every_space(empty_file, plane, space, bend):
    set_range(1, 12)
    rig = build_armature(SKEWED_LEG)
    rig.scale = (-1.3, 0.8, 1.1)
    key_channel(rig, "rotation_euler", {1: (0.1, 0.2, 0.3), 12: (0.8, -0.4, 1)})
    parent = rig.pose.bones["parent"]
    key_channel(parent, "rotation_quaternion", {1: (0.9, 0.1, 0.2, 0.3), 12: (0.5, 0.3, -0.6, 0.2)})
    where = {"plane": plane, "plane_space": space}
    baked = assert_bake_reaches(rig, circling_target(rig, RIG, frames=(1, 12), **where), bend=bend, **where)
    # Nothing turned is nothing out of the plane that was not there at rest: in the parent's space that is one number.
    if space == "PARENT":
        assert np.ptp(baked.depths, axis=0).max() <= DEPTH_KEPT


def test_each_bone_keeps_the_depth_it_has_without_rotation(empty_file):
    set_range(1, 12)
    rig = build_armature(SKEWED_LEG)
    baked = assert_bake_reaches(rig, circling_target(rig, RIG, frames=(1, 12)))
    assert np.abs(baked.depths - links_at_rest(rig)[:, 0]).max() <= DEPTH_KEPT


def test_a_bake_without_plane_and_bend_takes_those_of_the_rest_pose(empty_file):
    set_range(1, 12)
    rig = build_armature()
    target = circling_target(rig, RIG, frames=(1, 12))
    bake(RIG, target=target.name)
    baked = evaluate(rig, RIG, range(1, 13), target=target)
    assert_within_promise(baked)
    upper, lower = (links_at_rest(rig)[row, 1:] for row in (0, 1))
    at_rest = upper[0] * lower[1] - upper[1] * lower[0]
    assert np.all(np.sign(baked.seen_bends) == np.sign(at_rest))


def links_at_rest(rig):
    upper, lower = rig.data.bones["upper"], rig.data.bones["lower"]
    return np.diff(np.array([upper.head_local, lower.head_local, lower.tail_local]), axis=0)
