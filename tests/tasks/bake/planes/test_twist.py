"""Bones that are turned about their own axes: poles and rest planes do not do it, and where it is done it is said."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.interface.acting import select_bones
from tests.tasks.checks.measuring import evaluate, unit
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed, target_on
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import LEG, STRAIGHT_LEG, Limb, add_empty, bake, bent, build_armature, key_channel, set_range

RIG = Limb("Rig")
FRAMES = range(1, 13)
BONES = ["upper", "lower"]
ROLLS = [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi, 2.0]


def walking(roll, least=10.0):
    """A leg that is straight at rest and walks, its knee to the front, -Y, whatever the roll of its bones."""
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(bent(bent(STRAIGHT_LEG, "upper", roll=roll), "lower", roll=roll))
    # Turned about a world axis, as seen from the bone.
    for name, degrees in (("upper", {1: -40, 6: 20, 12: -40}), ("lower", {1: 60, 6: least, 12: 60})):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        axis = np.array(bone.bone.matrix_local)[0, :3]
        for frame, angle in degrees.items():
            half = math.radians(angle) / 2
            key_channel(bone, "rotation_quaternion", {frame: (math.cos(half), *(math.sin(half) * axis))})
    return rig


def pole_before_the_knee(rig):
    return target_on(rig, FRAMES, lambda bones: bones["lower"].head - 3 * knee_axis(bones), "Pole")


def knee_axis(bones):
    """Where the back of the knee looks."""
    root, knee, tip = bones["upper"].head, bones["lower"].head, bones["lower"].tail
    along = (tip - root).normalized()
    return -((knee - root) - along * (knee - root).dot(along)).normalized()


@pytest.mark.parametrize("reference", ["REST", "POSE"])
@pytest.mark.parametrize("plane", ["POLE", "REST"])
@pytest.mark.parametrize("roll", ROLLS)
def test_a_limb_that_is_straight_at_rest_is_not_turned_round(empty_file, plane, roll, reference):
    rig = walking(roll)
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    pole_before_the_knee(rig)
    before = posed(rig, BONES, FRAMES)
    report = bake(RIG, target="Target", plane=plane, pole="Pole", reference=reference)
    assert degrees_between(before, posed(rig, BONES, FRAMES)).max() < UNSEEN
    assert report["max_twist"] < UNSEEN
    assert not any("own axis" in note for note in report["notes"])


@pytest.mark.parametrize("roll", ROLLS)
def test_a_limb_that_nothing_ever_bends_is_bent_without_a_twist(empty_file, roll):
    set_range(1, 3)
    build_armature(bent(bent(STRAIGHT_LEG, "upper", roll=roll), "lower", roll=roll))
    add_empty().location, add_empty("Pole").location = (0, 0, -1.2), (0.3, -3, -1)
    report = bake(RIG, target="Target", plane="POLE", pole="Pole")
    assert report["max_twist"] < 1e-3


@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE", "KEEP"])
def test_a_second_bake_changes_nothing_whichever_side(empty_file, bend):
    rig = walking(0.5)
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    pole_before_the_knee(rig)
    chosen = {"target": "Target", "plane": "POLE", "pole": "Pole", "bend": bend}
    bake(RIG, **chosen)
    first = posed(rig, BONES, FRAMES)
    bake(RIG, **chosen)
    assert degrees_between(first, posed(rig, BONES, FRAMES)).max() < UNSEEN


def test_the_other_side_of_a_pole_is_a_knee_that_bends_the_other_way(empty_file):
    rig = walking(0.0)
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    pole_before_the_knee(rig)
    report = bake(RIG, target="Target", plane="POLE", pole="Pole", bend="NEGATIVE")
    links = unit(evaluate(rig, RIG, FRAMES).links)
    assert np.all(np.cross(links[:, 0], links[:, 1])[:, 0] < 0), "the knee is not at the back"
    assert report["max_twist"] < UNSEEN


def test_a_pole_behind_the_knee_turns_the_limb_round_and_the_report_says_so(empty_file):
    rig = walking(0.0)
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    target_on(rig, FRAMES, lambda bones: bones["lower"].head + 3 * knee_axis(bones), "Pole")
    before = posed(rig, BONES, FRAMES)
    report = bake(RIG, target="Target", plane="POLE", pole="Pole")
    assert report["max_twist"] == pytest.approx(180, abs=1)
    assert any(("own axis" in note and '"upper"' in note) or '"lower"' in note for note in report["notes"])
    # Knee and ankle still bend as they did, seen from the thigh.
    after = posed(rig, BONES, FRAMES)
    inside = [np.swapaxes(pose[:, 0], -1, -2) @ pose[:, 1] for pose in (before, after)]
    assert np.abs(inside[0] - inside[1]).max() < 1e-4


def test_the_twist_in_the_report_is_the_bones_own(empty_file):
    """A twist that the pose has and the rest pose has not."""
    set_range(1, 4)
    rig = build_armature(LEG)
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "YXZ"
    add_empty().location = evaluate(rig, RIG, [1]).joints[0, 2]
    # The lower bone is turned back about the same line, so that no joint moves.
    link = unit(evaluate(rig, RIG, [1]).links)[0, 0]
    own = np.array(bone.bone.matrix_local)[:3, :3].T @ link
    half = math.radians(30) / 2
    bone.rotation_mode = "QUATERNION"
    key_channel(bone, "rotation_quaternion", {1: (math.cos(half), *(math.sin(half) * own))})
    bpy.context.view_layer.update()
    tip = evaluate(rig, RIG, [1]).joints[0, 2]
    bpy.data.objects["Target"].location = tip
    report = bake(RIG, target="Target", plane="POSE", reference="REST")
    assert report["max_twist"] < 1e-3, "turned with its plane, which the knee has taken along"
    report = bake(RIG, target="Target", plane="REST", reference="REST")
    assert report["max_twist"] == pytest.approx(30, abs=1.5)


@pytest.mark.parametrize("shapes", [LEG, STRAIGHT_LEG], ids=["bent", "straight"])
@pytest.mark.parametrize("roll", ROLLS)
@pytest.mark.parametrize("older", [True, False], ids=["stored", "fresh"])
def test_add_pole_leaves_the_pose(empty_file, shapes, roll, older):
    set_range(1, 4)
    rig = build_armature(bent(shapes, "upper", roll=roll))
    for name, turn in (("upper", (0.2, 0.3, -0.4)), ("lower", (0.4, 0.1, 0.2))):
        rig.pose.bones[name].rotation_mode = "ZXY"
        key_channel(rig.pose.bones[name], "rotation_euler", {1: turn})
    select_bones(rig, "lower")
    if older:
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = "leg", "upper", "lower"
    bpy.ops.twobone.add_target()
    bpy.ops.twobone.add_pole()
    before = posed(rig, BONES, [1])
    bpy.ops.twobone.bake()
    assert rig.twobone.chains[0].plane == "POLE"
    assert degrees_between(before, posed(rig, BONES, [1])).max() < UNSEEN


@pytest.mark.parametrize("shapes", [LEG, STRAIGHT_LEG], ids=["bent", "straight"])
@pytest.mark.parametrize("roll", ROLLS)
def test_add_pole_leaves_a_limb_at_rest(empty_file, shapes, roll):
    set_range(1, 2)
    rig = build_armature(bent(shapes, "upper", roll=roll))
    select_bones(rig, "lower")
    bpy.ops.twobone.add_target()
    bpy.ops.twobone.add_pole()
    before = posed(rig, BONES, [1])
    bpy.ops.twobone.bake()
    assert degrees_between(before, posed(rig, BONES, [1])).max() < UNSEEN


@pytest.mark.parametrize("plane, reference", [("POSE", "POSE"), ("POLE", "POSE"), ("POLE", "REST")])
@pytest.mark.parametrize("least", [10.0, 0.5, 0.0, -0.4, -5.0])
def test_a_limb_that_is_straight_for_a_while_or_overstretched_comes_back_with_its_twist(empty_file, least, plane, reference):
    """Also while its thigh turns on in the straight frames."""
    rig = walking(0.7, least)
    bone = rig.pose.bones["lower"]
    bone.keyframe_insert("rotation_quaternion", frame=6)
    upper = rig.pose.bones["upper"]
    for frame, turn in ((5, 0.0), (7, 0.5)):
        bpy.context.scene.frame_set(frame)
        upper.rotation_quaternion @= Quaternion((0, 1, 0), turn)
        upper.keyframe_insert("rotation_quaternion", frame=frame)
    chosen = {"plane": plane, "reference": reference}
    before = posed(rig, BONES, FRAMES)
    bpy.ops.twobone.bake_target(**RIG.names(), **chosen)
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["max_round_trip"] < 1e-3
    bake(RIG, target=report["target"], pole=report["pole"], **chosen)
    turned = degrees_between(before, posed(rig, BONES, FRAMES)).max()
    assert turned < UNSEEN if reference == "POSE" else turned < 2.0


def test_a_limb_that_is_already_keyed_as_its_pole_asks_keeps_its_twist_where_it_is_straight(empty_file):
    """By hand or by another tool: nothing tells of a bake. The pole moves past meanwhile; at the end the thigh is turned out."""
    set_range(1, 24)
    frames, rig = range(1, 25), build_armature(STRAIGHT_LEG)
    circling_target(rig, RIG).delta_location = (0.0, 0.4, 0.3)
    key_channel(add_empty("Pole"), "location", {1: (0.3, -3.0, 1.0), 12: (2.0, -3.0, 0.0), 24: (-2.0, -2.0, 1.0)})
    chosen = {"target": "Target", "plane": "POLE", "pole": "Pole", "reference": "POSE", "bend": "POSITIVE"}
    assert 0 < bake(RIG, **chosen)["too_far"] < len(frames)
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = [tuple(rig.pose.bones[name].rotation_quaternion) for name in BONES]
    for frame in range(20, 25):
        found[frame][0] = tuple(Quaternion(found[frame][0]) @ Quaternion((0, 1, 0), 0.4))
    rig.animation_data_clear()
    for number, name in enumerate(BONES):
        key_channel(rig.pose.bones[name], "rotation_quaternion", {frame: each[number] for frame, each in found.items()})
    before = posed(rig, BONES, frames)
    bake(RIG, **chosen)
    turned = degrees_between(before, posed(rig, BONES, frames)).max(axis=1)
    assert turned[:19].max() < UNSEEN
    assert turned[19:].min() > 10.0


@pytest.mark.parametrize("tolerance", [0.002, 0.02])
def test_the_twist_that_reduced_keys_add_is_in_the_report(empty_file, tolerance):
    rig = walking(0.7)
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {9: (0.9, 0.1, 0.3, 0.3)})
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    before, joints = posed(rig, BONES, FRAMES), evaluate(rig, RIG, FRAMES).joints
    report = bake(RIG, target="Target", plane="POSE", reference="POSE", keys="REDUCE", tolerance=tolerance)
    after = posed(rig, BONES, FRAMES)
    found = []
    for old, new, places in zip(before, after, joints, strict=True):
        thigh, shin = np.diff(places, axis=0)
        found.append(twist_about(thigh, old[0], new[0]))
        # The shin turns in the knee, as seen from the thigh.
        found.append(twist_about(old[0].T @ shin, old[0].T @ old[1], new[0].T @ new[1]))
    assert report["max_twist"] == pytest.approx(np.max(found), abs=0.02)
    assert report["max_twist"] < 5.0, "which is seen"
    if tolerance > 0.01:
        assert report["max_twist"] > 0.05, "nothing was tested"


def twist_about(link, before, after):
    """Degrees by which the turn from one orientation to another goes about a line."""
    turn = [axes / np.linalg.norm(axes, axis=0) for axes in (before, after)]
    turned = Matrix(turn[1] @ turn[0].T).to_quaternion()
    along = Vector(link).normalized().dot(turned.axis) * math.sin(turned.angle / 2)
    return abs(math.degrees(2 * math.atan2(along, math.cos(turned.angle / 2))))
