"""What a bake says about its result, held against distances that the test measures by going from frame to frame."""

import json
import math
import re

import bpy
import numpy as np
import pytest

from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, key_channel, key_places, set_range
from twobone_addon.pipeline.report import between
from twobone_addon.pipeline.report.units import units_of
from twobone_addon.scene.keys.reading import motion_curves

FIRST, LAST = 1, 24
EXACT = 1e-5
"""World units: Blender's single precision on a leg two units long."""


@pytest.fixture
def leg_and_empty(empty_file):
    """The leg of the test scenes, root at (0.1, 0.2, 1.1), 1.8 long, and an empty."""
    rig = build_armature(LEG)
    set_range(FIRST, LAST)
    return rig, add_empty()


def swing(target, *, x=0.1, height=-0.3, width=0.5, period=LAST):
    places = [
        (x, 0.2 + width * math.sin(2 * math.pi * frame / period), height + 0.2 * math.cos(2 * math.pi * frame / period))
        for frame in range(FIRST, LAST + 1)
    ]
    key_places(target, places, first=FIRST)


def go_straight(thing):
    """Let an object go straight from key to key."""
    for fcurve in motion_curves(thing):
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"


def away(rig, target, times):
    """Distance of the lower bone's tail from the target at each of `times`, as the scene shows it."""
    found = []
    for time in times:
        bpy.context.scene.frame_set(math.floor(time), subframe=time - math.floor(time))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        seen = rig.evaluated_get(depsgraph)
        tip = seen.matrix_world @ seen.pose.bones["lower"].tail
        found.append((tip - target.evaluated_get(depsgraph).matrix_world.translation).length)
    return np.array(found)


def frames():
    return np.arange(FIRST, LAST + 1)


def quarters(first=FIRST, last=LAST):
    return np.array([time for time in np.arange(first, last, 0.25) if time % 1.0])


def kinds(report):
    return [statement["kind"] for statement in report["statements"]]


def counted(report):
    """How many frames each statement counts."""
    return {statement["kind"]: statement["values"].get("count") for statement in report["statements"]}


