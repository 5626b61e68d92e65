"""Another character's limb drives one of other proportions, as Blender evaluates both."""

import json
import math

import bpy
import numpy as np
import pytest

import twobone_addon
from tests.pipeline.live.live_scene import needs_nodes
from tests.tasks.scenes import BoneShape, build_armature, key_channel
from twobone_addon.pipeline.live import go_live
from twobone_addon.scene.writer import Transaction
from twobone_addon.settings import BakeSettings

FIRST, LAST = 1, 24
SEEN = 1e-5
"""Metres."""


def leg_bones(size, place, tilt=0.0):
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
    tall = build_armature(leg_bones(1.0, (0, 0, 1)), "Tall")
    short = build_armature(leg_bones(0.6, (2, 1, 0.6), tilt=0.1), "Short")
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


@pytest.mark.parametrize("shown", [FIRST, 12])
def test_a_foot_turns_with_the_object_it_follows_whatever_frame_is_shown(characters, shown):
    """The tall one walks a curve: its object turns by a right angle, and starts turned. Both rest poses face that way then."""
    tall, short = characters
    key_channel(tall, "rotation_euler", {FIRST: (0, 0, 0.4), LAST: (0, 0, 0.4 + np.pi / 2)})
    short.rotation_euler = (0, 0, 0.4)
    bpy.context.scene.frame_set(shown)
    bake(target_root_bone="thigh", target_scale=0.0, end_rotation="TARGET")
    at_rest = [np.array(each.data.bones["foot"].matrix_local)[:3, :3] for each in (tall, short)]
    turned = [read(each, "foot")[:, :3, :3] @ rest.T for each, rest in zip((tall, short), at_rest, strict=True)]
    assert np.abs(turned[0] - turned[1]).max() <= 1e-4
    assert np.abs(ways(short) - 0.6 * ways(tall)).max() <= SEEN


LEFT_LEG = {
    "armature": "Short", "upper": "thigh.L", "lower": "shin.L", "tip": "foot.L", "tip_end": "HEAD", "target": "Tall",
    "target_bone": "foot.L", "target_root_bone": "thigh.L", "target_scale": 0.0, "plane": "POSE", "end_rotation": "TARGET",
}  # fmt: skip


