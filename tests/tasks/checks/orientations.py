"""How bones stand, at every frame, as Blender evaluates them: what a bake that changes nothing must leave alone."""

import bpy
import numpy as np

from tests.tasks.scenes import add_empty

UNSEEN = 0.05
"""Degrees by which a bone may be turned and nobody sees it."""


def posed(rig, bones, frames):
    """Linear maps `(F, b, 3, 3)` of posed bones, armature space."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        rows.append([np.array(found[name].matrix)[:3, :3] for name in bones])
    return np.array(rows)


def degrees_between(first, second):
    """Degrees `(F, b)` by which bones are turned from one pose to another: of their axes the one that is turned farthest."""
    first, second = (axes / np.linalg.norm(axes, axis=-2, keepdims=True) for axes in (first, second))
    chords = np.linalg.norm(first - second, axis=-2).max(axis=-1)
    return np.degrees(2.0 * np.arcsin(np.clip(0.5 * chords, 0.0, 1.0)))


def target_on(rig, frames, place_of, name="Target"):
    """An empty keyed at every frame where `place_of` finds a place, armature space, among the evaluated pose bones."""
    target = add_empty(name)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        target.location = evaluated.matrix_world @ place_of(evaluated.pose.bones)
        target.keyframe_insert("location", frame=frame)
    return target
