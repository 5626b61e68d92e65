"""Sampled poses do not depend on the moment at which Blender's threads come to a bone beside an IK that acts on nothing."""

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.legs_with_ik import LAST, add_ik
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_places, set_range
from twobone_addon.scene.sampling.evaluate import evaluate
from twobone_addon.scene.sampling.quantities import Quantity

FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.6, -0.8), "lower", connected=True)


@pytest.fixture
def rig(empty_file):
    rig = build_armature((*LEG, FOOT))
    key_places(add_empty("Target"), [(0.1, 0.2 + 0.02 * frame, -0.2) for frame in range(LAST)])
    add_ik(rig, "lower")
    set_range(1, LAST)
    return rig


def lengths_while_sampled(rig, *, in_scene):
    """The chain lengths of all IK that Blender evaluates while the rig is sampled."""
    quantities = [Quantity("POSE", rig.name, bone.name) for bone in rig.pose.bones]
    steps = evaluate(bpy.context.scene, quantities, np.arange(1.0, LAST + 1.0), in_scene=in_scene)
    seen = [lengths(rig) for _ in steps]
    assert seen
    return set(seen)


def lengths(rig):
    return tuple(constraint.chain_count for bone in rig.pose.bones for constraint in bone.constraints)


@pytest.mark.parametrize("in_scene", [False, True])
@pytest.mark.parametrize("off", [{"influence": 0.0}, {"mute": True}])
def test_an_idle_ik_over_another_is_short_while_poses_are_sampled_and_long_again_afterwards(rig, off, in_scene):
    add_ik(rig, "foot", chain_count=4, **off)
    assert lengths_while_sampled(rig, in_scene=in_scene) == {(2, 1)}
    assert lengths(rig) == (2, 4)


def test_one_that_may_act_or_that_overlaps_nothing_is_left_alone(rig):
    keyed = add_ik(rig, "foot", chain_count=4, influence=0.0)
    keyed.keyframe_insert("influence", frame=1)
    assert lengths_while_sampled(rig, in_scene=False) == {(2, 4)}
    rig.animation_data.action = None
    assert lengths_while_sampled(rig, in_scene=False) == {(2, 4)}
    rig.pose.bones["foot"].constraints.remove(keyed)
    rig.pose.bones["lower"].constraints[0].mute = True
    assert lengths_while_sampled(rig, in_scene=False) == {(2,)}
