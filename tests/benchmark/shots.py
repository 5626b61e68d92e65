"""The shots that the bake is measured on: what stands in the scene, which chains follow which targets, and how long."""

import contextlib
import itertools
import math
from dataclasses import dataclass, replace

import bpy
from mathutils import Vector


@dataclass(frozen=True)
class Limb:
    """One chain and what it follows, by name."""

    armature: str
    upper: str
    lower: str
    target: str
    plane: str = "YZ"


@dataclass(frozen=True)
class Shot:
    """A scene to bake."""

    limbs: list
    frames: int
    native_frames: int = 0
    """How many of them Blender's own bake is timed on, where all would take too long; 0 for all."""


def two_bones(frames=1000):
    """Two bones and a keyed target, nothing else."""
    add_rig("Rig", [("", (0, 0, 2), 1)])
    add_target("Target", (0, 0, 0.6), frames)
    return Shot([Limb("Rig", "upper0", "lower0", "Target")], frames)


def two_bones_long():
    """The same for an hour of film."""
    return two_bones(100_000)


def rigify_walk(frames=250, *, through_scene=False):
    """Rigify's whole human, 706 bones, with a skinned, subdivided body; the torso sways, four FK limbs follow targets.

    It may walk through the scene as well: then what the armature object and the targets hang from moves.
    """
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    with contextlib.redirect_stdout(None):
        bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    add_body(rig)
    limbs = []
    for side in ("L", "R"):
        rig.pose.bones[f"thigh_parent.{side}"]["IK_FK"] = 1.0
        rig.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
        limbs.append((f"thigh_fk.{side}", f"shin_fk.{side}", "YZ"))
        limbs.append((f"upper_arm_fk.{side}", f"forearm_fk.{side}", "XZ"))
    made = []
    for number, (upper, lower, plane) in enumerate(limbs):
        tip = rig.pose.bones[lower].bone.tail_local
        inward = tip.lerp(rig.pose.bones[upper].bone.head_local, 0.35)
        target = add_target(f"Target{number}", inward, frames, radius=0.1, plane=plane)
        made.append(Limb(rig.name, upper, lower, target.name, "POSE"))
    sway(rig, frames)
    bpy.context.view_layer.update()  # The switches' drivers have their say, as before any operator.
    if through_scene:
        mover = add_target("Mover", (0, 0, 0), frames, radius=2.0, plane="XY")
        for name in (rig.name, *(limb.target for limb in made)):
            bpy.data.objects[name].parent = mover
    return Shot(made, frames)


def store_chains(shot):
    """Make the limbs of the first limb's armature, which becomes active, stored chains that follow their targets; return it."""
    rig = bpy.data.objects[shot.limbs[0].armature]
    bpy.context.view_layer.objects.active = rig
    for limb in shot.limbs:
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.plane = limb.upper, limb.upper, limb.lower, "POSE"
        chain.target = bpy.data.objects[limb.target]
    return rig


def rigify_walk_long():
    """A hundred seconds of it, through the scene."""
    return replace(rigify_walk(2500, through_scene=True), native_frames=250)


def sway(rig, frames):
    """Key torso, hips and chest every eight frames."""
    for frame in range(1, frames + 8, 8):
        time = frame / 9
        torso = rig.pose.bones["torso"]
        torso.location = (0.03 * math.sin(time / 2), 0.02 * math.cos(time), 0.02 * math.sin(time))
        torso.keyframe_insert("location", frame=frame)
        for name, angle in (("torso", 0.08), ("hips", 0.1), ("chest", -0.15)):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (angle * math.sin(time), angle * math.cos(time), angle * math.sin(time / 2))
            bone.keyframe_insert("rotation_euler", frame=frame)


def crowded_scene(frames=250):
    """Two bones beside two hundred animated, subdivided objects that change shape at every frame."""
    shot = two_bones(frames)
    for number in range(200):
        place = (number % 20, number // 20, 5)
        bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, location=place)
        sphere = bpy.context.object
        sphere.modifiers.new("Subdivision", "SUBSURF").levels = 2
        sphere.modifiers.new("Wave", "WAVE")
        for frame in (1, frames):
            sphere.location.z = 5 + frame / frames
            sphere.keyframe_insert("location", frame=frame)
    return replace(shot, native_frames=5)


