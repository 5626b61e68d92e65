"""Aligning hinges: afterwards a bake writes one curve per joint, and nothing that is seen has changed."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.hinge_legs import forecast, rolled_leg
from tests.tasks.scenes import STRAIGHT_LEG, add_empty, bake, build_armature, key_channel, set_range

SAME_POSE = 2e-4
"""Twice the angle that a conversion may cost, for chains of two units, and single precision far below it."""

EDIT_MODE = 5e-5
"""How far Blender's rest matrices are from being rotations after Edit Mode, for bones that nearly point along an axis."""

FRAMES = np.arange(1, 24.01, 0.25)


@pytest.fixture
def scene(empty_file):
    set_range()
    return bpy.context.scene


def align(**settings):
    return bpy.ops.twobone.align_hinge(**{**RIG.names(), "plane": "YZ", **settings})


def refusal(**settings):
    with pytest.raises(RuntimeError) as caught:
        align(**settings)
    return str(caught.value)


def deformations(rig, frames=FRAMES):
    """How every bone moves what hangs on it, and where every object is: `(F, n, 4, 4)`."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=frame % 1)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = [bone.matrix @ bone.bone.matrix_local.inverted() for bone in posed.pose.bones]
        things = [thing.matrix_world.copy() for thing in bpy.data.objects]
        found.append([np.array(matrix) for matrix in (*bones, *things)])
    return np.array(found)


def rotation_curves(rig):
    return {(curve.data_path, curve.array_index) for curve in curves_of(rig) if "rotation" in curve.data_path}


def test_a_quaternion_leg_becomes_two_curves(scene):
    rig = build_armature(rolled_leg())
    target = circling_target(rig, RIG)
    assert forecast() == (
        8,
        (
            'Bone "upper" takes 4 curves: it rotates by quaternions.',
            'Bone "lower" takes 4 curves: it rotates by quaternions.',
        ),
    )
    assert align() == {"FINISHED"}
    assert forecast() == (2, ())
    assert bake(RIG, target=target.name, plane="YZ")["channels"] == 2
    assert {path for path, _ in rotation_curves(rig)} == {f'pose.bones["{bone}"].rotation_euler' for bone in ("upper", "lower")}


def test_a_rolled_leg_is_left_alone_unless_its_roll_may_change(scene):
    rig = build_armature(rolled_leg(0.3, -0.7))
    assert "allow its roll to change" in refusal()
    assert rig.pose.bones["upper"].rotation_mode == "QUATERNION"
    assert align(roll=True) == {"FINISHED"}
    target = circling_target(rig, RIG)
    assert bake(RIG, target=target.name, plane="YZ")["channels"] == 2


@pytest.mark.parametrize("roll_upper", [-3.0, -1.2, 0.3, 2.0])
@pytest.mark.parametrize("roll_lower", [0.0, 0.7])
def test_a_changed_roll_is_not_seen(scene, roll_upper, roll_lower):
    rig = build_armature(rolled_leg(roll_upper, roll_lower))
    held = add_empty("Held", rig)
    held.parent_type, held.parent_bone = "BONE", "lower"
    held.location = (0.1, 0.2, 0.3)
    bones = rig.pose.bones
    bones["upper"].location = (0.1, 0.2, 0.3)
    bones["upper"].rotation_quaternion = (0.8, 0.4, 0.3, 0.1)
    bones["foot"].rotation_quaternion = (0.9, 0.1, 0.3, 0.1)
    rests = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    bpy.context.view_layer.update()
    before = deformations(rig, [1])
    assert align(roll=True) == {"FINISHED"}
    assert deformations(rig, [1]) == pytest.approx(before, abs=EDIT_MODE)
    for name in ("parent", "foot"):
        assert np.array(rig.data.bones[name].matrix_local) == pytest.approx(rests[name], abs=EDIT_MODE)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "YXZ"])
@pytest.mark.parametrize("roll", [False, True])
def test_converted_keys_move_as_before(scene, mode, roll):
    rig = build_armature(rolled_leg(0.5 * roll, -0.4 * roll))
    for number, name in enumerate(("upper", "lower")):
        bone = rig.pose.bones[name]
        bone.rotation_mode = mode
        for frame, turn in ((2, (0.3, 0.5, -0.4)), (9, (1.4, -0.2, 0.3)), (15.5, (-0.7, 0.4, 0.6)), (20, (0.1, 0, 0.2))):
            set_rotation(bone, Euler(turn[number:] + turn[:number]).to_matrix())
            bone.keyframe_insert(channel_of(bone), frame=frame)
    before = deformations(rig)
    assert align(roll=roll) == {"FINISHED"}
    assert np.abs(deformations(rig) - before).max() <= SAME_POSE
    assert all(rig.pose.bones[name].rotation_mode.endswith("X") for name in ("upper", "lower"))
    assert {path for path, _ in rotation_curves(rig)} == {f'pose.bones["{bone}"].rotation_euler' for bone in ("upper", "lower")}
    for curve in curves_of(rig):
        frames = {round(key.co.x, 3) for key in curve.keyframe_points}
        assert {2, 9, 15.5, 20} <= frames
        assert {key.type for key in curve.keyframe_points} == {"KEYFRAME"}


def set_rotation(bone, matrix):
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = matrix.to_quaternion()
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = matrix.to_quaternion().to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = matrix.to_euler(bone.rotation_mode)


def channel_of(bone):
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(bone.rotation_mode, "rotation_euler")


def test_stepped_keys_stay_stepped(scene):
    rig = build_armature(rolled_leg())
    bone = rig.pose.bones["upper"]
    key_channel(bone, "rotation_quaternion", {3: (1, 0, 0, 0), 8: (0.8, 0.6, 0, 0), 12: (0.6, 0.8, 0, 0)})
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.interpolation, key.type = "CONSTANT", "EXTREME"
    before = deformations(rig)
    align()
    assert np.abs(deformations(rig) - before).max() <= 1e-6
    (curve,) = curves_of(rig)
    assert [(key.co.x, key.interpolation, key.type) for key in curve.keyframe_points] == [
        (3, "CONSTANT", "EXTREME"),
        (8, "CONSTANT", "EXTREME"),
        (12, "CONSTANT", "EXTREME"),
    ]


def test_baked_quaternions_become_single_curves_that_are_still_marked_as_baked(scene):
    rig = build_armature(rolled_leg())
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, plane="YZ")
    before = deformations(rig, range(1, 25))
    align()
    assert np.abs(deformations(rig, range(1, 25)) - before).max() <= SAME_POSE
    assert len(rotation_curves(rig)) == 2
    assert all(key.type == "GENERATED" for curve in curves_of(rig) for key in curve.keyframe_points if key.co.x % 1 == 0)


def test_an_aligned_leg_is_not_touched_again(scene):
    build_armature(rolled_leg())
    assert align() == {"FINISHED"}
    assert align() == {"CANCELLED"}


def test_an_euler_order_that_is_exact_already_is_kept(scene):
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    assert forecast() == (2, ())
    assert align() == {"CANCELLED"}
    rig.pose.bones["upper"].rotation_euler.y = 0.5
    assert forecast() == (4, ('Bone "upper" takes 3 curves: its other rotation channels are not zero.',))
    assert align() == {"FINISHED"}
    assert rig.pose.bones["upper"].rotation_mode == "YZX"


def test_a_range_has_no_effect_so_one_that_needs_a_target_does_not_stop_it(scene):
    rig = build_armature(rolled_leg())
    rig.pose.bones["upper"].rotation_euler.y = 0.5
    assert align(frame_range="TARGET") == {"FINISHED"}
    assert rig.pose.bones["upper"].rotation_mode == "YZX"


def test_undo_brings_modes_and_keys_back(scene):
    rig = build_armature(rolled_leg())
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {3: (1, 0, 0, 0), 8: (0.8, 0.6, 0, 0)})
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.twobone.align_hinge("EXEC_DEFAULT", True, **RIG.names(), plane="YZ")  # noqa: FBT003 - Blender's own way
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert rig.pose.bones["upper"].rotation_mode == "QUATERNION"
    assert len(rotation_curves(rig)) == 4


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_mode_and_active_object_stay(scene, mode):
    rig = build_armature(rolled_leg(0.2, 0.3))
    bpy.ops.object.mode_set(mode=mode)
    align(roll=True)
    assert bpy.context.mode == mode
    assert bpy.context.view_layer.objects.active == rig


def push_down(rig):
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), 9: (0.8, 0.6, 0, 0)})
    data = rig.animation_data
    action = data.action
    data.action = None
    data.nla_tracks.new().strips.new("strip", 1, action)


REFUSED = {
    "location is animated": lambda rig: key_channel(rig.pose.bones["upper"], "location", {1: (1, 0, 0), 9: (0, 0, 1)}),
    "scaled unevenly": lambda rig: setattr(rig.pose.bones["upper"], "scale", (1, 1, 2)),
    "segments": lambda rig: setattr(rig.data.bones["upper"], "bbone_segments", 4),
    "works in its axes": lambda rig: setattr(rig.pose.bones["upper"].constraints.new("LIMIT_ROTATION"), "owner_space", "LOCAL"),
    "users": lambda rig: bpy.data.objects.new("Twin", rig.data),
    "driven": lambda rig: rig.pose.bones["upper"].driver_add("rotation_quaternion", 1),
    "NLA strip": push_down,
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_kept_is_refused_and_nothing_changes(scene, what):
    rig = build_armature(rolled_leg(0.3, 0.2))
    REFUSED[what](rig)
    bpy.context.view_layer.update()
    rests = [bone.matrix_local.copy() for bone in rig.data.bones]
    assert what in refusal(roll=True, plane_space="PARENT")
    assert [bone.matrix_local for bone in rig.data.bones] == rests
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}


def test_a_leaning_bone_is_told_that_no_roll_helps(scene):
    build_armature(rolled_leg(lean=0.2))
    assert "no roll can align it" in refusal(roll=True)


def test_in_a_plane_of_its_own_only_the_lower_bone_is_a_hinge(scene):
    rig = build_armature(rolled_leg(0.3, 0.2, lean=0.2))
    assert align(plane="REST", roll=True) == {"FINISHED"}
    target = circling_target(rig, RIG)
    report = bake(RIG, target=target.name, plane="REST")
    assert report["channels"] == 5
    assert forecast(plane="REST")[0] == 5


@pytest.mark.parametrize("reference", ["REST", "POSE"])
def test_a_straight_leg_keeps_the_hinge_about_which_it_is_bent_now(scene, reference):
    """In the plane of its pose it is bent about Z, whatever its knee would usually bend about."""
    rig = build_armature(STRAIGHT_LEG)
    lower = rig.pose.bones["lower"]
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = "XYZ"
    lower.rotation_euler = (0.0, 0.0, 0.5)
    assert align(plane="POSE", reference=reference) == {"CANCELLED"}
    assert lower.rotation_mode == "XYZ"
    bake(RIG, target=circling_target(rig, RIG).name, plane="POSE", reference=reference)
    assert {index for path, index in rotation_curves(rig) if "lower" in path} == {2}


@pytest.mark.parametrize("reference", ["REST", "POSE"])
def test_a_pose_that_is_off_every_hinge_is_told_and_left(scene, reference):
    rig = build_armature(STRAIGHT_LEG)
    lower = rig.pose.bones["lower"]
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = "XYZ"
    lower.rotation_euler = (0.2, 0.0, 0.5)
    assert "its current pose rotates it off its hinge" in refusal(plane="POSE", reference=reference)
    assert lower.rotation_mode == "XYZ"
