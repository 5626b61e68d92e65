"""Skeletons of game characters in the data folder: as importers leave them, with weights and clips, and their limbs."""

import json

import bpy
from mathutils import Matrix

CHARACTERS = (
    "Bat", "Cowboy", "FarmCow", "FarmLlama", "FarmPug", "Frog", "Goblin", "Male", "Rat", "Shark", "Skeleton", "Spider",
    "Stegosaurus", "Trex", "Triceratops", "Vol2Cat", "Vol2Eagle", "Wasp",
)  # fmt: skip


def load(folder, character):
    """The armature with a mesh of one vertex for each bone that carries one, and its actions with their slots by name."""
    data = json.loads((folder / f"{character}.json").read_text())
    armature = bpy.data.objects.new(character, bpy.data.armatures.new(character))
    bpy.context.scene.collection.objects.link(armature)
    armature.scale, armature.rotation_mode, armature.rotation_quaternion = data["scale"], "QUATERNION", data["rotation"]
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, matrix, length in data["bones"]:
        bone = armature.data.edit_bones.new(name)
        bone.tail = (0.0, length, 0.0)
        bone.matrix = Matrix([matrix[0:4], matrix[4:8], matrix[8:12], [0.0, 0.0, 0.0, 1.0]])
        bone.length = length
        bone.parent = armature.data.edit_bones.get(parent or "")
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata([tuple(armature.data.bones[bone].head_local) for bone in data["weighted"]], [], [])
    body = bpy.data.objects.new("body", mesh)
    bpy.context.scene.collection.objects.link(body)
    body.modifiers.new("Armature", "ARMATURE").object = armature
    for number, bone in enumerate(data["weighted"]):
        body.vertex_groups.new(name=bone).add([number], 1.0, "REPLACE")
    return armature, {clip: _action(armature, clip, keyed) for clip, keyed in data["actions"].items()}


def _action(armature, clip, keyed):
    animation = armature.animation_data_create()
    animation.action = bpy.data.actions.new(clip)
    for name, rows in keyed["pose"].items():
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        for frame, row in zip(keyed["frames"], rows, strict=False):
            bone.location, bone.rotation_quaternion = row[:3], row[3:]
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return animation.action, getattr(animation, "action_slot", None)


def play(armature, action, slot):
    armature.animation_data.action = action
    if slot is not None:
        armature.animation_data.action_slot = slot


def judged(folder, character, limbs):
    """Limbs that are none, or of another kind, side or end; and how many are missing."""
    known, wrong = json.loads((folder / "truth.json").read_text())[character], []
    for kind, side, upper, lower, tip in limbs:
        meant = next(
            (
                limb
                for limb in known
                for way in limb["accept"]
                if (kind, side, upper, lower) == (limb["kind"], limb["side"], way["upper"], way["lower"]) and tip in way["tips"]
            ),
            None,
        )
        if meant is None:
            wrong.append((kind, side, upper, lower, tip))
        else:
            known.remove(meant)
    return wrong, len(known)
