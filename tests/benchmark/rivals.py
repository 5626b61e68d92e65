"""The two that are measured against one another on a shot: Blender's own bake of its own IK, and ours."""

import contextlib
import sys
from dataclasses import replace
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from twobone_addon.baking.bake import bake
from twobone_addon.settings import BakeSettings


def prepare_native(shot):
    """Blender's IK on every limb, all their bones selected in Pose Mode."""
    bpy.ops.object.select_all(action="DESELECT")
    for limb in shot.limbs:
        rig = bpy.data.objects[limb.armature]
        rig.select_set(state=True)
        bpy.context.view_layer.objects.active = rig
        constraint = rig.pose.bones[limb.lower].constraints.new("IK")
        constraint.target = bpy.data.objects[limb.target]
        constraint.chain_count = 2
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    for limb in shot.limbs:
        bones = bpy.data.objects[limb.armature].pose.bones
        for bone in (bones[limb.upper], bones[limb.lower]):
            holder = bone if hasattr(bone, "select") else bone.bone
            holder.select = True
    bpy.context.view_layer.update()


def clear_native(shot):
    """All of that undone, and the keys removed."""
    bpy.ops.object.mode_set(mode="OBJECT")
    for limb in shot.limbs:
        rig = bpy.data.objects[limb.armature]
        for bone in (rig.pose.bones[limb.upper], rig.pose.bones[limb.lower]):
            for constraint in list(bone.constraints):
                if constraint.type == "IK":
                    bone.constraints.remove(constraint)
    clear_keys(shot)


def clear_keys(shot):
    """The rigs without animation, posed as at rest."""
    for name in {limb.armature for limb in shot.limbs}:
        rig = bpy.data.objects[name]
        if rig.animation_data and rig.animation_data.action:
            action = rig.animation_data.action
            rig.animation_data.action = None
            bpy.data.actions.remove(action)
    for limb in shot.limbs:
        bones = bpy.data.objects[limb.armature].pose.bones
        for bone in (bones[limb.upper], bones[limb.lower]):
            bone.matrix_basis.identity()
    bpy.context.view_layer.update()


def bake_native(shot):
    """Blender's bake of what is selected: what one sees, rotations only."""
    with contextlib.redirect_stdout(None):
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=shot.frames,
            only_selected=True,
            visual_keying=True,
            bake_types={"POSE"},
            channel_types={"ROTATION"},
        )


def bake_ours(shot, *, verify):
    """Our bake of all limbs at once."""
    common = BakeSettings(frame_range="CUSTOM", frame_start=1.0, frame_end=float(shot.frames), verify=verify)
    wanted = [
        replace(common, armature=limb.armature, upper=limb.upper, lower=limb.lower, target=limb.target, plane=limb.plane)
        for limb in shot.limbs
    ]
    return bake(bpy.context.scene, wanted)
