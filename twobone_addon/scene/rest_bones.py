"""Bones at rest, out of armatures."""

from __future__ import annotations

import numpy as np

from ..rig.bones import RestBone
from .blender_types import PoseBone


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
