"""IK constraints turned into keys: nothing in the viewport moves, and the IK is muted, not gone."""

import json
import math

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.legs_with_ik import LAST, LENGTH, RESIDUAL, add_ik, assert_nothing_moved, convert, poses
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, key_places, set_range

STRETCHED = 5e-4
"""What it leaves while it stretches, where its matrices are not quite square."""


def with_pole(constraint, angle=-math.pi / 2):
    constraint.pole_target, constraint.pole_angle = bpy.data.objects["Pole"], angle


def refusal(rig, **settings):
    with pytest.raises(RuntimeError) as error:
        convert(rig, **settings)
    return str(error.value).removeprefix("Error: ").strip()


@pytest.mark.parametrize("angle", [None, -math.pi / 2, 0.6], ids=["no pole", "pole", "pole angle"])
def test_nothing_moves_and_the_constraint_is_muted(ik_leg, angle):
    constraint = ik_leg.pose.bones["lower"].constraints[0]
    if angle is not None:
        with_pole(constraint, angle)
    before = poses(ik_leg)
    report = convert(ik_leg, bone="lower")
    assert constraint.mute
    assert constraint.target == bpy.data.objects["Target"]
    assert_nothing_moved(before, poses(ik_leg))
    assert report["max_moved"] < RESIDUAL
    assert (report["bone"], report["constraint"], report["frames"]) == ("lower", "IK", LAST)


def test_where_ik_reaches_the_tip_comes_to_lie_on_the_target_exactly(ik_leg):
    report = convert(ik_leg, bone="lower")
    assert report["reached"] == LAST
    assert report["max_error"] < 2e-6 * 4
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert (ik_leg.pose.bones["lower"].tail - bpy.data.objects["Target"].matrix_world.translation).length < 1e-5


def test_out_of_reach_the_leg_points_where_ik_points_it(ik_leg):
    key_places(bpy.data.objects["Target"], [(0.1, 3.0 + frame, -1.0) for frame in range(LAST)])
    before = poses(ik_leg)
    report = convert(ik_leg, bone="lower")
    assert report["reached"] == 0
    assert report["max_error"] is None
    assert_nothing_moved(before, poses(ik_leg))


def test_an_animated_influence_is_baked_as_it_shows(ik_leg):
    constraint = ik_leg.pose.bones["lower"].constraints[0]
    ik_leg.pose.bones["upper"].rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    key_channel(constraint, "influence", {1: 0.0, 12: 1.0, LAST: 0.3})
    before = poses(ik_leg)
    report = convert(ik_leg, bone="lower")
    assert 0 < report["reached"] < LAST
    assert_nothing_moved(before, poses(ik_leg))


def test_the_influence_can_be_keyed_away_over_the_range_only(ik_leg):
    constraint = ik_leg.pose.bones["lower"].constraints[0]
    around = [-2, -1, 0, *range(5, 16), 20, 21, 30]
    set_range(5, 15)
    before = poses(ik_leg, around)
    convert(ik_leg, bone="lower", switch_off="INFLUENCE")
    assert not constraint.mute
    assert_nothing_moved(before, poses(ik_leg, around))
    influences = []
    for frame in (3, 4, 5, 10, 15, 16, 17):
        bpy.context.scene.frame_set(frame)
        influences.append(constraint.influence)
    assert influences == [1, 1, 0, 0, 0, 1, 1]


def test_keyed_influences_outside_the_range_stay(ik_leg):
    constraint = ik_leg.pose.bones["lower"].constraints[0]
    key_channel(constraint, "influence", {-9: 0.2, 10: 1.0, 40: 0.5})
    set_range(5, 15)
    outside = [-9, -3, 4, 16, 25, 40]
    before = poses(ik_leg, outside)
    convert(ik_leg, bone="lower", switch_off="INFLUENCE")
    assert_nothing_moved(before, poses(ik_leg, outside), tolerance=1e-5)


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_every_rotation_mode_stays(ik_leg, mode):
    for name in ("upper", "lower"):
        ik_leg.pose.bones[name].rotation_mode = mode
    before = poses(ik_leg)
    convert(ik_leg, bone="lower")
    assert ik_leg.pose.bones["upper"].rotation_mode == mode
    assert_nothing_moved(before, poses(ik_leg))