def hundred_characters(frames=250, count=100):
    """A hundred characters, two legs each."""
    limbs = []
    first = add_rig("Rig000", [(".L", (0.2, 0, 2), 1), (".R", (-0.2, 0, 2), 1)])
    for number in range(count):
        origin = (2.0 * (number % 10), 2.0 * (number // 10))
        name = f"Rig{number:03}"
        rig = add_copy(first, name) if number else first
        rig.location.xy = origin
        for leg, x in ((0, 0.2), (1, -0.2)):
            name = f"Target{number:03}.{leg}"
            add_target(name, (origin[0] + x, origin[1], 0.6), frames, phase=math.pi * leg + number)
            limbs.append(Limb(rig.name, f"upper{leg}", f"lower{leg}", name))
    return Shot(limbs, frames)


def thousand_characters():
    """A thousand, for a hundred frames."""
    return hundred_characters(100, 1000)


SHOTS = {
    "two bones": two_bones,
    "two bones, long": two_bones_long,
    "Rigify walk": rigify_walk,
    "Rigify walk, long": rigify_walk_long,
    "crowded scene": crowded_scene,
    "hundred characters": hundred_characters,
    "thousand characters": thousand_characters,
}


def build(name):
    """A new file with one of the shots in it, its scene's range set to the shot's."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shot = SHOTS[name]()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, shot.frames
    return shot


def add_rig(name, legs):
    """An armature with a two-bone leg downwards from each of `legs`: suffix, head, length of each bone."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number, (_, (x, y, z), length) in enumerate(legs):
        upper, lower = data.edit_bones.new(f"upper{number}"), data.edit_bones.new(f"lower{number}")
        upper.head, upper.tail = (x, y, z), (x, y - 0.1, z - length)
        lower.head, lower.tail = upper.tail, (x, y, z - 2 * length)
        lower.parent, lower.use_connect = upper, True
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def add_copy(rig, name):
    """Another armature with the same bones. Edit Mode for each of a thousand would take minutes."""
    copy = rig.copy()
    copy.name, copy.data = name, rig.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    return copy


def add_target(name, place, frames, *, radius=0.5, phase=0.0, plane="YZ"):
    """An empty going round and round in a plane, keyed every eight frames."""
    target = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(target)
    first, second = ("XYZ".index(letter) for letter in plane)
    for frame in range(1, frames + 8, 8):
        target.location = place
        target.location[first] += radius * math.sin(frame / 9 + phase)
        target.location[second] += 0.6 * radius * math.cos(frame / 9 + phase)
        target.keyframe_insert("location", frame=frame)
    return target


def add_body(rig, rings=24, corners=12):
    """A mesh of tubes around the rig's deforming bones, each held by its bone and the one above, subdivided."""
    mesh = bpy.data.meshes.new("Body")
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    places, faces, held = [], [], {}
    for bone in (bone for bone in rig.data.bones if bone.use_deform):
        first = len(places)
        for ring, corner in itertools.product(range(rings), range(corners)):
            angle = 2 * math.pi * corner / corners
            across = bone.matrix_local.to_3x3() @ Vector((math.cos(angle), 0, math.sin(angle)))
            places.append(bone.head_local.lerp(bone.tail_local, ring / (rings - 1)) + 0.1 * bone.length * across)
        for ring, corner in itertools.product(range(rings - 1), range(corners)):
            here, beside = ring * corners + corner, ring * corners + (corner + 1) % corners
            faces.append([first + place for place in (here, beside, beside + corners, here + corners)])
        held[bone.name] = list(range(first, len(places)))
    mesh.from_pydata(places, [], faces)
    for name, points in held.items():
        body.vertex_groups.new(name=name).add(points, 1.0, "REPLACE")
    for name, points in held.items():
        parent = rig.data.bones[name].parent
        if parent and parent.name in held:
            body.vertex_groups[parent.name].add(points[: 3 * corners], 0.5, "ADD")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    body.parent = rig
