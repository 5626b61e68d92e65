"""The main promise: baked, then evaluated by Blender, the tip is on the target and the limb bends as chosen."""

import math

import bpy
import pytest

from tests.tasks.checks.checking import BENDS, RIG, assert_bake_reaches
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import (
    LEG,
    STRAIGHT_LEG,
    add_empty,
    bent,
    build_armature,
    key_channel,
    key_places,
    set_range,
    turned,
)

ROTATION_MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@pytest.fixture
def scene(empty_file):
    set_range()
    return bpy.context.scene


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("mode", ROTATION_MODES)
def test_every_rotation_mode_follows_and_stays_the_mode_it_was(scene, mode, bend):
    rig = build_armature()
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    assert_bake_reaches(rig, circling_target(rig, RIG), bend=bend)
    assert {bone.rotation_mode for bone in rig.pose.bones} == {mode}


def test_an_axis_of_no_length_is_no_turn_to_start_from(scene):
    """Blender shows a bone unturned where its curves give it such an axis, whatever they say of the angle."""
    rig = build_armature()
    for bone in rig.pose.bones:
        bone.rotation_mode = "AXIS_ANGLE"
        key_channel(bone, "rotation_axis_angle", {1: (1.2, 0.0, 0.0, 0.0), 24: (0.3, 0.0, 0.0, 0.0)})
    assert_bake_reaches(rig, circling_target(rig, RIG), bend="POSITIVE", reference="POSE")


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("roll", [0.0, math.radians(37)])
def test_an_exactly_straight_rest_chain_bends_to_the_chosen_side_wherever_the_target_is(scene, bend, roll):
    shapes = bent(bent(STRAIGHT_LEG, "upper", roll=roll), "lower", roll=-2 * roll)
    rig = build_armature(shapes)
    assert_bake_reaches(rig, circling_target(rig, RIG), bend=bend)


OBJECT_SCALES = {
    "uniform": (0.01, 0.01, 0.01),
    "uneven": (1.5, 0.7, 2.2),
    "mirrored": (-1, 1, 1),
    "mirrored uneven": (-0.8, -1.7, -1.2),
}


@pytest.mark.parametrize("space", ["ARMATURE", "WORLD"])
@pytest.mark.parametrize("scale", OBJECT_SCALES.values(), ids=OBJECT_SCALES.keys())
def test_a_scaled_or_mirrored_armature_object_swaps_nothing(scene, scale, space):
    rig = build_armature()
    rig.location, rig.scale = (3, -2, 1), scale
    rig.rotation_euler = (0.1, 0.2, 0.9)
    assert_bake_reaches(rig, circling_target(rig, RIG, plane_space=space), plane_space=space)


def test_an_animated_armature_object_under_a_moving_scaled_parent(scene):
    rig, parent = build_armature(), bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(parent)
    rig.parent = parent
    rig.matrix_parent_inverse = turned(20, 30, 40)
    key_channel(parent, "rotation_euler", {1: (0, 0, 0), 24: (1, 2, -1)})
    key_channel(parent, "scale", {1: (1, 1, 1), 24: (1.4, 0.6, 1)})
    key_channel(rig, "location", {1: (0, 0, 0), 24: (5, 3, 1)})
    key_channel(rig, "rotation_euler", {1: (0, 0, 0), 24: (0.5, 0.2, 3)})
    assert_bake_reaches(rig, circling_target(rig, RIG))


@pytest.mark.parametrize("connected_upper", [False, True])
def test_an_unconnected_lower_bone_with_a_gap(scene, connected_upper):
    shapes = bent(LEG, "lower", head=(0.15, 0.05, -0.2), tail=(0.15, 0.15, -0.9))
    shapes = bent(shapes, "upper", head=(0, 0, 1), connected=True) if connected_upper else shapes
    rig = build_armature(shapes)
    assert_bake_reaches(rig, circling_target(rig, RIG))


def test_location_keys_on_the_upper_bone_and_scale_keys_on_both(scene):
    rig = build_armature()
    upper, lower = rig.pose.bones["upper"], rig.pose.bones["lower"]
    key_channel(upper, "location", {1: (0, 0, 0), 24: (0.3, 0.2, -0.4)})
    key_channel(upper, "scale", {1: (1, 1, 1), 24: (1.2, 1.2, 1.2)})
    key_channel(lower, "scale", {1: (1, 1, 1), 24: (0.9, 0.8, 0.7)})
    assert_bake_reaches(rig, circling_target(rig, RIG))


def test_old_rotation_keys_of_the_chain_do_not_show_through(scene):
    rig = build_armature()
    for bone, angles in (("upper", (1, 0.3, 0.5)), ("lower", (-0.7, 0.2, 1))):
        rig.pose.bones[bone].rotation_mode = "ZXY"
        key_channel(rig.pose.bones[bone], "rotation_euler", {1: (0, 0, 0), 11.5: angles, 24: (0.1, 0, 0)})
    assert_bake_reaches(rig, circling_target(rig, RIG))


def test_a_parent_bone_that_is_keyed_and_constrained(scene):
    rig = build_armature()
    parent = rig.pose.bones["parent"]
    key_channel(parent, "rotation_quaternion", {1: (1, 0, 0, 0), 24: (0.6, 0.3, -0.5, 0.5)})
    key_channel(parent, "location", {1: (0, 0, 0), 24: (0.3, 1, 0)})
    aim = add_empty("Aim")
    key_places(aim, [(math.cos(t), math.sin(t), 2) for t in range(24)])
    constraint = parent.constraints.new("COPY_ROTATION")
    constraint.target, constraint.influence = aim, 0.5
    constraint = parent.constraints.new("COPY_LOCATION")
    constraint.target, constraint.influence = aim, 0.2
    assert_bake_reaches(rig, circling_target(rig, RIG))


def test_a_parentless_chain(scene):
    rig = build_armature((bent(LEG, "upper", parent="")[1], LEG[2]))
    for space in ("ARMATURE", "PARENT", "WORLD"):
        assert_bake_reaches(rig, bpy.data.objects.get("Target") or circling_target(rig, RIG), plane_space=space)


@pytest.mark.parametrize("frames", [(-7, 12), (0, 9)], ids=str)
def test_ranges_that_start_at_or_below_zero(scene, frames):
    set_range(*(max(frame, 0) for frame in frames))
    rig = build_armature()
    target = circling_target(rig, RIG, frames=frames)
    assert_bake_reaches(rig, target, frame_range="CUSTOM", frame_start=frames[0], frame_end=frames[1])
