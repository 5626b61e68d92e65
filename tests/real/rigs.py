"""Rigs made by others, with their own motion: how to open each, and its limbs."""

from dataclasses import dataclass

import bpy
import numpy as np

from tests.tasks.checks.measuring import LETTER_AXES
from tests.tasks.scenes import Limb


@dataclass(frozen=True)
class RealLimb:
    file: str
    upper: str
    lower: str
    end: str
    """Bone whose head is the tip."""
    frames: tuple
    action: str = ""
    """Part of the name of the action to play; empty for the one that is active after opening."""

    def __str__(self):
        return f"{self.file} {self.action} {self.upper}".replace("  ", " ")


WALK, RUN, FOX, KAYKIT = "cmu_02_01_walk.bvh", "ozz_pab_run.fbx", "Fox.glb", "kaykit_Med_MovementBasic.glb"
SCALED = "vrm_armature_transform.blend"

WALKING_LIMBS = (
    RealLimb(WALK, "LeftUpLeg", "LeftLeg", "LeftFoot", (1, 343)),
    RealLimb(WALK, "RightUpLeg", "RightLeg", "RightFoot", (1, 343)),
    RealLimb(WALK, "LeftArm", "LeftForeArm", "LeftHand", (1, 343)),
    RealLimb(WALK, "RightArm", "RightForeArm", "RightHand", (1, 343)),
)

LIMBS = (
    WALKING_LIMBS[0],
    WALKING_LIMBS[3],
    RealLimb(KAYKIT, "upperleg.l", "lowerleg.l", "foot.l", (1, 20), "Running_A"),
    RealLimb(KAYKIT, "upperleg.l", "lowerleg.l", "foot.l", (1, 25), "Walking_A"),
    RealLimb(KAYKIT, "upperarm.r", "lowerarm.r", "wrist.r", (1, 56), "Jump_Full_Long"),
    RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (0, 17), "Walk"),
    RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (0, 27), "Run"),
    RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (0, 82), "Survey"),
    RealLimb(RUN, "LeftUpLeg", "LeftLeg", "LeftFoot", (1, 21)),
    RealLimb(RUN, "RightArm", "RightForeArm", "RightHand", (1, 21)),
    RealLimb(SCALED, "upper_leg.L", "lower_leg.L", "foot.L", (1, 24)),
    RealLimb(SCALED, "upper_arm.R", "lower_arm.R", "hand.R", (1, 24)),
)


def open_rig(folder, real):
    """Open the file with nothing else in it; returns armature and limb, the scene's range on the limb's frames."""
    path = str(folder / real.file)
    if path.endswith(".bvh"):
        bpy.ops.import_anim.bvh(filepath=path)
    elif path.endswith(".glb"):
        bpy.ops.import_scene.gltf(filepath=path)
    elif path.endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=path)
    else:
        bpy.ops.wm.open_mainfile(filepath=path)
    armature = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    if real.action:
        _play(armature, real.action)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = real.frames
    return armature, Limb(armature.name, real.upper, real.lower, carrier=real.end, at_tail=False)


def plane_that_shows(armature, limb):
    """The letter plane that sees most of the limb at rest."""
    bones = armature.data.bones
    joints = np.array([bones[name].head_local for name in (limb.upper, limb.lower, limb.carrier)])
    links = np.diff(joints, axis=0)
    return max(LETTER_AXES, key=lambda letters: min(np.linalg.norm(links[:, LETTER_AXES[letters]], axis=1)))


def _play(armature, part):
    action = next(action for action in bpy.data.actions if part in action.name)
    data = armature.animation_data
    data.action = action
    if hasattr(action, "slots"):
        data.action_slot = action.slots[0]
