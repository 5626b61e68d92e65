"""What is said where one action of a library is converted over the scene's range, and where the IK is off."""

import json

import bpy
import pytest

from tests.tasks.rigs.two_actions import LAST, leg_with_two_actions
from tests.tasks.scenes import set_range

LONG = 20


@pytest.fixture
def leg_with_actions(empty_file):
    set_range(1, LONG)
    return leg_with_two_actions()


def convert(**settings):
    assert bpy.ops.twobone.convert_ik(armature="Rig", **settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def lengthened(report):
    return [note for note in report["notes"] if "had keys from" in note]


def test_the_active_action_that_gets_longer_is_named_with_both_ranges(leg_with_actions):
    (note,) = lengthened(convert())
    assert note.startswith(f'Action "Kick" had keys from 1 to {LAST}, and has some from 1 to {LONG} now.')
    assert tuple(bpy.data.actions["Kick"].frame_range) == (1, LONG)


def test_what_was_not_asked_for_is_in_the_status_bar(leg_with_actions, capfd):
    """A longer action, frames outside the range at which the IK is off as well, an IK that was off."""
    bpy.context.scene.frame_end = LONG + 10
    leg_with_actions.pose.bones["shin"].constraints["IK"].influence = 0.0
    report = convert()
    said = f"action Kick has keys from 1 to {LONG + 10} now"
    assert report["sentence"].endswith(f"curves; the IK of shin was off; {said}")
    assert report["sentence"] in capfd.readouterr().out


def test_frames_outside_a_range_at_which_the_ik_is_off_are_in_the_status_bar(leg_with_actions):
    bpy.data.actions.remove(bpy.data.actions["Step"])
    sentence = convert(frame_range="CUSTOM", frame_start=1, frame_end=LAST)["sentence"]
    assert sentence.endswith(f"; IK is also off before frame 1 and after frame {LAST}")
    assert not convert_again(leg_with_actions).endswith("as well")


def convert_again(leg_with_actions):
    leg_with_actions.pose.bones["shin"].constraints["IK"].mute = False
    return convert(frame_range="CUSTOM", frame_start=1, frame_end=LONG)["sentence"]


def test_an_action_that_is_named_keeps_its_range(leg_with_actions):
    assert not lengthened(convert(actions="Kick"))
    assert tuple(bpy.data.actions["Kick"].frame_range) == (1, LAST)


@pytest.mark.parametrize("is_alone", [True, False], ids=["only action", "range asked for"])
def test_nothing_is_said_where_the_range_is_meant(leg_with_actions, is_alone):
    if is_alone:
        bpy.data.actions.remove(bpy.data.actions["Step"])
    asked = {} if is_alone else {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": LONG}
    assert not lengthened(convert(**asked))


def test_the_sentence_counts_the_actions(leg_with_actions):
    report = convert(actions="ALL")
    sentence = f"1 chain in 2 actions baked, {report['keys']} keys; all move as on IK (within 0.1 mm at frames)"
    assert report["sentence"] == sentence


def test_an_influence_of_0_that_no_action_keys_is_refused_for_a_library(leg_with_actions):
    leg_with_actions.pose.bones["shin"].constraints["IK"].influence = 0.0
    with pytest.raises(RuntimeError, match=r'IK constraint "IK" of bone "shin" is off \(influence 0\), and no key'):
        convert(actions="ALL")
    assert not leg_with_actions.pose.bones["shin"].constraints["IK"].mute


def test_an_influence_of_0_is_said_of_the_active_action(leg_with_actions):
    leg_with_actions.pose.bones["shin"].constraints["IK"].influence = 0.0
    notes = convert()["notes"]
    assert 'IK constraint "IK" of bone "shin" is off (influence 0), so the bones were keyed as they are without it.' in notes


def test_an_action_that_keys_its_ik_on_is_converted_beside_one_that_does_not(leg_with_actions):
    ik = leg_with_actions.pose.bones["shin"].constraints["IK"]
    ik.keyframe_insert("influence", frame=1)
    bpy.context.view_layer.update()
    ik.influence = 0.0
    report = convert(actions="ALL")
    assert {chain["action"] for chain in report["chains"]} == {"Kick"}
    assert {each["action"] for each in report["refused"]} == {"Step"}
    assert report["sentence"].endswith("; some limbs failed in Step")
