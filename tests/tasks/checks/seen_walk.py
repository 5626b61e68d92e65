"""What is seen of a walking character, and Plant Feet as a script calls it."""

import json

import bpy
import numpy as np
from mathutils import Vector

LEG = 0.8215
EASE = 5
SLIDE, SLIDE_BETWEEN = 1e-5 * LEG, 5e-4 * LEG
SIDES = ("L", "R")


def plant(**settings):
    assert bpy.ops.twobone.plant(**{"ease": EASE, **settings}) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


class Seen:
    """What is seen of the walker at each of some frames."""

    def __init__(self, armature, frames):
        self.frames = frames
        self.heels, self.balls, self.feet, self.toes, self.knees = ({side: [] for side in SIDES} for _ in range(5))
        self.hips = []
        scene = bpy.context.scene
        for frame in frames:
            scene.frame_set(int(frame), subframe=frame - int(frame))
            pose, world = armature.pose.bones, armature.matrix_world
            self.hips.append(np.array(world @ pose["hips"].head))
            for side in SIDES:
                foot = world @ pose[f"foot.{side}"].matrix
                rest = armature.data.bones[f"foot.{side}"].matrix_local
                heel = rest.inverted() @ (rest.translation - rest.translation.z * (rest.translation * 0 + _up()))
                self.heels[side].append(np.array(foot @ heel))
                self.balls[side].append(np.array(world @ pose[f"toe.{side}"].head))
                self.feet[side].append(np.array(foot.to_3x3()))
                self.toes[side].append(np.array((world @ pose[f"toe.{side}"].matrix).to_3x3()))
                thigh, shin = (pose[f"{name}.{side}"].vector for name in ("thigh", "shin"))
                self.knees[side].append(thigh.angle(shin))


def _up():
    return Vector((0.0, 0.0, 1.0))


def whole_frames():
    scene = bpy.context.scene
    return np.arange(scene.frame_start, scene.frame_end + 1.0)


def quarters():
    scene = bpy.context.scene
    return np.arange(scene.frame_start, scene.frame_end + 0.01, 0.25)


def contacts_of(on):
    """First and last frame of each time that a point is on the ground, `on` from frame 1 on."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(start + 1, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def worst_slide(seen, states):
    """Farthest that a point that stands gets from where it is on average."""
    worst = 0.0
    for side in SIDES:
        for places, bit in ((seen.heels[side], 1), (seen.balls[side], 2)):
            for first, last in contacts_of(states[side] & bit != 0):
                rows = (seen.frames >= first) & (seen.frames <= last)
                stood = np.array(places)[rows]
                worst = max(worst, np.linalg.norm(stood - stood.mean(axis=0), axis=1).max())
    return worst


def planted_states(report, count):
    """Which points stand `{side: (count,)}` at frames from 1 on, as planting has found it."""
    states = {}
    for side, chain in zip(SIDES, report["chains"], strict=True):
        states[side] = np.zeros(count, int)
        for contact in chain["contacts"]:
            states[side][int(contact["first"]) - 1 : int(contact["last"])] = {"HEEL": 1, "BALL": 2, "BOTH": 3}[contact["point"]]
        assert states[side].any()
    return states


def key_values(armature):
    """What every curve of the armature's bones is at every frame."""
    from twobone_addon.scene.versions import curve_bag

    return {
        (curve.data_path, curve.array_index): np.array([curve.evaluate(frame) for frame in whole_frames()])
        for curve in curve_bag(armature).fcurves
        if curve.data_path.startswith("pose.")
    }
