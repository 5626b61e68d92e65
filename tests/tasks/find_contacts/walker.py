"""A character whose feet move as a gait of known contacts says: each foot is keyed where it is to be."""

import bpy
import numpy as np
from mathutils import Matrix

from tests.core.contacts.gait import FOOT, WALK, feet_of

ANKLE = 0.1
"""Height of the ankle over the sole, leg lengths."""
SIDES = {"left": 0, "right": 1}


def make_walker(gait=WALK, *, rate=30, seconds=3.0, leg_length=0.9, feet=None):
    """A rig with two stored legs in the present scene, whose range and frame rate are those of the motion; and its feet."""
    feet = feet or feet_of(gait, rate=rate, seconds=seconds, leg_length=leg_length)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = rate, 1.0
    scene.frame_start, scene.frame_end = 1, feet.points.shape[-2]
    walker = new_rig(leg_length)
    for name, side in SIDES.items():
        key_foot(walker, name, feet, side, leg_length)
    key_hips(walker, feet)
    for name in SIDES:
        chain = walker.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip = f"{name} leg", f"{name} thigh", f"{name} shin", f"{name} foot"
        chain.limb, chain.side, chain.toe, chain.tip_end = "LEG", name.upper(), f"{name} toe", "HEAD"
    return walker, feet


def new_rig(length):
    walker = bpy.data.objects.new("Walker", bpy.data.armatures.new("Walker"))
    bpy.context.scene.collection.objects.link(walker)
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")
    hips = new_bone(walker, "hips", None, ((0, 0, 1), (0, 0, 1.2)), length)
    for name, side in SIDES.items():
        x = 0.1 - 0.2 * side
        thigh = new_bone(walker, f"{name} thigh", hips, ((x, 0, 1 + ANKLE), (x, 0.05, 0.5 + ANKLE)), length)
        shin = new_bone(walker, f"{name} shin", thigh, ((x, 0.05, 0.5 + ANKLE), (x, 0, ANKLE)), length)
        foot = new_bone(walker, f"{name} foot", shin, ((x, 0, ANKLE), (x, FOOT, 0)), length)
        new_bone(walker, f"{name} toe", foot, ((x, FOOT, 0), (x, FOOT + 0.08, 0)), length)
    bpy.ops.object.mode_set(mode="OBJECT")
    return walker


def new_bone(walker, name, parent, ends, length):
    bone = walker.data.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = np.array(ends[0]) * length, np.array(ends[1]) * length, parent
    return bone


def key_foot(walker, name, feet, side, length):
    """Location and rotation of a foot whose heel and ball are where they are to be."""
    bone = walker.pose.bones[f"{name} foot"]
    rest = np.array(bone.bone.matrix_local)
    heel_rest = np.array([rest[0, 3], 0.0, 0.0])
    for index, (heel, ball, hip) in enumerate(zip(*feet.points[side], feet.hips[0], strict=True)):
        along = ball - heel
        pitch = np.arctan2(along[2], along[1])
        turn = np.array(Matrix.Rotation(pitch, 4, "X"))
        moved = np.eye(4)
        moved[:3, :3] = turn[:3, :3]
        moved[:3, 3] = heel - turn[:3, :3] @ heel_rest
        carried = np.eye(4)
        carried[:3, 3] = hips_move(hip, length)
        basis = Matrix(np.linalg.inv(carried @ rest) @ moved @ rest)
        bone.location, bone.rotation_quaternion = basis.to_translation(), basis.to_quaternion()
        for channel in ("location", "rotation_quaternion"):
            bone.keyframe_insert(channel, frame=index + 1)


def hips_move(hip, length):
    return np.array([0.0, hip[1], hip[2] - length])


def key_hips(walker, feet):
    bone = walker.pose.bones["hips"]
    rest = np.array(bone.bone.matrix_local)[:3, :3]
    length = feet.leg_length
    for index, hip in enumerate(feet.hips[0]):
        bone.location = rest.T @ hips_move(hip, length)
        bone.keyframe_insert("location", frame=index + 1)


def evaluated_contact(walker, chain, frames):
    """What Blender makes of the keyed property at these frames."""
    scene, found = bpy.context.scene, []
    for frame in frames:
        scene.frame_set(int(frame))
        found.append(["NONE", "HEEL", "BALL", "BOTH"].index(walker.twobone.chains[chain].contact))
    return np.array(found)
