"""Baking again changes nothing, also where a bake starts from the pose that the last one left; what is asked anew is done."""

import random

import bpy
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.random_rig import build_random_rig, build_random_target
from tests.tasks.scenes import LEG, STRAIGHT_LEG, add_empty, bake, build_armature, key_channel, set_range

SEEDS = range(12)
POSED = {"plane": "POSE", "reference": "POSE"}
LEG_SETTINGS = [
    {"plane": plane, "reference": reference, "bend": bend, **keys}
    for plane in ("POSE", "REST", "POLE", "YZ")
    for reference in ("REST", "POSE")
    for bend in ("POSITIVE", "KEEP")
    for keys in ({"keys": "REDUCE"}, {"interpolation": "BEZIER"}, {})
]


def bake_limb(limb, target, **settings):
    names = {**limb.names(), "tip": limb.carrier, "tip_end": "TAIL", "target": target.name}
    whole = {"frame_range": "CUSTOM", "frame_start": 1.0, "frame_end": 6.0}
    bpy.ops.twobone.bake(**names, **whole, **settings)


def key_count(rig):
    return max(len(curve.keyframe_points) for curve in curves_of(rig))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "settings",
    [
        {**POSED, "keys": "REDUCE"},
        {**POSED, "interpolation": "BEZIER"},
        {**POSED},
        {"plane": "YZ", "bend": "POSITIVE", "reference": "POSE", "keys": "REDUCE"},
        {"plane": "YZ", "bend": "POSITIVE", "reference": "POSE"},
    ],
    ids=["reduced", "smooth", "every frame", "reduced in a letter plane", "every frame in a letter plane"],
)
def test_a_second_bake_of_a_random_rig_changes_nothing(empty_file, seed, settings):
    dice = random.Random(f"twice/{seed}")  # noqa: S311 - the same dice every time
    rig, limb, even = build_random_rig(dice)
    target = build_random_target(rig, limb, dice)
    if not even:
        pytest.skip("under uneven scale the pose itself is searched")
    bake_limb(limb, target, **settings)
    before = dump_file()
    bake_limb(limb, target, **settings)
    assert differences(before, dump_file()) == []


@pytest.fixture
def rig(empty_file):
    set_range()
    made = build_armature()
    key_channel(made.pose.bones["parent"], "location", {1: (0, 0, 0), 12: (0.1, 0.3, 0), 24: (0, 0, 0.2)})
    return made


@pytest.mark.parametrize("out_of_reach", [False, True])
@pytest.mark.parametrize("asked", LEG_SETTINGS, ids=lambda asked: " ".join(asked.values()))
def test_a_second_bake_of_a_leg_changes_nothing(rig, asked, out_of_reach):
    target = circling_target(rig, RIG)
    target.delta_location = (0.0, 0.4, 0.3) if out_of_reach else (0.0, 0.0, 0.0)
    settings = {"target": target.name, **asked}
    if asked["plane"] == "POLE":
        pole = add_empty("Pole")
        pole.location = (0.3, -3.0, 1.0)
        settings["pole"] = pole.name
    first = bake(RIG, **settings)["chains"][0]
    assert (first["too_far"] > 0) == out_of_reach
    before = dump_file()
    bake(RIG, **settings)
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("reach", ["CLAMP", "SOFTEN", "STRETCH"])
@pytest.mark.parametrize(
    "asked, shapes",
    [
        ({"plane": "POLE", "pole": "Pole", "reference": "POSE"}, LEG),
        ({"plane": "REST", "reference": "POSE"}, LEG),
        ({"plane": "POLE", "pole": "Pole", "reference": "REST"}, STRAIGHT_LEG),
    ],
    ids=["pole", "rest", "pole, straight at rest"],
)
def test_frames_out_of_reach_of_an_animated_leg_keep_their_twist(empty_file, asked, shapes, reach):
    """Where the limb is straight nothing but its own rotation tells which way its hinge points."""
    set_range()
    rig = build_armature(shapes)
    turns = {
        "upper": [(0.1, 0.3, 0.1), (-0.3, -0.2, 0.2), (0.3, 0.4, -0.1)],
        "lower": [(-0.4, 0.2, 0.1), (-0.3, 0.1, -0.2), (-0.2, 0.3, 0)],
    }
    for name, keyed in turns.items():
        rig.pose.bones[name].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[name], "rotation_euler", dict(zip((1, 12, 24), keyed, strict=True)))
    target = circling_target(rig, RIG)
    target.delta_location = (0.0, 0.4, 0.3)
    add_empty("Pole").location = (0.3, -3.0, 1.0)
    report = bake(RIG, target=target.name, bend="POSITIVE", reach=reach, **asked)["chains"][0]
    assert 0 < report["too_far"] < report["frames"] or reach != "CLAMP"
    before = posed(rig, ["upper", "lower"], range(1, 25))
    bake(RIG, target=target.name, bend="POSITIVE", reach=reach, **asked)
    assert degrees_between(before, posed(rig, ["upper", "lower"], range(1, 25))).max() < UNSEEN


@pytest.mark.parametrize(
    "more", [{}, {"reach": "STRETCH"}, {"keep_keys": "EXTREMES", "plane": "YZ"}, {"key_before": True, "key_after": True}]
)
def test_reduced_keys_stay_to_the_last_bit(rig, more):
    target = circling_target(rig, RIG)
    settings = {"target": target.name, **POSED, "keys": "REDUCE", **more}
    first = bake(RIG, **settings)
    before = dump_file()
    second = bake(RIG, **settings)
    assert differences(before, dump_file()) == []
    for name in ("keys", "channels"):
        assert second["chains"][0][name] == first["chains"][0][name]


def test_a_larger_tolerance_leaves_fewer_keys(rig):
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, **POSED, keys="REDUCE", tolerance=0.0005)
    before = key_count(rig)
    bake(RIG, target=target.name, **POSED, keys="REDUCE", tolerance=0.02)
    assert key_count(rig) < 0.8 * before


def test_a_smaller_tolerance_is_kept(rig):
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, **POSED, keys="REDUCE", tolerance=0.02)
    before = key_count(rig)
    bake(RIG, target=target.name, **POSED, keys="REDUCE", tolerance=0.0005)
    assert key_count(rig) > before


def test_a_full_set_of_keys_is_reduced(rig):
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, **POSED, interpolation="BEZIER")
    bake(RIG, target=target.name, **POSED, keys="REDUCE")
    assert key_count(rig) < 24


def test_a_target_that_has_moved_is_followed(rig):
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, **POSED, keys="REDUCE")
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.co.y += 0.02
        curve.update()
    report = bake(RIG, target=target.name, **POSED, keys="REDUCE")["chains"][0]
    assert report["max_error"] <= 0.001


def test_a_key_that_a_person_set_is_baked_over(rig):
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, **POSED, keys="REDUCE")
    curve = next(curve for curve in curves_of(rig) if "rotation" in curve.data_path)
    curve.keyframe_points[1].type = "EXTREME"
    bake(RIG, target=target.name, **POSED, keys="REDUCE")
    assert {key.type for key in curve.keyframe_points} == {"GENERATED"}
