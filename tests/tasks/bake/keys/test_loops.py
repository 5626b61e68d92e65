"""Walk cycles: an animation that goes on from its last frame to its first does so without a kink, also with few keys."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import BoneShape, add_empty, bake, build_armature, key_channel, set_range

PERIOD = 32
LEG = (
    BoneShape("upper", (0, 0, 1), (0, -0.02, 0.5)),
    BoneShape("lower", (0, -0.02, 0.5), (0, 0, 0), "upper", connected=True),
)
SMOOTH = [{"interpolation": "BEZIER"}, {"keys": "REDUCE", "tolerance": 0.001}, {"keys": "REDUCE", "tolerance": 0.005}]
SLOPE = 0.02
"""Degrees a frame between both sides of a seam that passes for smooth; a joint turns by about 5."""


@pytest.fixture
def rig(empty_file):
    set_range(1, PERIOD + 1)
    return build_armature(LEG)


def round_target(*, modifier=True, way_out=0.0):
    """A target that goes round once in `PERIOD` frames, or with a way out does not come back."""
    target = add_empty()
    for frame in range(1, PERIOD + 2, 4):
        turn = 2 * np.pi * (frame - 1) / PERIOD
        target.location = (0, 0.3 * np.sin(turn + 0.7) + way_out * frame, 0.25 + 0.12 * np.cos(turn + 0.3))
        target.keyframe_insert("location", frame=frame)
    for curve in curves_of(target):
        if modifier:
            curve.modifiers.new("CYCLES")
        curve.update()
    return target


def breaks(rig):
    """Degrees a frame by which the slopes of the leg's curves before their last and after their first key differ, the most."""
    found = []
    for curve in curves_of(rig):
        first, last = curve.keyframe_points[0], curve.keyframe_points[-1]
        after = (first.handle_right.y - first.co.y) / (first.handle_right.x - first.co.x)
        before = (last.co.y - last.handle_left.y) / (last.co.x - last.handle_left.x)
        found.append(abs(after - before))
    return np.degrees(max(found))


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
@pytest.mark.parametrize("more", SMOOTH, ids=str)
def test_a_target_that_repeats_makes_a_loop(rig, mode, more):
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    round_target()
    report = bake(RIG, target="Target", plane="YZ", bend="POSITIVE", **more)
    assert breaks(rig) <= SLOPE
    assert report["max_drift"] <= more.get("tolerance", 0.0)
    assert report["max_drift_middle"] <= more.get("tolerance", 0.0)
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", loop="OFF", **more)
    assert breaks(rig) > SLOPE


def test_the_seam_is_as_smooth_as_the_same_frame_inside_a_longer_bake(rig):
    round_target()
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    own = {(curve.data_path, curve.array_index): curve.keyframe_points[0] for curve in curves_of(rig)}
    slopes = {place: (key.handle_right.y - key.co.y) / (key.handle_right.x - key.co.x) for place, key in own.items()}
    set_range(1, 2 * PERIOD + 1)
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    for curve in curves_of(rig):
        key = curve.keyframe_points[PERIOD]
        inside = (key.handle_right.y - key.co.y) / (key.handle_right.x - key.co.x)
        assert slopes[curve.data_path, curve.array_index] == pytest.approx(inside, abs=np.radians(0.02))


def test_what_repeats_is_seen_on_the_chain_and_on_its_action_as_well(rig):
    round_target(modifier=False)
    for bone in rig.pose.bones:
        for frame in (1, PERIOD + 1):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.use_frame_range = rig.animation_data.action.use_cyclic = True
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    assert breaks(rig) <= SLOPE
    rig.animation_data.action.use_cyclic = False
    for curve in curves_of(rig):
        curve.modifiers.new("CYCLES")
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    assert breaks(rig) <= SLOPE
    assert all(len(curve.modifiers) == 1 for curve in curves_of(rig))


@pytest.mark.parametrize("loop, smooth", [("AUTO", False), ("ON", True), ("OFF", False)])
def test_a_way_that_does_not_come_back_is_no_loop_unless_asked_for(rig, loop, smooth):
    round_target(way_out=0.005)
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER", loop=loop)
    assert (breaks(rig) <= SLOPE) == smooth


@pytest.mark.parametrize("repeats", [True, False])
def test_a_way_there_and_back_is_a_loop_only_where_it_is_made_to_repeat(rig, repeats):
    target = add_empty()
    for frame, height in ((1, 0.2), (PERIOD // 2 + 1, 0.6), (PERIOD + 1, 0.2)):
        target.location = (0, 0.1, height)
        target.keyframe_insert("location", frame=frame)
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
        if repeats:
            curve.modifiers.new("CYCLES")
        curve.update()
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    assert (breaks(rig) <= SLOPE) == repeats


def test_a_target_gets_a_loop_from_a_chain_that_has_one(rig):
    round_target()
    bake(RIG, target="Target", plane="YZ", bend="POSITIVE", interpolation="BEZIER")
    bpy.data.objects.remove(bpy.data.objects["Target"])
    target = add_empty()
    for curve in curves_of(rig):
        curve.modifiers.new("CYCLES")
    made = bpy.ops.twobone.bake_target(**RIG.names(), target=target.name, plane="YZ", interpolation="BEZIER")
    assert made == {"FINISHED"}
    for curve in curves_of(target):
        first, last = curve.keyframe_points[0], curve.keyframe_points[-1]
        after = (first.handle_right.y - first.co.y) / (first.handle_right.x - first.co.x)
        before = (last.co.y - last.handle_left.y) / (last.co.x - last.handle_left.x)
        assert after == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("keys", ["TARGET_KEYS", "CHAIN_KEYS"])
@pytest.mark.parametrize("within", [(1, 25), (-3, 25), (1, 30), (-3.5, 29.5)], ids=str)
def test_a_loop_over_keys_inside_the_range_goes_on_from_the_last_to_the_first(rig, keys, within):
    target = add_empty()
    for step in range(9):
        turn = 2 * np.pi * step / 8
        key_channel(target, "location", {1 + 3 * step: (0, 0.3 * np.cos(turn), 0.3 + 0.12 * np.sin(turn))})
    for bone in rig.pose.bones:
        key_channel(bone, "rotation_quaternion", {1 + 3 * step: (1, 0.01 * step, 0, 0) for step in range(9)})
    call = {"target": "Target", "plane": "YZ", "bend": "POSITIVE", "keys": keys, "interpolation": "BEZIER"}
    custom = {"frame_range": "CUSTOM", "frame_start": within[0], "frame_end": within[1]}
    bake(RIG, **call, **custom, loop="ON")
    assert breaks(rig) <= SLOPE
    assert [key.co.x for key in curves_of(rig)[0].keyframe_points] == [1 + 3 * step for step in range(9)]
    bake(RIG, **call, **custom, loop="OFF")
    assert breaks(rig) > SLOPE
