"""Another character's limb drives one of other proportions, as Blender evaluates both."""

import json

import bpy
import numpy as np
import pytest

from tests.baking.scenes import BoneShape, build_armature, key_channel

FIRST, LAST = 1, 24
SEEN = 1e-5
"""Metres."""


def leg(size, place, tilt=0.0):
    """Bones of a leg of a size, its root joint at a place; the foot may be tilted at rest."""
    root = np.array(place)

    def at(*way):
        return tuple(root + size * np.array(way))

    return (
        BoneShape("hips", at(0, 0, 0.1), at(0, 0, 0.3)),
        BoneShape("thigh", at(0, 0, 0), at(0, -0.05, -0.45), "hips"),
        BoneShape("shin", at(0, -0.05, -0.45), at(0, 0, -0.9), "thigh"),
        BoneShape("foot", at(0, 0, -0.9), at(0, -0.2, -0.9 - tilt), "shin"),
    )


@pytest.fixture
def characters(empty_file):
    """A tall one that walks on, and a short one that stands elsewhere and has moving hips."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    tall = build_armature(leg(1.0, (0, 0, 1)), "Tall")
    short = build_armature(leg(0.6, (2, 1, 0.6), tilt=0.1), "Short")
    for name, axis in (("thigh", 0.5), ("shin", 0.4), ("foot", -0.3)):
        bone = tall.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {FIRST: (-axis, 0.1, 0), 12: (axis, 0, 0.05), LAST: (-axis, 0.1, 0)})
    key_channel(tall.pose.bones["hips"], "location", {FIRST: (0, 0, 0), LAST: (0, 0, 0.8)})
    key_channel(short.pose.bones["hips"], "location", {FIRST: (0, 0, 0), LAST: (0.3, 0, 0.2)})
    return tall, short


def bake(**settings):
    names = {"armature": "Short", "upper": "thigh", "lower": "shin", "tip": "foot", "tip_end": "HEAD"}
    whole = {"target": "Tall", "target_bone": "foot", "plane": "POSE", "reference": "POSE"}
    bpy.ops.twobone.bake(**(names | whole | settings))


def read(character, bone):
    """World matrices `(F, 4, 4)` of a bone at every frame."""
    found = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        posed = character.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.array(posed.matrix_world @ posed.pose.bones[bone].matrix))
    return np.array(found)


def ways(character):
    """From the root joint to the ankle, `(F, 3)`, world."""
    return read(character, "foot")[:, :3, 3] - read(character, "thigh")[:, :3, 3]


@pytest.mark.parametrize("asked, scale", [(0.0, 0.6), (0.5, 0.5)], ids=["by the lengths", "by a number"])
def test_the_ankle_goes_the_scaled_way_from_the_hip(characters, asked, scale):
    tall, short = characters
    bake(target_root_bone="thigh", target_scale=asked)
    assert np.abs(ways(short) - scale * ways(tall)).max() <= SEEN


def test_the_report_measures_at_the_scaled_place(characters):
    bake(target_root_bone="thigh", target_scale=0.0)
    report = report_of_one()
    assert report["reached"] == LAST
    assert report["max_distance_to_target"] <= SEEN
    assert "all 24 frames" in report["sentence"]


def test_without_it_the_short_leg_cannot_reach(characters):
    bake()
    assert report_of_one()["reached"] < LAST


def test_the_pole_is_scaled_as_well(characters):
    tall, short = characters
    bake(target_root_bone="thigh", target_scale=0.0, plane="POLE", pole="Tall", pole_bone="shin", reference="REST")
    knees = [read(each, "shin")[:, :3, 3] - read(each, "thigh")[:, :3, 3] for each in (short, tall)]
    assert np.abs(knees[0] - 0.6 * knees[1]).max() <= 10 * SEEN


def test_the_foot_turns_from_its_own_rest_as_the_other_does_from_its_rest(characters):
    tall, short = characters
    bake(target_root_bone="thigh", target_scale=0.0, end_rotation="TARGET")
    at_rest = [np.array(each.data.bones["foot"].matrix_local)[:3, :3] for each in (tall, short)]
    turned = [read(each, "foot")[:, :3, :3] @ rest.T for each, rest in zip((tall, short), at_rest, strict=True)]
    assert np.abs(turned[0] - turned[1]).max() <= 1e-4


def test_a_second_bake_changes_nothing(characters):
    _, short = characters
    bake(target_root_bone="thigh", target_scale=0.0)
    before = read(short, "foot")
    bake(target_root_bone="thigh", target_scale=0.0)
    assert np.abs(read(short, "foot") - before).max() == 0.0


@pytest.mark.parametrize(
    "settings, hint",
    [
        ({"target_scale": 0.5}, "no Target Root Bone"),
        ({"target_root_bone": "thing"}, "thing"),
        ({"target_root_bone": "foot", "target_scale": 0.0}, "no length"),
    ],
)
def test_what_has_no_meaning_is_refused(characters, settings, hint):
    with pytest.raises(RuntimeError, match=hint):
        bake(**settings)


def report_of_one():
    return json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
