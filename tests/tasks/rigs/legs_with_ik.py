"""A leg with an IK constraint, and the poses of all bones."""

import json
import math

import bpy
import numpy as np

LAST = 24
LENGTH = 1.9
RESIDUAL = 2e-4 * LENGTH
"""What Blender's IK leaves, of the chain's length."""


def add_ik(rig, bone, **settings):
    constraint = rig.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects["Target"], 2
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def poses(rig, frames=range(1, LAST + 1)):
    """Posed matrices of every bone on every frame, world space: `(F, B, 4, 4)`."""
    found = []
    for frame in frames:
        whole = math.floor(frame)
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.matrix_world @ bone.matrix) for bone in seen.pose.bones])
    return np.array(found)


def convert(rig, **settings):
    assert bpy.ops.twobone.convert_ik(armature=rig.name, **settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def assert_nothing_moved(before, after, tolerance=RESIDUAL):
    """Heads by less than IK's own error, axes by less than that seen from a bone's length away."""
    assert np.abs(before - after).max() < tolerance
