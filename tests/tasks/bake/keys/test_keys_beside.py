"""Key Before and Key After: outside the range the curve is what it was, also where no key of it is near."""

import numpy as np
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.seen_walk import plant
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import bake, build_armature, key_channel

FIRST, LAST = 10, 20


def values(armature, frames):
    return {
        (curve.data_path, curve.array_index): np.array([curve.evaluate(float(frame)) for frame in frames])
        for curve in curves_of(armature)
        if curve.data_path.startswith("pose.")
    }


def interpolate(armature, interpolation):
    for curve in curves_of(armature):
        for key in curve.keyframe_points:
            key.interpolation = interpolation
        curve.update()


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER"])
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True)], ids=["both", "before", "after"])
def test_a_range_between_two_keys_leaves_what_is_outside(empty_file, interpolation, sides):
    rig = build_armature()
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[name], "rotation_euler", {1: (0, 0, 0), 60: (0.6, 0.2, -0.4), 80: (0, 0.3, 0)})
    interpolate(rig, interpolation)
    before, after = sides
    frames = np.concatenate([np.arange(-3, FIRST) if before else [], np.arange(LAST + 1, 90, 0.5) if after else []])
    was = values(rig, frames)
    target = circling_target(rig, RIG)
    custom = {"frame_range": "CUSTOM", "frame_start": FIRST, "frame_end": LAST}
    bake(RIG, target=target.name, plane="POSE", key_before=before, key_after=after, **custom)
    now = values(rig, frames)
    assert max(np.abs(now[channel] - was[channel]).max() for channel in was) < 1e-6


def test_planting_leaves_long_steps_between_keys_as_they_are(empty_file):
    armature, states = build_walker(Walk(frames=40, slide=0.02, raised=0.03))
    key_contacts(armature, states)
    root = armature.pose.bones["root"]
    key_channel(root, "location", {1: (0, 0, 0), 90: (0.1, 0, 0)})
    interpolate(armature, "CONSTANT")
    frames = np.arange(LAST + 1, 89)
    was = values(armature, frames)
    plant(root="root", ground_moves="NO", frame_range="CUSTOM", frame_start=FIRST, frame_end=LAST)
    now = values(armature, frames)
    assert max(np.abs(now[channel] - was[channel]).max() for channel in was if "location" in channel[0]) < 1e-6


OWN = {2: 0.1, 4.8: 0.5, 25.3: 0.2, 28: 0.3}
"""Keys of one's own beside the target's, which are from 5 to 25."""


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize("range_end", [25.0, 30.0])
def test_keys_just_beside_the_first_and_the_last_key_stay(empty_file, interpolation, range_end):
    rig = build_armature()
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[name], "rotation_euler", {frame: (angle, 0, 0) for frame, angle in OWN.items()})
    target = circling_target(rig, RIG)
    target.animation_data_clear()
    key_channel(target, "location", {5 + 2.5 * step: (0.1, 0.2 + 0.02 * step, -0.3 - 0.03 * step) for step in range(9)})
    custom = {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": range_end}
    bake(RIG, target=target.name, plane="YZ", keys="TARGET_KEYS", interpolation=interpolation, **custom)
    keys = curves_of(rig)[0].keyframe_points
    assert [round(key.co.x, 2) for key in keys if key.type == "KEYFRAME"] == list(OWN)
    assert [round(key.co.x, 2) for key in keys if key.type == "GENERATED"] == [5 + 2.5 * step for step in range(9)]


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize("keys", ["TARGET_KEYS", "FRAMES"])
def test_key_before_and_after_are_one_frame_beside_the_keys(empty_file, interpolation, keys):
    rig = build_armature()
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {-20: (1, 0, 0, 0), 60: (1, 0.2, 0, 0)})
    target = circling_target(rig, RIG)
    target.animation_data_clear()
    key_channel(target, "location", {5: (0.1, 0.2, -0.3), 12.5: (0.1, 0.3, -0.4), 20: (0.1, 0.4, -0.3)})
    custom = {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": 30}
    hold = {"key_before": True, "key_after": True}
    bake(RIG, target=target.name, plane="YZ", keys=keys, interpolation=interpolation, **custom, **hold)
    curve = next(curve for curve in curves_of(rig) if '"upper"' in curve.data_path)
    frames = [key.co.x for key in curve.keyframe_points]
    first, last = (5, 20) if keys == "TARGET_KEYS" else (1, 30)
    assert frames[:3:2] + frames[-3::2] == [-20, first, last, 60]
    assert (frames[1], frames[-2]) == (first - 1, last + 1)
