"""Rest chains out of armatures."""

from __future__ import annotations

import numpy as np

from ..rig.bones import RestBone, RestChain
from .blender_types import Object, PoseBone
from .chain_finding import ChainNames


def read_rest_chain(armature: Object, names: ChainNames) -> RestChain:
    """The bones from the upper one to the one that carries the tip, at rest, in armature space."""
    bones = armature.pose.bones
    path = bone_path(bones[names.upper], bones[names.tip])
    carrier = path[-1].bone
    tip = np.array([0.0, carrier.length if names.tip_at_tail else 0.0, 0.0])
    turning = (0, [bone.name for bone in path].index(names.lower))
    return RestChain(tuple(_read_bone(bone) for bone in path), turning, tip)


def bone_path(first: PoseBone, last: PoseBone) -> list[PoseBone]:
    """The bones from `first` down to `last`, both included."""
    path = [last]
    while path[-1] != first:
        path.append(path[-1].parent)
    return path[::-1]


def _read_bone(pose_bone: PoseBone) -> RestBone:
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
