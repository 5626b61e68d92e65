"""The limbs of a recorded walk (CMU 02_01), where its file is at hand beside the repository; needs bpy."""

from pathlib import Path

import bpy
import numpy as np
import pytest

WALK = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "cmu_02_01_walk.bvh"
LIMBS = (("LeftUpLeg", "LeftLeg"), ("RightUpLeg", "RightLeg"), ("LeftArm", "LeftForeArm"), ("RightArm", "RightForeArm"))

needs_walk = pytest.mark.skipif(not WALK.exists(), reason=f"the mocap file ../shared/data/{WALK.name} is not there")


def walk_limbs():
    """For each limb, seen from the side: its two angles (F, 2) at every frame and its lengths (2,)."""
    bpy.ops.import_anim.bvh(filepath=str(WALK))
    armature = bpy.context.object
    try:
        return [_side_view(joints) for joints in _joints(armature)]
    finally:
        action, data = armature.animation_data.action, armature.data
        bpy.data.objects.remove(armature)
        bpy.data.armatures.remove(data)
        bpy.data.actions.remove(action)


def _joints(armature):
    first, last = armature.animation_data.action.frame_range
    bones = [(armature.pose.bones[upper], armature.pose.bones[lower]) for upper, lower in LIMBS]
    joints = []
    for frame in range(int(first), int(last) + 1):
        bpy.context.scene.frame_set(frame)
        joints.append([[upper.head[:], lower.head[:], lower.children[0].head[:]] for upper, lower in bones])
    return np.swapaxes(np.array(joints), 0, 1)


def _side_view(joints):
    links = np.diff(joints, axis=1)
    up = np.eye(3)[np.argmax(np.abs(links.sum(axis=(0, 1))))]
    forward = joints[-1, 0] - joints[0, 0]
    forward = forward - up * (forward @ up)
    forward /= np.linalg.norm(forward)
    directions = np.unwrap(np.arctan2(links @ up, links @ forward), axis=0)
    angles = np.stack([directions[:, 0], directions[:, 1] - directions[:, 0]], axis=-1)
    return angles, np.linalg.norm(links, axis=-1).mean(axis=0)
