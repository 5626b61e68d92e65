"""Targets that are in reach whatever moves and scales the limb."""

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import FRAMES, add_empty, key_places


def circling_target(armature, limb, *, plane="YZ", plane_space="ARMATURE", frames=FRAMES, part=(0.1, 0.9), name="Target"):
    """An empty that goes once round the root joint, near and far in turn, and on both sides of the plane.

    Its distance is between two parts of the way from folded to straight, as the limb's links are seen in the plane when
    its bones have no rotation of their own; that is what a bone keeps while it turns about the plane's normal, as long
    as nothing scales it unevenly.
    """
    with without_rotations(armature, limb):
        limb_now = evaluate(armature, limb, range(frames[0], frames[1] + 1), plane=plane, plane_space=plane_space)
    lengths = np.linalg.norm(limb_now.links_plane, axis=-1)
    folded, straight = np.abs(lengths[:, 0] - lengths[:, 1]), lengths.sum(axis=-1)
    angle = 0.1 + 2 * np.pi * np.arange(len(lengths)) / len(lengths)
    amount = part[0] + (part[1] - part[0]) * 0.5 * (1 - np.cos(3 * angle))
    distance = folded + (straight - folded) * amount
    around = np.stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(2 * angle)], axis=-1) * distance[:, None]
    places = limb_now.joints[:, 0] + np.einsum("fij,fj->fi", limb_now.plane, around)
    target = add_empty(name)
    key_places(target, in_world(limb_now.worlds, places), frames[0])
    bpy.context.scene.frame_set(frames[0])
    return target


def in_world(worlds, places):
    return np.einsum("fij,fj->fi", worlds[:, :3, :3], places) + worlds[:, :3, 3]


class without_rotations:  # noqa: N801 - used as a word, in a with statement
    """The limb's two bones without rotation, their curves muted, while a block runs."""

    def __init__(self, armature, limb):
        self.bones = [armature.pose.bones[limb.upper], armature.pose.bones[limb.lower]]
        self.curves = [fcurve for fcurve in curves_of(armature) if "rotation" in fcurve.data_path]

    def __enter__(self):
        self.kept = [bone.matrix_basis.copy() for bone in self.bones]
        self.muted = [fcurve.mute for fcurve in self.curves]
        for fcurve in self.curves:
            fcurve.mute = any(f'"{bone.name}"' in fcurve.data_path for bone in self.bones)
        for bone in self.bones:
            bone.rotation_quaternion = (1, 0, 0, 0)
            bone.rotation_euler = (0, 0, 0)
            bone.rotation_axis_angle = (0, 0, 1, 0)

    def __exit__(self, *_):
        for fcurve, mute in zip(self.curves, self.muted, strict=True):
            fcurve.mute = mute
        for bone, basis in zip(self.bones, self.kept, strict=True):
            bone.matrix_basis = basis


def curves_of(thing):
    """All F-curves of the datablock's own action and slot, in every version of Blender."""
    data = thing.animation_data
    if data is None or data.action is None:
        return []
    if not hasattr(data.action, "layers"):
        return list(data.action.fcurves)
    bags = [strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips if data.action_slot]
    return [fcurve for bag in bags if bag for fcurve in bag.fcurves]


def posed_target(armature, limb, *, plane="YZ", plane_space="ARMATURE", bend="POSITIVE", frames=(1, 12), name="Target"):
    """An empty that is where the tip can be, whatever scales and shears the limb: the limb is posed there, and measured.

    Both bones, in quaternion mode, without keys and without rotation, are turned so that nothing leaves its depth, the
    lower one to the wanted side. Leaves the limb unposed.
    """
    where = {"plane": plane, "plane_space": plane_space}
    places, count = [], frames[1] - frames[0] + 1
    for index, frame in enumerate(range(frames[0], frames[1] + 1)):
        around = 0.1 + 2 * np.pi * index / count
        _turn(armature, limb, limb.upper, around, frame, **where)
        fold = 0.4 + 2.3 * ((index * 5) % count) / count
        # Uneven scale moves the fold at which the limb is straight, so not every one is to the wanted side.
        for tried in (fold, -fold, 0.6 * fold, -0.6 * fold, np.pi - fold):
            _turn(armature, limb, limb.lower, tried, frame, **where)
            posed = evaluate(armature, limb, [frame], **where)
            if (posed.seen_bends[0] > 0) == (bend == "POSITIVE"):
                break
        else:
            raise LookupError(f"no pose with this bend found at frame {frame}")
        aside = 0.2 * np.sin(3 * around) * posed.plane[:, :, 2]
        places.append(in_world(posed.worlds, posed.joints[:, 2] + aside)[0])
    for bone in (limb.upper, limb.lower):
        armature.pose.bones[bone].rotation_quaternion = (1, 0, 0, 0)
    target = add_empty(name)
    key_places(target, places, frames[0])
    bpy.context.scene.frame_set(frames[0])
    return target


def _turn(armature, limb, name, angle, frame, **where):
    """Turn one bone from no rotation, about the axis that the plane's normal is before what the bone inherits."""
    bone = armature.pose.bones[name]
    normal = evaluate(armature, limb, [frame], **where).plane[0, :, 2]
    inherited = np.array(_unrotated(bone).to_3x3())
    if bone.bone.inherit_scale == "ALIGNED":  # the parent's scale comes after the bone's own rotation
        inherited = inherited / np.linalg.norm(inherited, axis=0)
    bone.rotation_quaternion = Quaternion(inherited.T @ normal, angle)


def _unrotated(bone):
    """Posed matrix of the bone without channels of its own, under its posed parent; Blender's own arithmetic."""
    rest, parent = bone.bone.matrix_local, bone.parent
    above = {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local} if parent else {}
    return bone.bone.convert_local_to_pose(Matrix.Identity(4), rest, **above)
