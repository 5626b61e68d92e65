"""A character's leg on moving bones, targets and controls, for limbs that Blender itself poses; and what is seen of it."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

FRAMES = 24
LENGTH = 1.9
THICKNESS = 0.2 * LENGTH
"""How far from a bone what it carries may be: there its rotation about itself is seen."""

EXACT = 1e-6
"""Greatest distance from Bake, relative to the limb: what single precision leaves."""

NEXT_TO_STRAIGHT = 5e-5
"""The same next to straight or folded, where the knee hangs on the root of a rounding error."""

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


def plane_axes(rig, settings, frames=range(1, FRAMES + 1)):
    """Two axes at each frame, `(F, 2, 3)` in the world, of a plane that does not follow the limb; `None` for one that does."""
    letters = "XY" if settings["plane"] == "OBJECT" else settings["plane"]
    if set(letters) - set("XYZ"):
        return None
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=frame % 1)
        above = rig.pose.bones["up"].parent
        own = {
            "WORLD": Matrix(),
            "ARMATURE": rig.matrix_world,
            "PARENT": rig.matrix_world @ (above.matrix if above else Matrix()),
        }
        is_object = settings["plane"] == "OBJECT"
        world = bpy.data.objects[settings["plane_object"]].matrix_world if is_object else own[settings["plane_space"]]
        rows.append([world.col["XYZ".index(letter)].xyz for letter in letters])
    return np.array(rows)


def bends(baked, axes):
    """Sine of the angle between the two links at each frame, `(F,)`, in the plane of the axes if these are given."""
    joints = np.stack([baked[:, 0, 0], baked[:, 1, 0], baked[:, 2, 0]], axis=1)
    links = np.diff(joints, axis=1)
    if axes is not None:
        normals = np.cross(axes[:, 0], axes[:, 1])
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        links = links - np.einsum("fln,fn->fl", links, normals)[..., None] * normals[:, None]
    return np.linalg.norm(np.cross(links[:, 0], links[:, 1]), axis=-1) / np.linalg.norm(links, axis=-1).prod(axis=-1)


def allowed(sines, distance=1.0):
    """How far a limb that is bent so may be from Bake, relative to it, `(F,)`.

    With the tip moved by `e` along the line from the root, the knee moves by `e cos(c) / sine`, where `c` is the angle between
    the lower link and that line: the motions of both ends of the lower link along it are equal, and the knee moves perpendicular
    to the upper one. So what rounding leaves of a distance grows by at most `1 / sine`.

    distance : of the limb from the world's origin, in its lengths: so many times are numbers there rounded as coarsely
    """
    return np.minimum(EXACT * max(distance, 1.0) / np.maximum(sines, EXACT), NEXT_TO_STRAIGHT)


def size_of(rig):
    """Length of the limb in the world."""
    return math.cbrt(abs(rig.matrix_world.to_3x3().determinant())) * LENGTH


def beyond(baked, posed, rig, settings, frames=range(1, FRAMES + 1)):
    """Greatest distance from Bake at the frames, as a multiple of what is allowed there."""
    away = np.linalg.norm(baked - posed, axis=-1).max(axis=(1, 2)) / size_of(rig)
    distance = np.abs(baked).max() / size_of(rig)
    return (away / allowed(bends(baked, plane_axes(rig, settings, frames)), distance)).max()


RENDERED = (3, 9, 17)
"""Frames that are rendered."""


def rendered(rig, bones, folder):
    """Where each bone is while a frame is rendered, see `points_now`, `(F, B, 4, 3)`."""
    scene, found = bpy.context.scene, {}
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = str(folder / "frame")

    def look(scene, depsgraph):
        if depsgraph.mode == "RENDER":
            found[scene.frame_current] = points_now(rig, bones, depsgraph)

    bpy.app.handlers.frame_change_post.append(look)
    try:
        for frame in mixed(RENDERED):
            scene.frame_start = scene.frame_end = frame
            bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
    return np.array([found[frame] for frame in RENDERED])


def apart(first, second, length=LENGTH):
    """Greatest distance of what is seen, relative to the limb."""
    return float(np.linalg.norm(first - second, axis=-1).max()) / length
