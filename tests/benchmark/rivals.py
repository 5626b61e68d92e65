"""The two that are measured against one another on a shot: Blender's own bake of its own IK, and ours."""

import contextlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from twobone_addon.pipeline.run import run
from twobone_addon.scene.versions import curve_bag
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.tasks import BakeAllSettings
from twobone_addon.tasks.bake import BAKE


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


def leave_native(shot):
    """The constraints removed, the keys left."""
    bpy.ops.object.mode_set(mode="OBJECT")
    for limb in shot.limbs:
        rig = bpy.data.objects[limb.armature]
        for bone in (rig.pose.bones[limb.upper], rig.pose.bones[limb.lower]):
            for constraint in list(bone.constraints):
                if constraint.type == "IK":
                    bone.constraints.remove(constraint)


def clear_keys(shot):
    """The limbs without animation, posed as at rest; what else moves the rigs stays."""
    emptied = []
    for name, bones in limb_bones(shot).items():
        rig = bpy.data.objects[name]
        if rig.animation_data and rig.animation_data.action:
            action, bag = rig.animation_data.action, curve_bag(rig)
            baked = [fcurve for fcurve in bag.fcurves if any(f'"{bone}"' in fcurve.data_path for bone in bones)]
            if len(baked) == len(bag.fcurves):
                rig.animation_data.action = None
                emptied.append(action)
            else:
                for fcurve in baked:
                    bag.fcurves.remove(fcurve)
                action.property_unset("twobone_replaced")  # What the bake has kept goes as well: each one is the first.
        for bone in bones:
            rig.pose.bones[bone].matrix_basis.identity()
    bpy.data.batch_remove(emptied)  # One by one they would take minutes where there are thousands.
    bpy.context.view_layer.update()


def limb_bones(shot):
    """The bones that are baked, by their rigs."""
    found = {}
    for limb in shot.limbs:
        found.setdefault(limb.armature, []).extend([limb.upper, limb.lower])
    return found


def tip_error(shot):
    """Farthest that a tip is from its target, as Blender evaluates the keys, in some frames of the shot."""
    frames = np.unique(np.linspace(1, shot.native_frames or shot.frames, LOOKS).round().astype(int)).tolist()
    present, farthest = bpy.context.scene.frame_current, 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for limb in shot.limbs:
            rig, target = bpy.data.objects[limb.armature], bpy.data.objects[limb.target]
            tip = rig.matrix_world @ rig.pose.bones[limb.lower].tail
            farthest = max(farthest, (tip - target.matrix_world.translation).length)
    bpy.context.scene.frame_set(present)
    return farthest


def bake_native(shot, *, clean_curves=False):
    """Blender's bake of what is selected: what one sees, rotations only."""
    with contextlib.redirect_stdout(None):
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=shot.native_frames or shot.frames,
            only_selected=True,
            visual_keying=True,
            bake_types={"POSE"},
            channel_types={"ROTATION"},
            use_current_action=True,
            clean_curves=clean_curves,
        )


def bake_ours(shot, *, verify):
    """Our bake of all limbs at once."""
    common = BakeSettings(frame_range="CUSTOM", frame_start=1.0, frame_end=float(shot.frames), verify=verify)
    wanted = [
        replace(common, armature=limb.armature, upper=limb.upper, lower=limb.lower, target=limb.target, plane=limb.plane)
        for limb in shot.limbs
    ]
    return run(bpy.context.scene, BAKE, BakeAllSettings(chains=tuple(wanted)))


LOOKS = 11
"""Frames at which the result is looked at."""

THIGH = (
    ("thigh_fk", "shin_fk", "foot_fk", "toe_fk"),
    ("thigh_ik", "MCH-shin_ik", "MCH-thigh_ik_target", "toe_ik"),
    "foot_ik",
)
UPPER_ARM = (
    ("upper_arm_fk", "forearm_fk", "hand_fk"),
    ("upper_arm_ik", "MCH-forearm_ik", "MCH-upper_arm_ik_target"),
    "hand_ik",
)
RIGIFY_LIMBS = {"thigh": THIGH, "upper_arm": UPPER_ARM}
"""For each kind of limb, as in Rigify's own panel: its FK bones, the bones that they are laid onto, and the IK control."""


def prepare_rigify(shot):
    """The IK controls of Rigify's rig keyed at every frame where the targets are."""
    rig = bpy.data.objects[shot.limbs[0].armature]
    bpy.context.view_layer.objects.active = rig
    for limb in shot.limbs:
        kind, side = limb.upper.removesuffix(limb.upper[-2:]).removesuffix("_fk"), limb.upper[-2:]
        control = rig.pose.bones[RIGIFY_LIMBS[kind][2] + side]
        for frame in range(1, shot.frames + 1):
            bpy.context.scene.frame_set(frame)
            place = rig.matrix_world.inverted() @ bpy.data.objects[limb.target].matrix_world.translation
            control.location = control.bone.matrix_local.inverted() @ place
            control.keyframe_insert("location", frame=frame)


def bake_rigify(shot):
    """Rigify's own bake of IK to FK keys, limb after limb, as its panel's button calls it."""
    rig = bpy.data.objects[shot.limbs[0].armature]
    bake_snap = getattr(bpy.ops.pose, f"rigify_generic_snap_bake_{rig.data['rig_id']}")
    for limb in shot.limbs:
        kind, side = limb.upper.removesuffix(limb.upper[-2:]).removesuffix("_fk"), limb.upper[-2:]
        output, source, control = RIGIFY_LIMBS[kind]
        with contextlib.redirect_stdout(None):
            bake_snap(
                output_bones=json.dumps([name + side for name in output]),
                input_bones=json.dumps([name + side for name in source]),
                ctrl_bones=json.dumps([control + side]),
            )