def test_a_moving_scaled_character_with_a_parent(ik_leg):
    key_channel(ik_leg, "rotation_euler", {1: (0, 0, 0), LAST: (0.2, 0.1, 0.9)})
    ik_leg.scale = (1.5, 1.5, 1.5)
    parent = ik_leg.pose.bones["parent"]
    key_channel(parent, "location", {1: (0, 0, 0), LAST: (0.1, 0.2, 0.3)})
    with_pole(ik_leg.pose.bones["lower"].constraints[0])
    before = poses(ik_leg)
    convert(ik_leg, bone="lower")
    assert_nothing_moved(before, poses(ik_leg), tolerance=1.5 * RESIDUAL)


def test_an_ik_on_the_foot_that_spares_the_foot(ik_leg):
    ik_leg.pose.bones["lower"].constraints.remove(ik_leg.pose.bones["lower"].constraints[0])
    add_ik(ik_leg, "foot", use_tail=False)
    before = poses(ik_leg)
    report = convert(ik_leg)
    assert (report["upper"], report["lower"], report["tip"]) == ("upper", "lower", "foot")
    assert_nothing_moved(before, poses(ik_leg))


def test_a_bone_of_the_same_armature_as_the_target(empty_file):
    rig = build_armature((*LEG, BoneShape("control", (0.1, 0.3, -0.7), (0.1, 0.5, -0.7))))
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = rig, "control", 2
    key_channel(rig.pose.bones["control"], "location", {1: (0, 0, 0), LAST: (0.3, 0.4, 0.4)})
    set_range(1, LAST)
    before = poses(rig)
    report = convert(rig)
    assert report["reached"] == LAST
    assert_nothing_moved(before, poses(rig))


def test_the_whole_armature_at_once_leaves_what_it_cannot_convert(ik_leg):
    add_ik(ik_leg, "foot", chain_count=4, name="Long").influence = 0.0
    bpy.context.view_layer.objects.active = ik_leg
    assert bpy.ops.twobone.convert_ik() == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert len(report["chains"]) == 1
    assert any('"Long" of bone "foot" has a chain of 4' in note for note in report["notes"])
    assert not ik_leg.pose.bones["foot"].constraints["Long"].mute


def test_reduced_keys_stay_within_their_tolerance(ik_leg):
    before = poses(ik_leg)
    report = convert(ik_leg, bone="lower", keys="REDUCE", tolerance=0.01)
    assert report["keys"] < report["full_rate_keys"] / 2
    feet = np.abs(before - poses(ik_leg))[:, 3, :3, 3]
    assert feet.max() < 0.01 + RESIDUAL


@pytest.mark.parametrize("inherit", ["FULL", "ALIGNED", "NONE"])
def test_stretch_of_the_ik_is_keyed_as_scale(ik_leg, inherit):
    for name in ("upper", "lower"):
        ik_leg.pose.bones[name].ik_stretch = 0.4
        ik_leg.data.bones[name].inherit_scale = inherit
    key_places(bpy.data.objects["Target"], [(0.1, 1.0, -0.6 - 0.05 * frame) for frame in range(LAST)])
    before = poses(ik_leg)
    report = convert(ik_leg, bone="lower")
    assert report["notes"] == ["Stretching keyed the scale of upper, lower."]
    assert_nothing_moved(before, poses(ik_leg), tolerance=STRETCHED * LENGTH)


