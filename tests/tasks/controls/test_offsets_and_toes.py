"""Controls that are no twins of what is seen, and toes behind the same switch: nothing moves, and no helper is keyed."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range
from twobone_addon.scene.versions import curve_bag

HIP, KNEE, ANKLE, BALL, TIP = (0.1, 0, 1), (0.1, -0.05, 0.55), (0.1, 0, 0.1), (0.1, -0.15, 0.02), (0.1, -0.22, 0.02)
LAST = 12
LENGTH = 0.91
SEEN = ("thigh_def", "shin_def", "foot_def", "toe_def")
LEG = {"armature": "Rig", "upper": "thigh_fk", "lower": "shin_fk"}


def rig_with(roll, *, shin_helper=False, socket=False, copy="COPY_TRANSFORMS", tilted=(0.1, -0.2, 0.1)):
    """Controls that lie otherwise than what is seen, with helpers below them, as control rigs for captured motion are wired."""
    shapes = [BoneShape("hips", (0, 0, 1), (0, 0, 1.2))]
    for kind in ("def", "fk", "ik"):
        shapes += [BoneShape(f"thigh_{kind}", HIP, KNEE, "hips"), BoneShape(f"shin_{kind}", KNEE, ANKLE, f"thigh_{kind}")]
    shapes += [
        BoneShape("foot_def", ANKLE, BALL, "shin_def"),
        BoneShape("toe_def", BALL, TIP, "foot_def"),
        BoneShape("foot_fk", ANKLE, tilted, "shin_fk"),
        BoneShape("foot_fk_helper", ANKLE, BALL, "foot_fk"),
        BoneShape("toe_fk", BALL, TIP, "foot_fk_helper"),
        BoneShape("ankle", ANKLE, tilted),
        BoneShape("foot_ik", ANKLE, BALL, "ankle"),
        BoneShape("toe_ik", BALL, TIP, "foot_ik"),
        BoneShape("pole", (0.1, -0.8, 0.6), (0.1, -0.9, 0.6)),
        BoneShape("shin_fk_helper", KNEE, ANKLE, "shin_fk"),
    ]
    rig = build_armature(shapes)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("foot_fk", "ankle", *(["shin_fk"] if shin_helper else [])):
        rig.data.edit_bones[name].roll += roll
    if socket:
        bone = rig.data.edit_bones.new("socket")
        bone.head, bone.tail, bone.parent = HIP, (0.1, 0.1, 1), rig.data.edit_bones["hips"]
        rig.data.edit_bones["thigh_ik"].parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    bones = rig.pose.bones
    ik = bones["shin_ik"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.iterations = rig, "ankle", 2, 500
    ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, "pole", -math.pi / 2
    rig["fk"] = 0.0
    helpers = {"foot": "foot_fk_helper", "shin": "shin_fk_helper" if shin_helper else "shin_fk"}
    for part in ("thigh", "shin", "foot", "toe"):
        for kind, source in (("ik", f"{part}_ik"), ("fk", helpers.get(part, f"{part}_fk"))):
            constraint = bones[f"{part}_def"].constraints.new(copy)
            constraint.name, constraint.target, constraint.subtarget = kind, rig, source
        driver = constraint.driver_add("influence").driver
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = rig, '["fk"]'
    for bone in bones:
        bone.rotation_mode = "QUATERNION"
    set_range(1, LAST)
    return rig


def move(rig):
    bones = rig.pose.bones
    for frame in range(1, LAST + 1):
        swing = math.sin(frame / 3)
        key_channel(bones["ankle"], "location", {frame: (0.03 * swing, 0.05 + 0.05 * swing, 0.1 + 0.05 * swing)})
        for name, angles in (
            ("ankle", (0.4 * swing, 0.1, 0.3 * swing)),
            ("toe_ik", (0.5 * swing, 0, 0)),
            ("thigh_fk", (-0.4 - 0.2 * swing, 0, 0.1)),
            ("shin_fk", (0.7 + 0.3 * swing, 0, 0)),
            ("foot_fk", (0.2, 0.3 * swing, 0.1)),
            ("toe_fk", (-0.4 * swing, 0, 0)),
        ):
            key_channel(bones[name], "rotation_quaternion", {frame: tuple(Euler(angles).to_quaternion())})


def poses(rig):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in SEEN])
    return np.array(found)


def assert_nothing_moves(before, after):
    assert np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1).max() < 2e-4 * LENGTH
    assert np.abs(after[..., :3, :3] - before[..., :3, :3]).max() < 2e-3


KINDS = {
    "turned about itself": {"roll": 0.6},
    "lying flat": {"roll": 0.0, "tilted": (0.1, -0.3, 0.1)},
    "pointing aside": {"roll": 1.2, "tilted": (0.2, -0.2, 0.1)},
    "with a helper below the shin": {"roll": -0.8, "shin_helper": True},
    "copying rotations": {"roll": 0.6, "copy": "COPY_ROTATION"},
    "with a socket above the IK": {"roll": 0.6, "socket": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", ["FK", "IK"])
def test_what_is_seen_stays_there_and_back_and_no_helper_is_keyed(empty_file, kind, first):
    if first == "IK" and "shin_helper" in KINDS[kind]:
        pytest.skip("a shin that turns about another axis than its hinge twists, which no IK does")
    rig = rig_with(**KINDS[kind])
    move(rig)
    rig["fk"] = float(first == "IK")
    before = poses(rig)
    for to in (first, "IK" if first == "FK" else "FK"):
        earlier = poses(rig)
        assert bpy.ops.twobone.switch(**LEG, to=to, **({"motion": "BAKE"} if to == "FK" else {})) == {"FINISHED"}
        after = poses(rig)
        assert_nothing_moves(before, after)
        told = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
        moved = np.linalg.norm(after[..., :3, 3] - earlier[..., :3, 3], axis=-1).max()
        assert told["max_moved"] == pytest.approx(moved, abs=5e-5)
        assert "all stays within" in told["sentence"]
    keyed = {fcurve.data_path.split('"')[1] for fcurve in curve_bag(rig).fcurves if fcurve.data_path.startswith("pose")}
    assert not keyed & {"foot_fk_helper", "shin_fk_helper", "foot_ik", "socket", *SEEN}


def test_a_foot_that_leaves_the_leg_is_refused_with_its_cause(empty_file):
    rig = rig_with(0.0)
    move(rig)
    key_channel(rig.pose.bones["ankle"], "location", {6: (0.0, -0.05, -0.3)})
    before = poses(rig)
    with pytest.raises(RuntimeError, match='Bone "foot_def" does not meet the end of bone "shin_def" at frame 6'):
        bpy.ops.twobone.switch(**LEG, to="FK", motion="BAKE")
    np.testing.assert_array_equal(poses(rig), before)


def test_a_limit_that_would_hold_the_foot_is_refused_by_name_and_nothing_changes(empty_file):
    rig = rig_with(0.0)
    move(rig)
    limit = rig.pose.bones["foot_fk"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    before, paths = poses(rig), {fcurve.data_path for fcurve in curve_bag(rig).fcurves}
    said = r'_def" would (turn|move) by .* at frame \d+.*Mute constraint "Limit Rotation" of bone "foot_fk" first'
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.twobone.switch(**LEG, to="FK", motion="BAKE")
    np.testing.assert_array_equal(poses(rig), before)
    assert {fcurve.data_path for fcurve in curve_bag(rig).fcurves} == paths


@pytest.mark.parametrize("has_keys", [True, False])
def test_a_refused_switch_names_keep_where_fk_has_keys_to_show(empty_file, has_keys):
    rig = rig_with(0.0)
    move(rig)
    limit = rig.pose.bones["foot_fk"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    for curve in [] if has_keys else list(curve_bag(rig).fcurves):
        if "thigh_fk" in curve.data_path or "shin_fk" in curve.data_path:
            curve_bag(rig).fcurves.remove(curve)
    with pytest.raises(RuntimeError) as refused:
        bpy.ops.twobone.switch(**LEG, to="FK", motion="BAKE")
    assert ("Or set Motion to Keep" in str(refused.value)) == has_keys
    assert bpy.ops.twobone.switch(**LEG, to="FK", motion="KEEP") == {"FINISHED"}


@pytest.mark.parametrize("constraint", ["COPY_ROTATION", "DAMPED_TRACK"])
def test_a_constraint_of_the_control_that_takes_its_motion_away_is_keyed_off_with_the_switch(empty_file, constraint):
    rig = rig_with(0.0)
    move(rig)
    added = rig.pose.bones["foot_fk"].constraints.new(constraint)
    added.target, added.subtarget = rig, "pole"
    before = poses(rig)
    assert bpy.ops.twobone.switch(**LEG, to="FK", motion="BAKE") == {"FINISHED"}
    assert_nothing_moves(before, poses(rig))
