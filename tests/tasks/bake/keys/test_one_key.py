"""A single key in the range is written and taken back like many: whatever the task, the destination and the interpolation."""

import bpy
import pytest

from tests.promises.tasks_under_test import IN_PLANE, LIMB, keyed_leg
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.scenes import Limb

ONE_FRAME = {"frame_range": "CUSTOM", "frame_start": 3.0, "frame_end": 3.0}
BETWEEN = {"frame_range": "CUSTOM", "frame_start": 2.4, "frame_end": 2.4}
ONE_KEY_OF_CHAIN = {"frame_range": "CUSTOM", "frame_start": 1.5, "frame_end": 5.5, "keys": "CHAIN_KEYS"}
ONE_KEY_OF_TARGET = {"frame_range": "CUSTOM", "frame_start": 2.5, "frame_end": 3.5, "keys": "TARGET_KEYS"}
OWN_KEYS = {1.0, 6.0, 8.0}
RANGES = [ONE_FRAME, BETWEEN, ONE_KEY_OF_CHAIN, ONE_KEY_OF_TARGET]
SHAPES = [
    {"interpolation": "BEZIER"},
    {"interpolation": "BEZIER", "loop": "ON"},
    {"interpolation": "BEZIER", "key_before": True, "key_after": True},
    {"interpolation": "CONSTANT"},
]


def made_by_tasks(thing):
    """Frames of the generated keys."""
    keys = [key for curve in curves_of(thing) for key in curve.keyframe_points if key.type == "GENERATED"]
    return sorted({round(key.co.x, 3) for key in keys})


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("within", RANGES, ids=["whole", "between", "chain's keys", "target's keys"])
@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION"])
def test_one_key_follows_the_target_and_is_taken_back(registered_addon, empty_file, destination, within, shape):
    rig = keyed_leg()
    before = dump_file()
    assert bpy.ops.twobone.bake(**LIMB, target="Target", **IN_PLANE, **within, destination=destination, **shape) == {"FINISHED"}
    frame = 2.4 if within is BETWEEN else 3.0
    seen = evaluate(rig, Limb("Rig"), [frame], target=bpy.data.objects["Target"])
    assert seen.errors.max() < 1e-5
    beside = {frame - 1.0, frame + 1.0} if shape.get("key_before") else set()
    assert made_by_tasks(rig) == pytest.approx(sorted({frame, *beside} - OWN_KEYS))
    note = "Loop has no effect: there is a single key."
    assert (note in bpy.context.window_manager.twobone_report) == (shape.get("loop") == "ON")
    bpy.context.scene.frame_set(1)
    assert bpy.ops.twobone.clear_baked(**LIMB, all_frames=True) == {"FINISHED"}
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("within", [ONE_FRAME, BETWEEN, ONE_KEY_OF_TARGET], ids=["whole", "between", "target's keys"])
def test_a_strip_of_one_key_plays(registered_addon, empty_file, within, shape):
    rig = keyed_leg()
    data = rig.animation_data
    data.nla_tracks.new().strips.new("own", 1, data.action)
    data.action = None
    call = {**LIMB, "target": "Target", **IN_PLANE, **within, "destination": "NLA", **shape}
    assert bpy.ops.twobone.bake(**call) == {"FINISHED"}
    assert len(data.nla_tracks) == 2
    seen = evaluate(rig, Limb("Rig"), [2.4 if within is BETWEEN else 3.0], target=bpy.data.objects["Target"])
    assert seen.errors.max() < 1e-5


@pytest.mark.parametrize("keys", ["FRAMES", "CHAIN_KEYS", "REDUCE"])
def test_an_ik_limb_is_converted_at_one_frame(registered_addon, empty_file, keys):
    rig = keyed_leg()
    add_ik(rig, "lower")
    rig.twobone.chains.clear()
    before = dump_file()
    bpy.context.scene.frame_set(3)
    seen = [bone.matrix.copy() for bone in rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones]
    within = ONE_KEY_OF_CHAIN if keys == "CHAIN_KEYS" else ONE_FRAME
    shape = {} if keys == "REDUCE" else {"interpolation": "BEZIER"}
    assert bpy.ops.twobone.convert_ik(armature="Rig", **{**within, "keys": keys}, **shape) == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    now = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    assert max((bone.matrix - was).median_scale for bone, was in zip(now, seen, strict=True)) < 1e-4
    bpy.context.scene.frame_set(1)
    assert bpy.ops.twobone.clear_baked(**LIMB, all_frames=True) == {"FINISHED"}
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("within", [ONE_FRAME, ONE_KEY_OF_CHAIN], ids=["whole", "chain's keys"])
def test_a_target_gets_one_key(registered_addon, empty_file, within):
    rig = keyed_leg()
    target = bpy.data.objects["Target"]
    call = {**LIMB, "target": "Target", **IN_PLANE, **within, "interpolation": "BEZIER"}
    assert bpy.ops.twobone.bake_target(**call) == {"FINISHED"}
    assert made_by_tasks(target) == [3.0]
    bpy.context.scene.frame_set(3)
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = seen.matrix_world @ seen.pose.bones["lower"].tail
    assert (target.matrix_world.translation - tip).length < 1e-5
