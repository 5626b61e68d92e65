"""Baking again changes nothing and Clear gives the file back, over rigs, motions and settings drawn by chance.

Ten draws by default; `TWOBONE_AGAIN=1000` and `--hypothesis-seed` draw more by hand. What that finds becomes an example here.
"""

import json
import math
import os
import random

import bpy
import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mathutils import Euler

from tests.blank import empty
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import BoneShape, add_empty, build_armature, key_channel, sentence_of, set_range

DRAWS = int(os.environ.get("TWOBONE_AGAIN", "10"))
FIRST, LAST = 1, 17
BONES = ("upper", "lower", "foot")
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX", "YXZ")
CHANNELS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
KEYS_AT = {"full": range(FIRST, LAST + 1), "sparse": (-4, 2, 6.5, 11, 23), "none": ()}
ON_TIME = np.arange(FIRST, LAST + 0.1, 0.25)

RIGS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**16),
        "knee": st.sampled_from([0.0, 0.002, 0.08]),
        "modes": st.tuples(*[st.sampled_from(MODES)] * 3),
        "keys_at": st.sampled_from(sorted(KEYS_AT)),
        "own_scale": st.booleans(),
        "reach_of_target": st.sampled_from([(0.4, 0.95), (0.5, 1.3)]),
        "scale": st.sampled_from([1.0, 0.01, 30.0]),
    }
)
SETTINGS = st.fixed_dictionaries(
    {
        "plane": st.sampled_from(["POSE", "REST", "POLE", "YZ", "XZ"]),
        "plane_space": st.sampled_from(["WORLD", "ARMATURE", "PARENT"]),
        "reference": st.sampled_from(["REST", "POSE"]),
        "bend": st.sampled_from(["POSITIVE", "NEGATIVE", "KEEP"]),
        "depth": st.sampled_from(["KEEP", "FLATTEN"]),
        "reach": st.sampled_from(["CLAMP", "SOFTEN", "STRETCH"]),
        "softness": st.sampled_from([0.0, 0.1]),
        "influence": st.sampled_from([1.0, 1.0, 0.5]),
        "keys": st.sampled_from(["FRAMES", "TARGET_KEYS", "CHAIN_KEYS", "REDUCE"]),
        "step": st.sampled_from([1.0, 0.5, 3.0]),
        "interpolation": st.sampled_from(["LINEAR", "BEZIER", "CONSTANT"]),
        "end_rotation": st.sampled_from(["NONE", "KEEP", "TARGET"]),
        "target_offset": st.sampled_from(["NONE", "KEEP"]),
        "key_before": st.booleans(),
        "key_after": st.booleans(),
        "loop": st.sampled_from(["AUTO", "ON", "OFF"]),
        "destination": st.sampled_from(["ACTION", "ACTION", "NEW_ACTION"]),
    }
)
PLAIN = {
    "plane": "POSE",
    "plane_space": "WORLD",
    "reference": "POSE",
    "bend": "POSITIVE",
    "depth": "KEEP",
    "reach": "CLAMP",
    "softness": 0.0,
    "influence": 1.0,
    "keys": "FRAMES",
    "step": 1.0,
    "interpolation": "LINEAR",
    "end_rotation": "NONE",
    "target_offset": "NONE",
    "key_before": False,
    "key_after": False,
    "loop": "AUTO",
    "destination": "ACTION",
}
LEG = {
    "seed": 3,
    "knee": 0.08,
    "modes": ("XYZ", "QUATERNION", "XYZ"),
    "keys_at": "sparse",
    "own_scale": True,
    "reach_of_target": (0.5, 1.3),
    "scale": 1.0,
}