def test_a_target_beside_the_plane_is_not_called_reached(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    key_channel(target, "location", {20: (0.42, 0.3, -0.2)})
    go_straight(target)
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    measured = away(rig, target, frames())
    assert report["max_error"] < EXACT
    assert report["max_distance_to_target"] == pytest.approx(measured.max(), abs=EXACT)
    assert report["target_off_plane"] == pytest.approx(0.32, abs=EXACT)
    assert counted(report) == {"SOME_ON_TARGET": 23, "BESIDE_LETTER_PLANE": 1}
    assert report["statements"][1]["ranges"] == [[20, 20]]
    assert (
        "lower on target in 23 of 24 frames; 1 beside the plane, up to 32 cm at frame 20: use Current Pose" in report["sentence"]
    )


def test_a_chain_that_keeps_its_depth_beside_the_root_is_on_target(leg_and_empty):
    rig, target = leg_and_empty
    rig.data.bones["lower"].use_inherit_rotation = True
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["lower"].tail.x += 0.15
    bpy.ops.object.mode_set(mode="OBJECT")
    swing(target, x=0.25)
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    assert report["max_distance_to_target"] == pytest.approx(away(rig, target, frames()).max(), abs=EXACT)
    assert report["target_off_plane"] < EXACT
    assert kinds(report)[0] == "ALL_ON_TARGET"


def test_frames_out_of_reach_are_counted_and_the_farthest_is_named(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    key_channel(target, "location", {10: (0.1, 0.2, -2.0), 11: (0.1, 0.2, -3.0), 12: (0.1, 0.2, -2.5)})
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    measured = away(rig, target, frames())
    assert report["max_distance_to_target"] == pytest.approx(measured.max(), abs=EXACT)
    assert counted(report)["OUT_OF_REACH"] == np.count_nonzero(measured > 1e-3) == 3
    assert report["statements"][1]["values"]["frame"] == "11"
    assert report["statements"][1]["ranges"] == [[10, 12]]


@pytest.mark.parametrize("way", [{}, {"reach": "SOFTEN", "softness": 0.4}, {"influence": 0.5}, {"max_distance": 1.2}])
@pytest.mark.parametrize("x", [0.1, 0.3])
def test_every_frame_is_counted_once_and_only_what_is_on_target_counts_as_that(leg_and_empty, way, x):
    rig, target = leg_and_empty
    swing(target, x=x, height=-0.5, width=0.9)
    report = bake(Limb("Rig"), target="Target", plane="YZ", **way)
    measured = away(rig, target, frames())
    counts = counted(report)
    on = LAST if "ALL_ON_TARGET" in counts else counts.pop("SOME_ON_TARGET", 0)
    counts.pop("NONE_ON_TARGET", None)
    counts.pop("BETWEEN", None)
    assert on == np.count_nonzero(measured < 2e-4)
    assert on + sum(counts.values()) == LAST


def test_something_else_that_moves_the_bones_is_said(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    rig.pose.bones["lower"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    rig.pose.bones["lower"].constraints[0].owner_space = "LOCAL"
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    assert report["max_distance_to_target"] == pytest.approx(away(rig, target, frames()).max(), abs=EXACT)
    assert "OTHERWISE" in kinds(report)


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize("period", [24, 7])
@pytest.mark.parametrize("evaluation", ["AUTO", "SCENE"])
def test_every_quarter_between_the_frames_is_measured(leg_and_empty, interpolation, period, evaluation):
    rig, target = leg_and_empty
    swing(target, period=period)
    report = bake(Limb("Rig"), target="Target", plane="YZ", interpolation=interpolation, evaluation=evaluation)
    assert report["between_frames"] == pytest.approx(away(rig, target, quarters()).max(), abs=EXACT)


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize("period", [24, 7])
@pytest.mark.parametrize("least", [2, 6])
def test_of_a_take_too_long_for_that_the_worst_is_found(leg_and_empty, monkeypatch, interpolation, period, least):
    monkeypatch.setattr(between, "AFFORDABLE_OURSELVES", 0)
    monkeypatch.setattr(between, "LEAST", least)
    rig, target = leg_and_empty
    swing(target, period=period)
    report = bake(Limb("Rig"), target="Target", plane="YZ", interpolation=interpolation)
    assert report["between_frames"] == pytest.approx(away(rig, target, quarters()).max(), rel=0.05, abs=EXACT)


def test_each_stretch_between_keys_in_which_the_tip_is_off_is_listed(leg_and_empty):
    rig, target = leg_and_empty
    for frame, y in ((1, -0.5), (5, -0.2), (9, -0.5), (17, -0.5), (20, -0.1), (24, -0.5)):
        key_channel(target, "location", {frame: (0.1, y, -0.2)})
    report = bake(Limb("Rig"), target="Target", plane="YZ", step=8)
    (said,) = [statement for statement in report["statements"] if statement["kind"] == "BETWEEN"]
    every = np.sort(np.concatenate([frames(), quarters()]))
    off = every[away(rig, target, every) > 2e-3]
    assert said["ranges"] == [[off[off < 9].min(), off[off < 9].max()], [off[off > 17].min(), off[off > 17].max()]]
    assert float(said["values"]["frame"]) in off


@pytest.mark.parametrize("way", [{"keys": "TARGET_KEYS"}, {"step": 8}])
def test_the_frames_between_keys_are_measured(leg_and_empty, way):
    rig, target = leg_and_empty
    for frame, y in ((1, -0.5), (9, 0.9), (17, -0.4), (24, 0.6)):
        key_channel(target, "location", {frame: (0.1, y, -0.2)})
    report = bake(Limb("Rig"), target="Target", plane="YZ", **way)
    every = np.sort(np.concatenate([frames(), quarters()]))
    measured = away(rig, target, every)
    assert report["max_distance_to_target"] < EXACT
    assert report["between_frames"] == pytest.approx(measured.max(), rel=0.02)
    assert kinds(report) == ["ALL_ON_TARGET", "BETWEEN"]
    worst = report["statements"][1]
    assert abs(away(rig, target, [float(worst["values"]["frame"])])[0] - report["between_frames"]) < EXACT


def test_a_target_that_jumps_aside_between_two_frames_is_noticed(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    key_channel(target, "location", {15.5: (0.1, 1.0, 0.4)})
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    assert report["max_distance_to_target"] < EXACT
    assert report["between_frames"] == pytest.approx(away(rig, target, quarters()).max(), abs=EXACT)
    assert kinds(report) == ["ALL_ON_TARGET", "BETWEEN"]
    assert "frame 15.5" in report["sentence"]


def test_reduced_keys_are_on_target_within_their_tolerance(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    report = bake(Limb("Rig"), target="Target", plane="YZ", keys="REDUCE", tolerance=0.01)
    assert report["max_distance_to_target"] == pytest.approx(away(rig, target, frames()).max(), abs=EXACT)
    assert kinds(report) == ["ALL_WITHIN"]


def test_of_several_chains_the_farthest_one_says_how_far_all_are_from_their_targets(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    for tolerance in (0.01, 0.001):
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target = f"{tolerance}", "upper", "lower", target
        chain.plane, chain.keys, chain.tolerance = "YZ", "REDUCE", tolerance
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.bake_all(last_wins=True) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    (distance,) = re.findall(r"all within ([\d.]+ \w+) of their targets", report["sentence"])
    assert distance == units_of(bpy.context.scene).text(report["max_distance_to_target"])


def test_without_verification_nothing_is_claimed(leg_and_empty):
    _, target = leg_and_empty
    swing(target)
    report = bake(Limb("Rig"), target="Target", plane="YZ", verify=False)
    assert [report[name] for name in ("max_distance_to_target", "target_off_plane", "between_frames")] == [None] * 3
    assert "not measured" in report["sentence"]


def test_one_frame_has_nothing_between(leg_and_empty):
    _, target = leg_and_empty
    swing(target)
    set_range(5, 5)
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    assert report["between_frames"] is None
    assert report["max_distance_to_target"] < EXACT


@pytest.mark.parametrize(
    "system, length_unit, scale, said",
    [
        ("METRIC", "ADAPTIVE", 1.0, "32 cm"),
        ("METRIC", "METERS", 1.0, "32 cm"),
        ("METRIC", "MILLIMETERS", 1.0, "320 mm"),
        ("METRIC", "ADAPTIVE", 0.01, "3.2 mm"),
        ("IMPERIAL", "ADAPTIVE", 1.0, "1 ft"),
        ("NONE", "", 1.0, "0.32 units"),
    ],
)
def test_distances_are_told_in_scene_units_and_never_as_powers_of_ten(leg_and_empty, system, length_unit, scale, said):
    _, target = leg_and_empty
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    if length_unit:
        units.length_unit = length_unit
    swing(target)
    key_channel(target, "location", {20: (0.42, 0.3, -0.2)})
    go_straight(target)
    sentence = bake(Limb("Rig"), target="Target", plane="YZ")["sentence"]
    assert f"up to {said} at frame 20" in sentence
    assert not re.search(r"\de[-+]\d", sentence)


def test_the_whole_of_several_chains_is_the_worst_of_them(leg_and_empty):
    rig, target = leg_and_empty
    swing(target)
    other = add_empty("Other")
    swing(other, x=0.5)
    second = build_armature(LEG, "Second")
    for thing, goal in ((rig, target), (second, other)):
        chain = thing.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target, chain.plane = thing.name, "upper", "lower", goal, "YZ"
    assert bpy.ops.twobone.bake_all(scope="SCENE") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    near, far = report["chains"]
    assert near["target_off_plane"] < EXACT
    assert far["target_off_plane"] == pytest.approx(0.4, abs=1e-3)
    for name in ("max_distance_to_target", "target_off_plane", "between_frames"):
        assert report[name] == max(near[name], far[name])


def test_one_frame_is_not_counted(leg_and_empty):
    swing(leg_and_empty[1])
    said = bake(Limb("Rig"), target="Target", plane="YZ", frame_range="CUSTOM", frame_start=5, frame_end=5)["sentence"]
    assert re.match(r"lower on target \(< [\d.]+ mm\); ", said)