@pytest.mark.parametrize("stretches", [(0.0, 0.1), (0.1, 0.0), (0.1, 0.1)])
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("pole", [False, True])
def test_bones_that_stretch_unevenly_stay_where_they_are(empty_file, stretches, straight, pole):
    """With an influence that is keyed, and targets far out of reach."""
    set_range(1, LAST)
    knee = (0.0, 0.0 if straight else -0.1, 0.5)
    shapes = [BoneShape("upper", (0, 0, 1), knee), BoneShape("lower", knee, (0, 0, 0), "upper", connected=True)]
    rig = build_armature((*shapes, BoneShape("foot", (0, 0, 0), (0, -0.2, 0), "lower")))
    random = np.random.default_rng(4)
    key_places(add_empty("Target"), random.uniform((-1.2, -2.4, -4.6), (1.2, 2.4, 1.0), (LAST, 3)))
    add_empty("Pole").location = (0.4, -8.0, 0.3)
    constraint = add_ik(rig, "lower", use_stretch=True)
    for name, stretch in zip(("upper", "lower"), stretches, strict=True):
        rig.pose.bones[name].ik_stretch = stretch
    if pole:
        with_pole(constraint, 0.7)
    key_channel(constraint, "influence", {1: 0.0, 15: 1.0})
    before = poses(rig)
    convert(rig, bone="lower")
    assert np.abs(before - poses(rig))[..., :3, 3].max() <= STRETCHED


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda ik: setattr(ik, "chain_count", 0), "has a chain of 3, but only two-bone IK"),
        (lambda ik: setattr(ik, "chain_count", 1), "has a chain of 1, but only two-bone IK"),
        (lambda ik: setattr(ik, "target", None), "has no target. Give it one"),
        (lambda ik: setattr(ik, "mute", True), 'Bone "lower" has no IK constraint that acts'),
        (lambda ik: ik.keyframe_insert("mute"), "is muted by animation or a driver"),
    ],
    ids=["whole", "one", "no target", "muted", "keyed mute"],
)
def test_what_cannot_be_converted_is_said_and_nothing_changes(ik_leg, change, sentence):
    change(ik_leg.pose.bones["lower"].constraints[0])
    before = poses(ik_leg)
    assert sentence in refusal(ik_leg, bone="lower")
    np.testing.assert_array_equal(before, poses(ik_leg))


def test_a_driven_influence_cannot_be_keyed(ik_leg):
    ik_leg.pose.bones["lower"].constraints[0].driver_add("influence")
    assert "is driven" in refusal(ik_leg, bone="lower", switch_off="INFLUENCE")


def test_an_unknown_bone_is_said(ik_leg):
    assert 'Bone "nose" is not in armature "Rig"' in refusal(ik_leg, bone="nose")


def test_one_undo_brings_the_constraint_back(ik_leg):
    bpy.ops.ed.undo_push(message="before")
    bpy.context.view_layer.objects.active = ik_leg
    bpy.ops.twobone.convert_ik()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Rig"].pose.bones["lower"].constraints[0].mute


@pytest.mark.parametrize("switch_off, is_said", [("MUTE", True), ("INFLUENCE", False)])
@pytest.mark.parametrize("first, last", [(5, 12), (1, 12), (5, LAST)])
def test_over_a_part_of_the_motion_the_ik_goes_on_outside_and_it_is_said_that_it_is_not_muted(
    ik_leg, first, last, switch_off, is_said
):
    before = poses(ik_leg)
    report = convert(ik_leg, switch_off=switch_off, frame_range="CUSTOM", frame_start=first, frame_end=last)
    assert_nothing_moved(before, poses(ik_leg))
    assert not ik_leg.pose.bones["lower"].constraints[0].mute
    said = f'IK constraint "IK" of bone "lower" also poses the limb outside frames {first} to {last}, so its influence is keyed'
    assert any(note.startswith(said) for note in report["notes"]) == is_said


@pytest.mark.parametrize("switch_off, is_said", [("MUTE", True), ("INFLUENCE", False)])
def test_where_the_limb_is_still_outside_the_ik_is_muted_and_it_is_said_that_it_is_off_there(ik_leg, switch_off, is_said):
    bpy.context.scene.frame_end = LAST + 10
    part = {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": LAST}
    before = poses(ik_leg)
    notes = convert(ik_leg, switch_off=switch_off, **part)["notes"]
    assert_nothing_moved(before, poses(ik_leg))
    assert any(f"off before frame 1 and after frame {LAST}" in note for note in notes) == is_said


def test_where_an_uneven_scale_above_shears_the_limb_the_remedy_lets_it_convert(ik_leg):
    key_channel(ik_leg.pose.bones["parent"], "rotation_quaternion", {1: (1, 0, 0, 0), LAST: (0.9, 0.3, 0.2, 0.1)})
    ik_leg.pose.bones["parent"].scale = (1.3, 0.8, 1.1)
    assert "Set Inherit Scale of both bones to Aligned first." in refusal(ik_leg, bone="lower")
    for name in ("upper", "lower"):
        ik_leg.data.bones[name].inherit_scale = "ALIGNED"
    before = poses(ik_leg)
    convert(ik_leg, bone="lower")
    assert_nothing_moved(before, poses(ik_leg))
