"""Rest chains out of armatures."""

from __future__ import annotations

import numpy as np

from ..rig.bones import RestBone, RestChain
from .blender_types import Object, PoseBone
from .chain_finding import COINCIDENT, ChainNames


def read_rest_chain(armature: Object, names: ChainNames, *, all_joints: bool) -> RestChain:
    """The bones from the upper one to the one that carries the tip, at rest, in armature space.

    `all_joints`: every bone from the upper to the lower one turns; else only these two.
    """
    bones = armature.pose.bones
    path = bone_path(bones[names.upper], bones[names.tip])
    carrier = path[-1].bone
    tip = np.array([0.0, carrier.length if names.tip_at_tail else 0.0, 0.0])
    lower = [bone.name for bone in path].index(names.lower)
    turning = tuple(range(lower + 1)) if all_joints else (0, lower)
    return RestChain(tuple(read_rest_bone(bone) for bone in path), turning, tip)


def bone_path(first: PoseBone, last: PoseBone) -> list[PoseBone]:
    """The bones from `first` down to `last`, both included."""
    path = [last]
    while path[-1] != first:
        path.append(path[-1].parent)
    return path[::-1]


def starts_at_tail(child: PoseBone) -> bool:
    """Whether a bone's head is its parent's tail."""
    gap = (child.bone.head_local - child.parent.bone.tail_local).length
    return gap <= COINCIDENT * child.parent.bone.length


def read_rest_bone(pose_bone: PoseBone) -> RestBone:
    """One bone at rest."""
    bone = pose_bone.bone
    return RestBone(
        name=bone.name,
        rest=np.array(bone.matrix_local),
        parent_rest=np.array(bone.parent.matrix_local) if bone.parent else None,
        length=bone.length,
        rotation_mode=pose_bone.rotation_mode,
        inherit_scale=bone.inherit_scale,
        inherit_rotation=bone.use_inherit_rotation,
        local_location=bone.use_local_location,
        connected=bone.use_connect,
    )
