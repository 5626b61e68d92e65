"""A library of actions converted in one call: every action moves as before, and what cannot be converted is named."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs import many_actions
from tests.tasks.rigs.many_actions import BROKEN, DRIVEN, LIMBS, LOCKED, character, clear_pose, frames_of, moved, play, poses_of

TOLERANCE = 0.25e-3
"""Metres, of a figure of two metres."""


@pytest.fixture
def hero(empty_file):
    rig = character()
    names = many_actions.with_library(rig)
    return rig, {name: poses_of(rig, name) for name in names}


def convert(**settings):
    assert bpy.ops.twobone.convert_ik(armature="Hero", **settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def ik_of(rig, limb):
    return rig.pose.bones[f"lower {limb}"].constraints["IK"]


def unmoved(rig, before, names=None):
    """Farthest that any bone moved, by action."""
    return {name: moved(before[name], poses_of(rig, name)) for name in names or before}


def properties_of(name):
    action = bpy.data.actions[name]
    return action.use_frame_range, action.use_cyclic, action.frame_start, action.frame_end


def test_every_action_moves_as_before_and_the_ik_is_off(hero):
    rig, before = hero
    play(rig, "Act 03")
    report = convert(actions="ALL")
    done = {(entry["action"], entry["bone"]) for entry in report["chains"]}
    assert done == {(name, f"lower {limb}") for name in before for limb in LIMBS} - {(LOCKED, "lower leg.L")}
    assert max(unmoved(rig, before).values()) <= TOLERANCE
    assert max(entry["max_moved"] for entry in report["chains"]) <= TOLERANCE
    # Not by their IK any more, where nothing needs it.
    assert all(ik_of(rig, limb).mute for limb in LIMBS if limb != "leg.L")
    for limb in LIMBS:
        rig.pose.bones[f"control {limb}"].constraints.new("LIMIT_LOCATION").use_min_z = True
    assert max(unmoved(rig, before, set(before) - {LOCKED}).values()) > 0.01  # the controls do move, the limbs do not
    for name in set(before) - {LOCKED}:
        limbs = [index for index, bone in enumerate(rig.pose.bones) if bone.name.startswith(("upper", "lower"))]
        assert moved(before[name], poses_of(rig, name), limbs) <= TOLERANCE


def test_what_cannot_be_converted_is_named_with_the_reason(hero):
    _, before = hero
    report = convert(actions="ALL")
    reasons = {}
    for entry in report["refused"]:
        reasons.setdefault(entry["reason"], set()).add(entry["action"])
    (broken,) = [reason for reason in reasons if f'"lower {BROKEN}" has no target' in reason]
    (driven,) = [reason for reason in reasons if f"upper {DRIVEN}" in reason and "driven" in reason]
    (locked,) = [reason for reason in reasons if "locked" in reason]
    assert reasons == {broken: set(before), driven: set(before), locked: {LOCKED}}
    assert [note for note in report["chains"][0]["notes"] if LOCKED in note and "locked" in note]


def test_an_ik_that_one_action_still_needs_stays_on_there(hero):
    rig, before = hero
    convert(actions="ALL")
    assert not ik_of(rig, "leg.L").mute
    play(rig, LOCKED)
    bpy.context.scene.frame_set(frames_of(LOCKED)[3])
    assert ik_of(rig, "leg.L").influence == 1
    rig.pose.bones["control leg.R"].location = (0, 0, 0)
    assert unmoved(rig, before, [LOCKED])[LOCKED] <= TOLERANCE


def test_loop_and_range_of_each_action_and_all_that_was_there_stay(hero):
    rig, before = hero
    play(rig, "Act 05")
    bpy.context.scene.frame_set(11)
    rig.pose.bones["hips"].location = (0, 0.5, 0)  # not keyed
    rig.pose.bones["pole leg.L"].location = (0.1, 0.2, 0.3)
    kept = {name: properties_of(name) for name in before}
    others = [bone for bone in rig.pose.bones if "upper" not in bone.name and "lower" not in bone.name]
    pose = {bone.name: bone.matrix_basis.copy() for bone in others}
    convert(actions="ALL")
    assert {name: properties_of(name) for name in before} == kept
    assert bpy.context.scene.frame_current == 11
    assert rig.animation_data.action.name == "Act 05"
    assert all(rig.pose.bones[name].matrix_basis == matrix for name, matrix in pose.items())
    assert rig.animation_data.use_nla


@pytest.mark.parametrize("switch_off", ["MUTE", "INFLUENCE"])
def test_converting_one_action_breaks_no_other_and_says_so(hero, switch_off):
    rig, before = hero
    play(rig, "Act 04")
    clear_pose(rig)
    frames = frames_of("Act 04")
    own = {"frame_range": "CUSTOM", "frame_start": frames[0], "frame_end": frames[-1]}
    report = convert(switch_off=switch_off, **own)
    bpy.data.actions["Act 04"].use_frame_range = True
    bpy.data.actions["Act 04"].frame_start, bpy.data.actions["Act 04"].frame_end = frames[0], frames[-1]
    assert {entry["action"] for entry in report["chains"]} == {"Act 04"}
    assert [note for note in report["chains"][0]["notes"] if "Other actions use this IK" in note]
    assert max(unmoved(rig, before).values()) <= TOLERANCE
    assert len(moving_after_controls_stop(rig, before)) == len(before) - 1


def test_beside_the_range_of_an_action_its_ik_goes_on(hero):
    rig, before = hero
    action, frames = bpy.data.actions["Act 04"], frames_of("Act 04")
    action.use_frame_range, action.frame_start, action.frame_end = True, frames[0] + 2, frames[-1] - 2
    convert(actions="ALL", switch_off="INFLUENCE")
    action.frame_start, action.frame_end = frames[0], frames[-1]
    assert max(unmoved(rig, before).values()) <= TOLERANCE


def moving_after_controls_stop(rig, before):
    """The actions whose legs go elsewhere where a control is held: those that follow their IK."""
    for limb in LIMBS:
        limit = rig.pose.bones[f"control {limb}"].constraints.new("LIMIT_LOCATION")
        limit.use_min_z = limit.use_max_z = True
        limit.min_z = limit.max_z = 1.0
    limbs = [index for index, bone in enumerate(rig.pose.bones) if bone.name.startswith("upper")]
    return {name for name in before if moved(before[name], poses_of(rig, name), limbs) > 0.01}


def test_one_action_after_the_other_is_converted_and_the_last_mutes(hero):
    rig, before = hero
    names = sorted(before)
    for curve in (play(rig, LOCKED), *many_actions.curves_in(rig))[1:]:
        curve.lock = False
    for name in names:
        convert(actions=name)
        assert ik_of(rig, "leg.L").mute == (name == names[-1])
    assert max(unmoved(rig, before).values()) <= TOLERANCE
    assert not moving_after_controls_stop(rig, before)


def test_new_actions_leave_the_old_ones_as_they_are(hero):
    rig, before = hero
    old = set(bpy.data.actions.keys())
    report = convert(actions="Act 01;Act 02", destination="NEW_ACTION")
    new = set(bpy.data.actions.keys()) - old
    assert len(new) == 2
    assert {entry["action"] for entry in report["chains"]} == new
    assert max(unmoved(rig, before).values()) <= TOLERANCE
    for name in sorted(new):
        assert moved(before[name[:6]], poses_of(rig, name)) <= TOLERANCE
    assert moving_after_controls_stop(rig, before) == set(before)


def test_strips_of_the_actions_play_what_they_played(hero):
    rig, _ = hero
    data = rig.animation_data
    data.action = None
    clear_pose(rig)
    place = 1
    for name in ("Act 00", "Act 03", "Act 07"):
        track = data.nla_tracks.new()
        strip = track.strips.new(name, place, bpy.data.actions[name])
        strip.blend_in = 4
        place = int(strip.frame_end) + 3
        strip.extrapolation = "NOTHING"
    before = over_time(rig, place)
    convert(actions="ALL")
    # Fading in, IK and FK take different ways; between strips all is at rest, without IK.
    after = over_time(rig, place)
    assert [strip.action.name for track in data.nla_tracks for strip in track.strips] == ["Act 00", "Act 03", "Act 07"]
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    whole = [frame for frame in range(1, place) if any(_plays_alone(strip, frame) for strip in strips)]
    assert len(whole) > 20
    assert data.use_nla
    assert moved(before[np.array(whole) - 1], after[np.array(whole) - 1]) <= TOLERANCE


def _plays_alone(strip, frame):
    return strip.frame_start + 4 <= frame <= strip.frame_end


def over_time(rig, end):
    found = []
    for frame in range(1, end):
        bpy.context.scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(posed.matrix_world @ bone.matrix) for bone in posed.pose.bones])
    return np.array(found)


def test_a_left_over_pose_is_said_and_in_several_actions_cleared(hero):
    rig, before = hero
    play(rig, "Act 02")
    rig.pose.bones["upper leg.R"].rotation_quaternion = (0.9, 0.1, 0.4, 0)
    bpy.context.view_layer.update()
    report = convert(actions="Act 02")
    assert not [note for entry in report["chains"] for note in entry["notes"] if "without keys" in note]
    assert unmoved(rig, before, ["Act 02"])["Act 02"] <= TOLERANCE
    play(rig, "Act 06")
    clear_pose(rig)
    rig.pose.bones["upper leg.R"].rotation_quaternion = (0.9, 0.1, 0.4, 0)
    report = convert()
    said = [entry["bone"] for entry in report["chains"] if any("without keys" in note for note in entry["notes"])]
    assert said == ["lower leg.R"]


def test_stopping_before_the_first_key_changes_nothing(hero):
    from twobone_addon.pipeline.run import run_steps
    from twobone_addon.settings.tasks import ConvertSettings
    from twobone_addon.tasks.convert.task import CONVERT

    rig, _ = hero
    play(rig, "Act 03")
    bpy.context.scene.frame_set(6)
    before = dump_file()
    steps = run_steps(bpy.context.scene, CONVERT, ConvertSettings(armature=rig.name, actions="ALL"), actions="ALL")
    parts = [next(steps) for _ in range(12)]
    assert parts == sorted(parts)
    assert 0 <= parts[0] < parts[-1] < 0.5
    steps.close()
    assert not differences(before, dump_file())


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"actions": "Act 01;Act 99"}, 'Action "Act 99" is not in this file'),
        ({"actions": " ; "}, "Use ACTIVE, ALL, or names"),
        ({"actions": "ALL", "destination": "NLA"}, "would cover each other"),
        ({"actions": "Other"}, "moves no bone of armature"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_changes(hero, settings, words):
    bpy.data.actions.new("Other")
    before = dump_file()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.twobone.convert_ik(armature="Hero", **settings)
    assert not differences(before, dump_file())


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="before Blender 4.4 an action animates one thing only")
def test_targets_that_play_another_slot_of_the_action_go_along(hero):
    rig, _ = hero
    target = bpy.data.objects.new("Follow me", None)
    bpy.context.scene.collection.objects.link(target)
    ik = ik_of(rig, "arm.L")
    ik.target, ik.subtarget = target, ""
    for name, height in (("Act 00", 1.2), ("Act 01", 1.7)):
        play(rig, name)
        action = bpy.data.actions[name]
        data = target.animation_data_create()
        data.action = action
        data.action_slot = action.slots.get("OBFollow me") or action.slots.new("OBJECT", "Follow me")
        for frame in (action.frame_range[0], action.frame_range[1]):
            target.location = (0.6, 0.01 * frame, height)
            target.keyframe_insert("location", frame=frame)
    before = {}
    for name in ("Act 00", "Act 01"):
        follow(target, name)
        before[name] = poses_of(rig, name)
    play(rig, "Act 01")
    convert(actions="Act 00;Act 01")
    assert target.animation_data.action.name == "Act 01"
    for name, poses in before.items():
        follow(target, name)
        assert moved(poses, poses_of(rig, name)) <= TOLERANCE


def follow(target, name):
    target.animation_data.action = bpy.data.actions[name]
    target.animation_data.action_slot = bpy.data.actions[name].slots["OBFollow me"]
