"""A leg with an IK constraint, and the poses of all bones."""

import math

import bpy
import numpy as np

LAST = 24


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
