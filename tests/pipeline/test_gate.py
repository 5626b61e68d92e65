"""Limbs that something else than their keys poses: every task names it first, and goes on after the remedy."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.followed_rig import deforming_armature
from tests.tasks.rigs.robot import LAST, robot
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, key_places, set_range

ARM = {"armature": "Rig", "upper": "upper", "lower": "lower"}


def places(rig, bone, end="head", frames=range(1, LAST + 1)):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(seen.matrix_world @ getattr(seen.pose.bones[bone], end))
    return np.array(found)


def activate(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()


def swinging_leg():
    """A keyed leg with a foot, whose rotations and target move."""
    set_range(1, LAST)
    rig = build_armature((*LEG, BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.0, -0.75), "lower")))
    for bone, angle in (("upper", 0.15), ("lower", 0.4)):
        key_channel(rig.pose.bones[bone], "rotation_quaternion", {1: (1, angle, 0, 0), LAST: (1, 2 * angle, 0.1, 0)})
    key_places(add_empty("Target"), [(0.1, 0.3 - 0.03 * frame, -0.5) for frame in range(LAST)])
    activate(rig)
    return rig


def with_ik(carrier, count, kind="IK"):
    constraint = swinging_leg().pose.bones[carrier].constraints.new(kind)
    constraint.chain_count = count
    if kind == "IK":
        constraint.target = add_empty("Goal")
    else:
        curve = bpy.data.objects.new("Spine", bpy.data.curves.new("Spine", "CURVE"))
        curve.data.splines.new("BEZIER").bezier_points.add(1)
        bpy.context.scene.collection.objects.link(curve)
        constraint.target = curve
    bpy.context.view_layer.update()
    return constraint


CALLS = {
    "bake": lambda: bpy.ops.twobone.bake(**ARM, target="Target", plane="POSE"),
    "nudge": lambda: bpy.ops.twobone.nudge(**ARM, frame=5, offset=(0, 0, 0.05)),
}


def assert_refused(call, said):
    before = dump_file()
    with pytest.raises(RuntimeError, match=said):
        call()
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "carrier, count, kind",
    [("lower", 2, "IK"), ("foot", 3, "IK"), ("foot", 0, "IK"), ("lower", 1, "IK"), ("foot", 3, "SPLINE_IK")],
)
def test_ik_from_anywhere_that_turns_a_bone_of_the_limb_is_refused_by_name(empty_file, call, carrier, count, kind):
    constraint = with_ik(carrier, count, kind)
    remedy = "Use Switch All Limbs to FK, or Convert IK to FK Keys, first"
    assert_refused(call, rf'IK \("{constraint.name}"\) poses bone "(upper|lower)", so keys on it would be invisible. {remedy}')


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("off", ["muted", "no influence", "no target", "keyed off in the range", "driven to nothing"])
def test_ik_that_poses_nothing_in_the_range_hinders_nobody(empty_file, call, off):
    constraint = with_ik("lower", 2)
    if off == "muted":
        constraint.mute = True
    elif off == "no target":
        constraint.target = None
    elif off == "no influence":
        constraint.influence = 0.0
    elif off == "driven to nothing":
        constraint.driver_add("influence").driver.expression = "0"
    else:
        for frame, influence in ((-20, 1.0), (-9, 0.0), (30, 0.0), (31, 1.0)):
            constraint.influence = influence
            constraint.keyframe_insert("influence", frame=frame)
        bpy.context.scene.frame_set(40)
    bpy.context.view_layer.update()
    assert call() == {"FINISHED"}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ik_that_begins_in_the_range_is_refused_with_the_frame_though_it_does_not_act_now(empty_file, call):
    constraint = with_ik("lower", 2)
    for frame, influence in ((1, 0.0), (6, 0.0), (7, 1.0), (30, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    assert_refused(call, r'poses bone "upper" at frame \d+')


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("is_keyed", [False, True])
def test_ik_with_half_its_influence_is_said_to_pose_half(empty_file, call, is_keyed):
    constraint = with_ik("lower", 2)
    constraint.influence = 0.5
    if is_keyed:
        constraint.keyframe_insert("influence", frame=3)
    assert_refused(call, r'IK \("IK"\) poses bone "(upper|lower)" by 50%, so keys on it would show only partly\. Use Switch All')


@pytest.mark.parametrize("task", ["plant", "find_contacts", "nudge"])
@pytest.mark.parametrize("influence", [0.5, 0.25])
def test_a_visible_limb_that_follows_in_part_is_not_called_invisible(empty_file, task, influence):
    rig = switched_leg(on_ik=1.0 - influence)
    set_range(1, LAST)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.limb = "Leg", "thigh_fk", "shin_fk", "LEG"
    activate(rig)
    asked = {"armature": "Rig", "upper": "thigh_fk", "lower": "shin_fk", "frame": 5, "offset": (0, 0, 0.05)}
    part = f"{influence:.0%}"
    assert_refused(
        lambda: getattr(bpy.ops.twobone, task)(**(asked if task == "nudge" else {})),
        rf'The visible limb \("shin_def"\) follows bone "shin_fk" by {part} only \(".*"\)',
    )


def test_a_constraint_that_copies_another_rig_is_named_and_not_called_invisible(empty_file):
    rig = swinging_leg()
    source = build_armature(LEG, "Source")
    copy = rig.pose.bones["lower"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = source, "lower"
    activate(rig)
    assert_refused(CALLS["nudge"], 'Constraint "Copy Rotation" poses bone "lower".*Mute it')
    copy.mute = True
    assert CALLS["nudge"]() == {"FINISHED"}


TO_FK = {"scope": "ACTIVE", "to": "FK"}


def listed_robot():
    rig = robot()
    set_range(1, LAST)
    activate(rig)
    bpy.ops.twobone.find_limbs(targets=True)
    return rig


def test_a_robot_whose_feet_lead_is_refused_and_after_the_switch_its_bake_moves_nothing(empty_file):
    rig = listed_robot()
    for task in (bpy.ops.twobone.plant, bpy.ops.twobone.bake_all):
        assert_refused(task, r'IK \("IK"\) poses bone "UpperLegL".*Use Switch All Limbs to FK')
    assert bpy.ops.twobone.switch(**TO_FK) == {"FINISHED"}
    before = [places(rig, f"LowerLeg{side}") for side in "LR"]
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    for side, was in zip("LR", before, strict=True):
        assert np.abs(places(rig, f"LowerLeg{side}") - was).max() < 1e-3


@pytest.mark.parametrize("side", "LR")
def test_targets_of_legs_on_ik_get_the_motion_that_is_seen(empty_file, side):
    rig = listed_robot()
    chain = next(chain for chain in rig.twobone.chains if chain.lower == f"LowerLeg{side}")
    ankle, target = places(rig, f"LowerLeg{side}", "tail"), []
    assert np.ptp(ankle, axis=0).max() > 0.1
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        target.append(chain.target.matrix_world.translation.copy())
    assert np.abs(np.array(target) - ankle).max() < 1e-4


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_target_of_a_limb_that_other_bones_show_moves_as_these_do(empty_file, elsewhere):
    rig = switched_leg()
    set_range(1, LAST)
    key_places(bpy.data.objects["IK goal"], [(0, -0.02 * frame, 0.2 + 0.01 * frame) for frame in range(LAST)])
    seen = deforming_armature(rig) if elsewhere else rig
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "thigh_fk", "shin_fk"
    activate(rig)
    assert bpy.ops.twobone.add_target(stored="Leg") == {"FINISHED"}
    foot = places(seen, "game_foot" if elsewhere else "foot_def")
    assert np.ptp(foot, axis=0).max() > 0.1
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(chain.target.matrix_world.translation.copy())
    assert np.abs(np.array(found) - foot).max() < 1e-4


NUDGED = {"armature": "Rig", "upper": "thigh_fk", "lower": "shin_fk", "frame": 5, "offset": (0, 0, 0.05)}


def key_switch(rig, values):
    """Key the switch to IK (1) or FK (0) at frames."""
    for frame, value in values.items():
        rig.pose.bones["hip"]["FK_IK"] = value
        rig.pose.bones["hip"].keyframe_insert('["FK_IK"]', frame=frame)


def on_ik_to_the_eye():
    """The switched leg on IK, listed."""
    rig = switched_leg()
    set_range(1, LAST)
    key_places(bpy.data.objects["IK goal"], [(0, -0.02 * frame, 0.1) for frame in range(LAST)])
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.limb = "Leg", "thigh_fk", "shin_fk", "LEG"
    return rig


NOT_SEEN = r'The visible limb \("shin_def"\) does not follow bone "shin_fk".*Use Switch All Limbs to FK'


@pytest.mark.parametrize("task", ["plant", "find_contacts", "nudge"])
@pytest.mark.parametrize("switch", ["set", "keyed to IK", "keyed to IK in the range, shown at FK after it"])
def test_a_limb_that_other_bones_show_is_refused_and_after_the_switch_goes_through(empty_file, task, switch):
    rig = on_ik_to_the_eye()
    if switch != "set":
        key_switch(rig, {0: 1.0, 5: 1.0, LAST: 1.0})
    if "after" in switch:
        key_switch(rig, {LAST + 1: 0.0})
    activate(rig)
    bpy.context.scene.frame_set(LAST + 5 if "after" in switch else 3)
    call = lambda: getattr(bpy.ops.twobone, task)(**(NUDGED if task == "nudge" else {}))  # noqa: E731
    assert_refused(call, NOT_SEEN)
    assert bpy.context.scene.frame_current == (LAST + 5 if "after" in switch else 3)
    assert bpy.ops.twobone.switch(armature="Rig", chain="Leg", to="FK") == {"FINISHED"}
    before = places(rig, "foot_def")
    assert call() == {"FINISHED"}
    if task == "nudge":
        now = places(rig, "foot_def")
        np.testing.assert_allclose(now[4] - before[4], (0, 0, 0.05), atol=1e-4)
        report = json.loads(bpy.context.window_manager.twobone_report)
        np.testing.assert_allclose(report["nudged_by"], (0, 0, 0.05), atol=1e-4)


@pytest.mark.parametrize("now", [0, LAST + 20])
@pytest.mark.parametrize("on_ik", [range(5, 9), range(1, 3), range(LAST + 10, LAST + 30)])
def test_contacts_of_a_limb_are_seen_if_it_is_on_fk_all_over_the_range_whatever_frame_is_shown(empty_file, on_ik, now):
    rig = switched_leg(control=True)
    set_range(1, LAST)
    for frame in range(LAST + 40):
        rig.pose.bones["hip"]["FK_IK"] = float(frame in on_ik)
        rig.pose.bones["hip"].keyframe_insert('["FK_IK"]', frame=frame)
    key_places(rig.pose.bones["goal"], [(0, 0.02 * frame, 0.1) for frame in range(LAST + 40)])
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.limb = "Leg", "thigh_fk", "shin_fk", "LEG"
    activate(rig)
    bpy.context.scene.frame_set(now)
    assert bpy.ops.twobone.find_contacts() == {"FINISHED"}
    (found,) = json.loads(bpy.context.window_manager.twobone_report)["chains"]
    assert found["is_seen"] == (on_ik.start > LAST)


def test_a_constraint_that_adds_what_the_limb_does_is_refused_before_anything_is_turned(empty_file):
    """In the rest pose it adds nothing, but once keys turn the upper bone the lower one goes beside its own."""
    set_range(1, LAST)
    rig = build_armature(LEG)
    key_places(add_empty("Target"), [(0.1, 0.3 - 0.03 * frame, -0.5) for frame in range(LAST)])
    copy = rig.pose.bones["lower"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.mix_mode = rig, "upper", "BEFORE"
    copy.target_space = copy.owner_space = "LOCAL"
    activate(rig)
    assert_refused(CALLS["bake"], 'Constraint "Copy Rotation" poses bone "lower", so it would not be where keys take it. Mute it')
    copy.use_x = copy.use_y = copy.use_z = False
    assert CALLS["bake"]() == {"FINISHED"}
