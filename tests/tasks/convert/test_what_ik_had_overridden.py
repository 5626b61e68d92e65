"""Constraints below an IK that would take over once it is off: they go with it and that is said, or the limb is refused."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range

HIP, KNEE, ANKLE, TOE = (0.1, 0, 1), (0.1, -0.05, 0.55), (0.1, 0, 0.1), (0.1, -0.15, 0.02)
LAST = 20
LENGTH = 0.9
SEEN = ("upper", "lower", "foot")


def limb():
    shapes = (
        BoneShape("root", (0, 0, 0), (0, 0, 0.3)),
        BoneShape("upper", HIP, KNEE, "root"),
        BoneShape("lower", KNEE, ANKLE, "upper", connected=True),
        BoneShape("foot", ANKLE, TOE, "lower", connected=True),
        BoneShape("goal", ANKLE, (0.1, 0.2, 0.1)),
        BoneShape("other", (0.3, -0.3, 0.5), (0.3, -0.3, 0.7)),
    )
    rig = build_armature(shapes)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    ik = rig.pose.bones["lower"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.iterations = rig, "goal", 2, 500
    set_range(1, LAST)
    for frame in range(1, LAST + 1):
        swing = math.sin(frame / 3)
        key_channel(rig.pose.bones["goal"], "location", {frame: (0.08 * swing, 0.2 * swing, 0.15 + 0.08 * swing)})
        key_channel(rig.pose.bones["other"], "rotation_quaternion", {frame: tuple(Euler((swing, 0.3, 0)).to_quaternion())})
    return rig


def limited(rig):
    limit = rig.pose.bones["lower"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, 1.0, 1.2, "LOCAL"
    return limit


def following(kind, bone):
    def add(rig):
        constraint = rig.pose.bones[bone].constraints.new(kind)
        constraint.target, constraint.subtarget = rig, "other"
        if kind == "IK":
            constraint.chain_count = 1
        if kind == "LOCKED_TRACK":
            constraint.track_axis, constraint.lock_axis = "TRACK_Z", "LOCK_Y"
        return constraint

    add.__name__ = f"{kind} of {bone}"
    return add


def poses(rig):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in SEEN])
    return np.array(found)


TAKING_OVER = [
    limited,
    *(following(kind, bone) for kind in ("COPY_ROTATION", "DAMPED_TRACK", "LOCKED_TRACK") for bone in ("upper", "lower")),
    following("IK", "upper"),
]


@pytest.mark.parametrize("add", TAKING_OVER, ids=lambda add: add.__name__)
@pytest.mark.parametrize("switch_off", ["MUTE", "INFLUENCE"])
def test_it_is_switched_off_with_the_ik_and_that_is_said(empty_file, add, switch_off):
    rig = limb()
    constraint = add(rig)
    before = poses(rig)
    assert bpy.ops.twobone.convert_ik(bone="lower", switch_off=switch_off) == {"FINISHED"}
    after = poses(rig)
    assert np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1).max() < 3e-4 * LENGTH
    assert np.abs(after[..., :3, :3] - before[..., :3, :3]).max() < 2e-3
    assert constraint.mute if switch_off == "MUTE" else constraint.influence == 0.0
    (chain,) = json.loads(bpy.context.window_manager.twobone_report)["chains"]
    assert any(f'"{constraint.name}"' in said and "had overridden it" in said for said in chain["notes"])


def test_one_that_changes_nothing_stays_on(empty_file):
    rig = limb()
    limit = limited(rig)
    limit.min_x, limit.max_x = -3.0, 3.0
    before = poses(rig)
    assert bpy.ops.twobone.convert_ik(bone="lower") == {"FINISHED"}
    assert np.linalg.norm(poses(rig)[..., :3, 3] - before[..., :3, 3], axis=-1).max() < 3e-4 * LENGTH
    assert not limit.mute


def test_a_longer_ik_over_the_same_bones_is_named_and_nothing_changes(empty_file):
    rig = limb()
    longer = rig.pose.bones["foot"].constraints.new("IK")
    longer.target, longer.subtarget, longer.chain_count, longer.influence = rig, "other", 3, 0.5
    before = poses(rig)
    with pytest.raises(RuntimeError, match=r'Bone ".*" would move by .* at frame \d+.*Nothing was changed'):
        bpy.ops.twobone.convert_ik(bone="lower")
    np.testing.assert_array_equal(poses(rig), before)
    assert not rig.pose.bones["lower"].constraints["IK"].mute


SCALING = {"STRETCH_TO": 'on which .*"Stretch To" acts', "MAINTAIN_VOLUME": "scale keys cannot reproduce"}
"""Constraints that would scale a bone once more on top of its keys, and how they are refused."""


@pytest.mark.parametrize("kind", ["STRETCH_TO", "MAINTAIN_VOLUME", "LIMIT_SCALE", "COPY_SCALE"])
def test_one_that_scales_a_bone_on_top_of_the_keys_moves_nothing_or_is_refused_by_name(empty_file, kind):
    rig = limb()
    constraint = rig.pose.bones["lower"].constraints.new(kind)
    if kind in {"STRETCH_TO", "COPY_SCALE"}:
        constraint.target, constraint.subtarget = rig, "goal"
    if kind == "STRETCH_TO":
        constraint.rest_length = 0.3
    if kind == "MAINTAIN_VOLUME":
        constraint.volume = 1.5
    if kind == "LIMIT_SCALE":
        constraint.use_max_y, constraint.max_y = True, 0.8
    if kind == "COPY_SCALE":
        key_channel(rig.pose.bones["goal"], "scale", {1: (1, 1, 1), LAST: (1.2, 1.5, 1.2)})
    before = poses(rig)
    if kind in SCALING:
        with pytest.raises(RuntimeError, match=SCALING[kind]):
            bpy.ops.twobone.convert_ik(bone="lower")
        assert not rig.pose.bones["lower"].constraints["IK"].mute
    else:
        assert bpy.ops.twobone.convert_ik(bone="lower") == {"FINISHED"}
    after = poses(rig)
    assert np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1).max() < 3e-4 * LENGTH
