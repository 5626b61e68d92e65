"""Nudges as a script asks for them, and where Blender has a limb at many moments."""

import json

import bpy
import numpy as np

from tests.tasks.scenes import sentence_of


def nudge(**given):
    """Call the operator and return its report."""
    assert bpy.ops.twobone.nudge(**given) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def refusal(**given):
    """The sentence with which the operator refuses."""
    try:
        bpy.ops.twobone.nudge(**given)
    except RuntimeError as error:
        return sentence_of(error)
    raise AssertionError("it was not refused")


def seen(rig, moments, bones=None):
    """World matrices `(M, B, 4, 4)` of bones, of all without `bones`, at moments that may lie between frames."""
    scene, found = bpy.context.scene, []
    for moment in moments:
        whole = int(np.floor(moment))
        scene.frame_set(whole, subframe=moment - whole)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(posed.matrix_world @ posed.pose.bones[name].matrix) for name in bones or posed.pose.bones.keys()])
    return np.array(found)


def sums_are_exact(rig, tip, limb, frames, length):
    """Three nudges added and the middle one removed against the two others alone, and none of them against what was before.

    tip : the bone whose head is the limb's tip. Returns how far joints and tip are apart in both, parts of the length.
    """
    first, middle, last = frames
    offsets = {first: (0.03, -0.02, 0.04), middle: (-0.05, 0.01, 0.02), last: (0.0, 0.01, 0.05)}
    whole = np.arange(first - 20, last + 21)
    before = seen(rig, whole, tip)

    def add(frame):
        return nudge(**limb, frame=frame, offset=[length * part for part in offsets[frame]], before=5, after=6)

    for frame in (first, last):
        add(frame)
    alone = seen(rig, whole, tip)
    for frame in (first, last):
        nudge(**limb, frame=frame, remove=True)
    back = seen(rig, whole, tip)
    for frame in frames:
        add(frame)
    assert np.abs(seen(rig, whole, tip) - alone).max() > 0.01 * length
    report = nudge(**limb, frame=middle, remove=True)
    assert [entry["frame"] for entry in report["nudges"]] == [first, last]
    both = seen(rig, whole, tip)
    moved = (alone - before)[[list(whole).index(frame) for frame in (first, last)], 0, :3, 3]
    exact = np.abs(moved - length * np.array([offsets[first], offsets[last]])).max() / length
    outside = (whole <= first - 5) | (whole >= last + 6)
    return {
        "sum": np.abs(both - alone).max() / length,
        "back": np.abs(back - before).max() / length,
        "exact": exact,
        "outside": np.abs(alone - before)[outside].max(),
        "turned": np.abs((alone - before)[..., :3, :3]).max(),
    }
