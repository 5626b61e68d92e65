"""A library of thirty actions in one call: each over its own range, the one that cannot be converted named, one undo step."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.many_actions import clear_pose, play
from tests.tasks.scenes import BoneShape, build_armature

COUNT = 30
LOCKED = "Act 17"
UNDO_STEP = True
"""What makes a call from a script an undo step, as one from the interface is."""
TOLERANCE = 2e-4
"""Relative to a leg of a metre."""
LEG = (
    BoneShape("control", (0, 0.05, 0.1), (0, 0.05, 0.3)),
    BoneShape("thigh", (0, 0, 1), (0, -0.03, 0.5)),
    BoneShape("shin", (0, -0.03, 0.5), (0, 0.05, 0.1), "thigh", connected=True),
)


def span(number):
    """First and last frame of an action; each third one has a frame range, which begins before its first key."""
    first = 1 + 2 * number
    return first - (number % 3 == 0), first + 3 + number % 2


@pytest.fixture
def library(empty_file):
    rig = build_armature(LEG, "Leg")
    ik = rig.pose.bones["shin"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = rig, "control", 2, False
    for number in range(COUNT):
        rig.animation_data_create().action = None
        start, end = span(number)
        for frame, way in ((start + (number % 3 == 0), 0.05), (end, 0.1 + 0.005 * number)):
            rig.pose.bones["control"].location = (0, way, 0.5 * way)
            rig.pose.bones["control"].keyframe_insert("location", frame=frame)
        action = rig.animation_data.action
        action.name, action.use_fake_user = f"Act {number:02d}", True
        action.use_frame_range = number % 3 == 0
        action.frame_start, action.frame_end = start, end
    play(rig, LOCKED)
    rig.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1 + 2 * 17)
    for curve in thighs_curves(rig):
        curve.lock = True
    play(rig, "Act 00")
    clear_pose(rig)
    return rig


def thighs_curves(rig):
    data = rig.animation_data
    if hasattr(data.action, "layers"):
        bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
        curves = bag.fcurves if bag else []
    else:
        curves = data.action.fcurves
    return [curve for curve in curves if '"thigh"' in curve.data_path]


def with_thigh_keys(rig):
    """The actions that turn the thigh."""
    found = []
    for number in range(COUNT):
        play(rig, f"Act {number:02d}")
        found += [number] if thighs_curves(rig) else []
    return found


def knees(rig, number):
    """Where the knee is over an action's range."""
    play(rig, f"Act {number:02d}")
    clear_pose(rig)
    found = []
    for frame in range(span(number)[0], span(number)[1] + 1):
        bpy.context.scene.frame_set(frame)
        found.append(list(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"].head))
    return np.array(found)


def test_thirty_actions_in_one_call_and_one_undo_step(library):
    rig = library
    before = [knees(rig, number) for number in range(COUNT)]
    assert min(np.ptp(each, axis=0).max() for each in before) > 0.01
    play(rig, "Act 04")
    bpy.ops.ed.undo_push(message="library")
    assert bpy.ops.twobone.convert_ik("EXEC_DEFAULT", UNDO_STEP, armature="Leg", actions="ALL") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    ranges = {entry["action"]: (entry["frame_start"], entry["frame_end"]) for entry in report["chains"]}
    assert ranges == {f"Act {number:02d}": span(number) for number in range(COUNT) if number != 17}
    assert [(entry["action"], "locked" in entry["reason"]) for entry in report["refused"]] == [(LOCKED, True)]
    assert rig.animation_data.action.name == "Act 04"
    after = [knees(rig, number) for number in range(COUNT)]
    assert max(np.abs(one - other).max() for one, other in zip(before, after, strict=True)) <= TOLERANCE
    assert with_thigh_keys(rig) == list(range(COUNT))
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Leg"]
    assert with_thigh_keys(rig) == [17]
    assert not rig.pose.bones["shin"].constraints["IK"].mute