def leg_by_chance(rig, handles):
    """A leg that hangs from hips, with keys of its own of many kinds, a target and a pole."""
    chance = random.Random(rig["seed"])  # noqa: S311 - dice, not secrets
    empty()
    set_range(FIRST, LAST)
    shapes = [BoneShape("hips", (0, 0, 1), (0, 0, 1.2), roll=chance.uniform(-1, 1))]
    places = ((0.01, 0, 1), (0.02, -rig["knee"], 0.55), (0.03, 0, 0.1), (0.03, -0.15, 0))
    for name, head, tail in zip(BONES, places[:-1], places[1:], strict=True):
        shapes.append(BoneShape(name, head, tail, shapes[-1].name, roll=chance.uniform(-1, 1)))
    armature = build_armature(shapes)
    armature.scale = (rig["scale"],) * 3
    for name, mode in zip(BONES, rig["modes"], strict=True):
        bone = armature.pose.bones[name]
        bone.rotation_mode = mode
        for frame in KEYS_AT[rig["keys_at"]]:
            pose(bone, mode, Euler([chance.uniform(-0.4, 0.4) for _ in range(3)]))
            bone.keyframe_insert(CHANNELS.get(mode, "rotation_euler"), frame=frame)
        if rig["own_scale"]:
            key_channel(bone, "scale", {FIRST: (1, 1, 1), 9: [chance.uniform(0.8, 1.4)] * 3})
    key_channel(armature.pose.bones["hips"], "location", {FIRST: (0, 0, 0), LAST: (0.1, 0.2, 0)})
    for curve in curves(armature):
        for key in curve.keyframe_points:
            key.interpolation = chance.choice(handles)
            key.handle_left_type = key.handle_right_type = chance.choice(["AUTO_CLAMPED", "FREE", "VECTOR", "ALIGNED"])
        curve.update()
    target, pole = add_empty("Target"), add_empty("Pole")
    for frame in (FIRST, 5, 9.5, LAST):
        way = np.array([chance.uniform(-0.3, 0.3), chance.uniform(-0.7, 0.7), -1.0])
        far = 0.9 * chance.uniform(*rig["reach_of_target"]) / np.linalg.norm(way)
        key_channel(target, "location", {frame: rig["scale"] * (np.array([0.01, 0, 1]) + far * way)})
        key_channel(target, "rotation_euler", {frame: [chance.uniform(-1, 1) for _ in range(3)]})
    key_channel(pole, "location", {FIRST: (0, -2 * rig["scale"], 0.3), LAST: (0.5, -2 * rig["scale"], 0.9)})
    bpy.context.scene.frame_set(3)
    return armature


def pose(bone, mode, turn):
    if mode == "QUATERNION":
        bone.rotation_quaternion = turn.to_quaternion()
    elif mode == "AXIS_ANGLE":
        axis, angle = turn.to_quaternion().to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_quaternion().to_euler(mode)


def curves(armature):
    from twobone_addon.scene.versions import curve_bag

    bag = curve_bag(armature)
    return list(bag.fcurves) if bag else []


def joints(armature):
    """Places of knee, ankle and toe as shares of the leg, at and between frames, `(T, 3, 3)`."""
    found = []
    for time in ON_TIME:
        bpy.context.scene.frame_set(math.floor(time), subframe=time - math.floor(time))
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([seen["lower"].head[:], seen["foot"].head[:], seen["foot"].tail[:]])
    bpy.context.scene.frame_set(3)
    return np.array(found) / 0.9


def bake(**chosen):
    names = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot", "target": "Target", "pole": "Pole"}
    assert bpy.ops.twobone.bake(**names, verify=False, **chosen) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


@settings(max_examples=DRAWS, deadline=None, suppress_health_check=list(HealthCheck))
@given(RIGS, SETTINGS, st.sampled_from([("BEZIER",), ("BEZIER", "LINEAR", "CONSTANT"), ("ELASTIC", "BACK", "BEZIER")]))
@example(LEG, {**PLAIN, "interpolation": "BEZIER", "step": 3.0}, ("BEZIER",))
@example(LEG, {**PLAIN, "reach": "STRETCH", "end_rotation": "TARGET"}, ("BEZIER",))
@example({**LEG, "knee": 0.0}, {**PLAIN, "plane": "REST", "reference": "REST", "bend": "NEGATIVE"}, ("BEZIER",))
@example(LEG, {**PLAIN, "plane": "POSE", "bend": "NEGATIVE", "key_before": True, "key_after": True}, ("BEZIER", "LINEAR"))
def test_again_changes_nothing_and_clear_gives_the_file_back(registered_addon, rig, chosen, handles):
    armature = leg_by_chance(rig, handles)
    before = dump_file()
    try:
        bake(**chosen)
    except RuntimeError as error:  # such as no keys of the chain to take the frames from
        sentence_of(error)
        assert differences(before, dump_file()) == []
        return
    keys, seen = all_keys(armature), joints(armature)
    bake(**chosen)
    assert all_keys(armature) == keys
    assert np.abs(joints(armature) - seen).max() <= 1e-6
    bpy.ops.twobone.clear_baked(
        armature="Rig", upper="upper", lower="lower", all_frames=True, end_rotation=chosen["end_rotation"]
    )
    left_over = [path for path in differences(before, dump_file()) if not is_a_copys(path, chosen)]
    assert left_over == []


def is_a_copys(path, chosen):
    """The first of two new actions stays in the file: it is a bake of its own, which nobody has cleared."""
    return chosen["destination"] == "NEW_ACTION" and path.startswith("actions")
