"""A character's leg on moving bones, targets and controls, for limbs that Blender itself poses; and what is seen of it."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector

FRAMES = 24
LENGTH = 1.9
THICKNESS = 0.2 * LENGTH
"""How far from a bone what it carries may be: there its rotation about itself is seen."""

needs_nodes = pytest.mark.skipif(
    not hasattr(bpy.types, "GeometryAttributeConstraint"), reason="before Blender 5.0 no constraint reads geometry nodes"
)


def leg_on_a_body(bend=0.2, rolls=(0.0, 0.0, 0.0), name="Rig"):
    """Armature of a body that moves, a leg of 1.0 and 0.9, a foot, another leg below it, and two controls."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    hip = Vector((0.2, 0.0, 1.95))
    knee = hip + Vector((0.05, -math.sin(bend), -math.cos(bend))).normalized()
    ankle = knee + Vector((-0.05, math.sin(bend), -math.cos(bend))).normalized() * (LENGTH - 1.0)
    for bone, head, tail, parent, roll in (
        ("root", (0, 0, 0), (0, 0.3, 0), None, 0.0),
        ("hip", (0.1, 0, 2), (0.1, 0.02, 2.25), "root", 0.3),
        ("up", hip, knee, "hip", rolls[0]),
        ("lo", knee, ankle, "up", rolls[1]),
        ("foot", ankle, ankle + Vector((0, -0.25, -0.05)), "lo", rolls[2]),
        ("up2", ankle + Vector((0, -0.25, -0.05)), ankle + Vector((0.02, -0.35, -0.4)), "foot", 0.2),
        ("lo2", ankle + Vector((0.02, -0.35, -0.4)), ankle + Vector((0.0, -0.2, -0.7)), "up2", 0.1),
        ("control", (0.2, -0.3, 0.3), (0.2, -0.3, 0.6), "root", 0.0),
        ("knee", (0.2, -1.2, 1.0), (0.2, -1.2, 1.2), "root", 0.0),
    ):
        made = rig.data.edit_bones.new(bone)
        made.head, made.tail, made.roll = head, tail, roll
        made.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    moving = {"hip": 0.1, "root": 0.2, "control": 0.35, "knee": 0.5}
    for frame in range(1, FRAMES + 1, 3):
        turn = frame / FRAMES * 2 * math.pi
        for bone, size in moving.items():
            posed = rig.pose.bones[bone]
            posed.location = (size * math.sin(turn), 0.8 * size * math.cos(turn), 0.4 * size * math.sin(2 * turn))
            posed.rotation_euler = (0.3 * math.sin(2 * turn), 0.2 * math.cos(turn), 0.25 * math.sin(turn))
            posed.keyframe_insert("location", frame=frame)
            posed.keyframe_insert("rotation_euler", frame=frame)
    return rig


def moving_empty(name, place=(0.25, -0.15, 0.45), radius=0.35, phase=0.0):
    """An empty that goes round and turns, keyed every other frame."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    for frame in range(1, FRAMES + 1, 2):
        turn = frame / FRAMES * 2 * math.pi + phase
        empty.location = Vector(place) + radius * Vector((0.3 * math.sin(turn), math.sin(turn), math.cos(turn)))
        empty.rotation_euler = (0.3 * math.sin(turn), 0.5 * math.cos(turn), 0.4 * math.sin(2 * turn))
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_euler", frame=frame)
    return empty


def new_scene():
    """An emptied scene of `FRAMES` frames with a leg and its target `T`."""
    scene = bpy.context.scene
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    for kind in (bpy.data.armatures, bpy.data.actions, bpy.data.node_groups, bpy.data.meshes):
        for thing in list(kind):
            kind.remove(thing)
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(1)
    return scene


def mixed(frames):
    """The frames in an order that jumps."""
    return sorted(frames, key=lambda frame: (frame * 7) % 13)


def seen(rig, bones, frames=range(1, FRAMES + 1)):
    """Where each bone is, see `points_now`: `(F, B, 4, 3)`, frames evaluated in an order that jumps."""
    scene, found = bpy.context.scene, {}
    for frame in mixed(frames):
        scene.frame_set(math.floor(frame), subframe=frame % 1)
        found[frame] = points_now(rig, bones)
    return np.array([found[frame] for frame in frames])


def points_now(rig, bones, depsgraph=None):
    """Head and tail of each bone in the world now, and two points beside it as far as a limb is thick, `(B, 4, 3)`."""
    evaluated = rig.evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
    rows = []
    for name in bones:
        bone = evaluated.pose.bones[name]
        world = evaluated.matrix_world @ bone.matrix
        head, axes = world.translation, [world.col[axis].xyz for axis in (0, 2)]
        rows.append([head, evaluated.matrix_world @ bone.tail, *(head + THICKNESS * axis for axis in axes)])
    return np.array(rows)


def apart(first, second, length=LENGTH):
    """Greatest distance of what is seen, relative to the limb."""
    return float(np.linalg.norm(first - second, axis=-1).max()) / length
