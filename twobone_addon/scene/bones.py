"""Records of bones at rest and of chains by name, and data paths of bones' channels and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.rig.bones import RestBone
from ..said import Sentence
from .blender_types import Bone, PoseBone

ESCAPES = str.maketrans({
    "\\": r"\\", '"': r"\"", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\a": r"\a", "\b": r"\b", "\f": r"\f",
})  # fmt: skip
"""Escape sequences that Blender's `BLI_str_escape` writes for characters of names in data paths."""


def escaped(name: str) -> str:
    """A name as quoted in a data path: the same as `bpy.utils.escape_identifier`."""
    return name.translate(ESCAPES)


def rotation_path(bone: RestBone) -> str:
    """Data path of a bone's rotation channel."""
    return _bone_path(bone, rotation_channel(bone.rotation_mode))


def rotation_channel(mode: str) -> str:
    """Name of the rotation channel of a rotation mode; all Euler orders use `rotation_euler`."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def scale_path(bone: RestBone) -> str:
    """Data path of a bone's scale channel."""
    return _bone_path(bone, "scale")


def location_path(bone: RestBone) -> str:
    """Data path of a bone's location channel."""
    return _bone_path(bone, "location")


def _bone_path(bone: RestBone, channel: str) -> str:
    return f'pose.bones["{escaped(bone.name)}"].{channel}'


def constraint_path(bone: str, constraint: str) -> str:
    """Data path of a bone's constraint."""
    return f'pose.bones["{escaped(bone)}"].constraints["{escaped(constraint)}"]'


def bones_below(bone: Bone) -> list[Bone]:
    """All bones below one, parents first; `children_recursive` looks through all bones of the armature for that."""
    below = [bone]
    for child in below:
        below.extend(child.children)
    return below[1:]


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


def rest_numbers(pose_bone: PoseBone) -> tuple[Any, ...]:
    """All that `read_rest_bone` reads, as plain values."""
    bone = pose_bone.bone
    return (
        *(bone.name, bone.length, pose_bone.rotation_mode, bone.inherit_scale),
        *(bone.use_inherit_rotation, bone.use_local_location, bone.use_connect),
        *(matrix_numbers(owner.matrix_local) for owner in (bone, bone.parent) if owner),
    )


def matrix_numbers(matrix: Any) -> tuple[float, ...]:
    """The numbers of a matrix, row by row; comparing matrices themselves would overlook their last bits."""
    first, second, third, fourth = matrix
    return first[:] + second[:] + third[:] + fourth[:]  # a slice is read at once, an iteration number by number


@dataclass(frozen=True, slots=True)
class ChainNames:
    """A chain by the names of its bones."""

    armature: str
    upper: str
    lower: str
    tip: str
    """Bone with the tip at rest: the lower bone itself, one below it, or a foot that is parented elsewhere."""
    tip_at_tail: bool
    """Whether the tip is that bone's tail; else its head."""


@dataclass(frozen=True, slots=True)
class TwoBoneIk:
    """An IK constraint over two links."""

    names: ChainNames
    bone: str
    """Bone that carries the constraint."""
    constraint: str
    target: str
    target_bone: str

    @property
    def path(self) -> str:
        """Data path of the constraint."""
        return constraint_path(self.bone, self.constraint)


def ik_constraint(constraint: str, bone: str) -> Sentence:
    """An IK constraint as part of a sentence."""
    return Sentence('IK constraint "{constraint}" of bone "{bone}"', {"constraint": constraint, "bone": bone})