def facing_apart(facing):
    """Two characters of which the tall one is turned by `facing` and walks with its left leg."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    tall, short = whole_character("Tall", 1.0, (0, 0, 0)), whole_character("Short", 1.0, (3, 0, 0))
    tall.rotation_euler.z = facing
    for name, pitch in (("thigh.L", 0.5), ("shin.L", 0.4), ("foot.L", -0.3)):
        tall.pose.bones[name].rotation_mode = "XYZ"
        key_channel(tall.pose.bones[name], "rotation_euler", {FIRST: (-pitch, 0.1, 0), 12: (pitch, 0, 0.05), LAST: (0, 0.1, 0)})
    return tall, short


@pytest.mark.parametrize("stored", [False, True], ids=["found by their names", "stored"])
@pytest.mark.parametrize("degrees", [90, 180])
def test_a_source_that_faces_another_way_is_followed_by_its_heading(empty_file, degrees, stored):
    """As imports that face +X or +Y do; the feet turn about their own axes as well."""
    facing = math.radians(degrees)
    tall, short = facing_apart(facing)
    if stored:
        for character in (tall, short):
            bpy.ops.twobone.find_limbs(armature=character.name)
    bpy.ops.twobone.bake(**LEFT_LEG, reference="POSE")
    back = np.array([[math.cos(facing), math.sin(facing), 0], [-math.sin(facing), math.cos(facing), 0], [0, 0, 1]])
    followed, source = (read(each, "foot.L") - read(each, "thigh.L") for each in (short, tall))
    assert np.ptp(followed[:, :3, 3], axis=0).max() > 0.2
    assert np.abs(followed[:, :3, 3] - source[:, :3, 3] @ back.T).max() <= SEEN
    turned = [read(each, "foot.L")[:, :3, :3] for each in (short, tall)]
    assert np.abs(turned[0] - back @ turned[1]).max() <= 1e-4


@needs_nodes
@pytest.mark.parametrize("offset", ["NONE", "KEEP"])
@pytest.mark.parametrize("plane", ["POSE", "POLE"])
def test_live_follows_a_source_that_faces_another_way_as_a_bake_would(empty_file, offset, plane):
    _, short = facing_apart(math.radians(70))
    short.rotation_euler = (0.1, 0.2, 0.3)
    poled = {"plane": "POLE", "pole": "Tall", "pole_bone": "shin.L"} if plane == "POLE" else {}
    settings = {**LEFT_LEG, **poled, "target_offset": offset, "target_scale": 0.8, "bend": "POSITIVE", "reference": "REST"}
    bpy.ops.twobone.bake(**settings)
    baked = read(short, "foot.L")
    twobone_addon.clear_baked(armature="Short", upper="thigh.L", lower="shin.L", tip="foot.L", end_rotation="TARGET")
    with Transaction() as changes, changes.noting():
        go_live(bpy.context.scene, BakeSettings(**settings))
    assert np.ptp(baked[:, :3, 3], axis=0).max() > 0.1
    assert np.abs(read(short, "foot.L") - baked).max() <= SEEN


@needs_nodes
def test_live_poses_as_a_bake_would(characters):
    _, short = characters
    chain = short.twobone.chains.add()
    chain.upper, chain.lower, chain.tip, chain.tip_end = "thigh", "shin", "foot", "HEAD"
    chain.target, chain.target_bone, chain.target_root_bone, chain.target_scale = bpy.data.objects["Tall"], "foot", "thigh", 0.0
    chain.end_rotation, chain.reference = "TARGET", "POSE"
    bpy.ops.twobone.live(state="ON")
    followed = read(short, "foot")
    bpy.ops.twobone.bake(armature="Short")
    baked = read(short, "foot")
    assert np.ptp(baked[:, :3, 3], axis=0).max() > 0.1
    assert np.abs(followed - baked).max() <= 1e-4


def test_all_limbs_of_a_walk_onto_a_character_with_shorter_arms(empty_file):
    """Arms of seven tenths and legs as long, each with one call: every frame of all four is in reach."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    walking = whole_character("Walking", 1.0, (0, 0, 0))
    whole_character("Short arms", 0.7, (1.5, 0, 0))
    for limb, swing in (("thigh.L", 0.5), ("thigh.R", -0.5), ("arm.L", -0.6), ("arm.R", 0.6)):
        bone = walking.pose.bones[limb]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {FIRST: (swing, 0, 0.1), 12: (-swing, 0, -0.1), LAST: (swing, 0, 0.1)})
    for upper, lower, tip in LIMBS:
        for side in "LR":
            upper_name, tip_name = f"{upper}.{side}", f"{tip}.{side}"
            bpy.ops.twobone.bake(
                armature="Short arms", upper=upper_name, lower=f"{lower}.{side}", tip=tip_name, tip_end="HEAD",
                target="Walking", target_bone=tip_name, target_root_bone=upper_name, target_scale=0.0,
                end_rotation="TARGET", plane="POSE",
            )  # fmt: skip
            report = report_of_one()
            assert (report["reached"], report["out_of_reach"]) == (LAST, [])
            assert report["max_distance_to_target"] <= SEEN


LIMBS = (("thigh", "shin", "foot"), ("arm", "forearm", "hand"))


def whole_character(name, arms, place):
    """Hips, a chest, legs, and arms of a size."""
    x, y, z = place
    shapes = [
        BoneShape("hips", (x, y, z + 1), (x, y, z + 1.2)),
        BoneShape("chest", (x, y, z + 1.2), (x, y, z + 1.5), "hips"),
    ]
    for side, sign in (("L", 1), ("R", -1)):
        joints = ((0.1, 0, 0.95), (0.1, -0.03, 0.5), (0.1, 0, 0.1), (0.1, -0.15, 0.02))
        reach = tuple((0.2 + arms * along, arms * back, 1.45) for along, back in ((0, 0), (0.28, 0.03), (0.53, 0), (0.65, 0)))
        for names, way, body in ((LIMBS[0], joints, "hips"), (LIMBS[1], reach, "chest")):
            heads = [(x + sign * across, y + back, z + up) for across, back, up in way]
            own = [f"{part}.{side}" for part in names]
            shapes += map(BoneShape, own, heads, heads[1:], [body, *own])
    return build_armature(shapes, name)


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
