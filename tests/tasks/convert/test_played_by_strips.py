"""An action converted alone that strips play scaled, reversed or from between frames: the sentence says what the scene shows."""

import json
import re

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.robot import robot
from tests.tasks.scenes import set_range

LAST = 60
METERS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}

STRIPS = {
    "scaled": {"scale": 1.5},
    "reversed": {"scale": 1.5, "use_reverse": True},
    "repeated": {"scale": 0.7, "repeat": 2.0},
    "begins between frames": {"frame_start": 5.4},
    "as it is": {},
}


def places(rig):
    bones, found = [f"{part}Leg{side}" for part in ("Upper", "Lower") for side in "LR"], []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        ends = [end for name in bones for end in (seen.pose.bones[name].head, seen.pose.bones[name].tail)]
        found.append([tuple(seen.matrix_world @ end) for end in ends])
    return np.array(found)


@pytest.fixture
def played(empty_file):
    """A robot on IK whose feet are fast."""
    rig = robot(farther=2.0)
    set_range(1, LAST)
    return rig


def play_by_strip(rig, **how):
    data = rig.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    action.use_fake_user = True
    data.action = None
    strip = data.nla_tracks.new().strips.new("strip", 5, action)
    if slot is not None:
        strip.action_slot = slot
    for name, value in how.items():
        setattr(strip, name, value)
    return action


@pytest.mark.parametrize("how", STRIPS.values(), ids=STRIPS)
def test_the_distance_that_is_said_is_the_one_that_the_scene_shows(played, how):
    play_by_strip(played, **how)
    before = places(played)
    bpy.context.view_layer.objects.active = played
    assert bpy.ops.twobone.convert_ik(armature="Robot", actions="Walk") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    moved = np.linalg.norm(places(played) - before, axis=-1).max()
    said = [(float(number), unit) for number, unit in re.findall(r"([0-9.]+) (mm|cm|m)\b", report["sentence"])]
    assert moved <= 1.1 * max(number * METERS[unit] for number, unit in said) + 1e-5
    assert max(chain["max_moved"] for chain in report["chains"]) >= moved - 1e-5


@pytest.mark.parametrize("muted", ["track", "strip"])
def test_a_muted_strip_shows_nothing(played, muted):
    action = play_by_strip(played, frame_start=5.4)
    track = played.animation_data.nla_tracks[0]
    (track if muted == "track" else track.strips[0]).mute = True
    played.animation_data.action = action
    bpy.context.view_layer.objects.active = played
    assert bpy.ops.twobone.convert_ik(armature="Robot") == {"FINISHED"}
    assert "strip" not in json.loads(bpy.context.window_manager.twobone_report)["sentence"]
