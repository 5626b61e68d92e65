"""How far a foot that its leg only meets is from the end of the leg, as Blender evaluates it."""

import bpy
import numpy as np


def ways_to_the_foot(rig, lower, foot, frames):
    """Ways `(F, 3)` from the tail of a bone to the head of another one, world space, and the places of that head."""
    ways, places = [], []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        end, head = (
            np.array(shown.matrix_world @ point) for point in (shown.pose.bones[lower].tail, shown.pose.bones[foot].head)
        )
        ways.append(head - end)
        places.append(head)
    return np.array(ways), np.array(places)
