"""Data paths to the channels of bones, out of names alone."""

from __future__ import annotations

from ..rig.bones import RestBone

ROTATION_CHANNELS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Channel of each rotation mode; all Euler orders use `rotation_euler`."""

ESCAPES = str.maketrans({
    "\\": r"\\", '"': r"\"", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\a": r"\a", "\b": r"\b", "\f": r"\f",
})  # fmt: skip
"""What Blender's `BLI_str_escape` writes in a data path for what a name may hold."""


def escaped(name: str) -> str:
    """A name as it stands between quotes in a data path: the same as `bpy.utils.escape_identifier`."""
    return name.translate(ESCAPES)


def rotation_path(bone: RestBone) -> str:
    """Data path of a bone's rotation channel."""
    return _bone_path(bone, rotation_channel(bone.rotation_mode))


def rotation_channel(mode: str) -> str:
    """Name of the rotation channel of a rotation mode."""
    return ROTATION_CHANNELS.get(mode, "rotation_euler")


def scale_path(bone: RestBone) -> str:
    """Data path of a bone's scale channel."""
    return _bone_path(bone, "scale")


def location_path(bone: RestBone) -> str:
    """Data path of the bone's location."""
    return _bone_path(bone, "location")


def _bone_path(bone: RestBone, channel: str) -> str:
    return f'pose.bones["{escaped(bone.name)}"].{channel}'


def constraint_path(bone: str, constraint: str) -> str:
    """Data path of a bone's constraint."""
    return f'pose.bones["{escaped(bone)}"].constraints["{escaped(constraint)}"]'
