"""Read a bone's rotation channels, present values and keys, and change its rotation mode together with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.rig.bones import RestBone
from ...core.rig.channels import STILL_ZERO
from ...records import replace
from ..blender_types import FCurve, Object
from ..bones import rotation_path
from ..lookup import rotation_values
from ..versions import curve_bag, ensure_curve_bag
from ..writer import assign, drop_curve, keep
from .ledger import baked_channels
from .reading import is_animated
from .writing import ChannelKeys, write_keys

ROTATIONS = ("rotation_quaternion", "rotation_axis_angle", "rotation_euler")


@dataclass(frozen=True, slots=True)
class RotationChannels:
    """The rotation property of one bone."""

    path: str
    values: tuple[float, ...]
    """Present values: quaternion, axis-angle, or Euler angles and 0."""
    curves: dict[int, FCurve]
    """Curves of the present action, by channel index."""
    opaque: bool
    """Whether strips or drivers, but no curves of the action, animate the rotation, so that keys do not tell its values."""
    baked: frozenset[int]
    """Indices of the channels with baked keys."""

    @property
    def animated(self) -> bool:
        """Whether anything animates the rotation."""
        return bool(self.curves) or self.opaque

    def turns_beside(self, channel: int) -> bool:
        """Whether any Euler channel other than this one is, or becomes, nonzero."""
        others = [index for index in range(3) if index != channel]
        return self.opaque or any(
            _leaves_zero(self.curves[index]) if index in self.curves else abs(self.values[index]) > STILL_ZERO for index in others
        )


def read_rotation_channels(armature: Object, bone: RestBone) -> RotationChannels:
    """The channels of the bone's present rotation mode."""
    path = rotation_path(bone)
    bag = curve_bag(armature)
    curves = {fcurve.array_index: fcurve for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path == path}
    return RotationChannels(
        path,
        rotation_values(armature.pose.bones[bone.name]),
        curves,
        opaque=is_animated(armature, path) and not curves,
        baked=frozenset(index for _, index in baked_channels(armature, {path})) if curves else frozenset(),
    )


def set_rotation_mode(
    armature: Object, bone: str, mode: str, *, value: Array, keys: Sequence[ChannelKeys], types: Array, paths: Sequence[str]
) -> None:
    """Give a bone an Euler rotation mode with the angles `value` `(3,)` and these keys.

    types : (K,) type of each key
    paths : data paths whose curves are replaced
    """
    pose_bone = armature.pose.bones[bone]
    for channel in ROTATIONS:  # Blender converts all of them when the mode changes.
        keep(pose_bone, channel)
    assign(pose_bone, "rotation_mode", mode)
    assign(pose_bone, "rotation_euler", value)
    if keys:
        write_keys(ensure_curve_bag(armature), keys, -np.inf, np.inf)
    bag = curve_bag(armature)
    keyed = {(channel.path, channel.index) for channel in keys}
    for fcurve in list(bag.fcurves) if bag else ():
        place = (fcurve.data_path, fcurve.array_index)
        if place in keyed:
            fcurve.keyframe_points.foreach_set("type", types)
        elif fcurve.data_path in paths:
            drop_curve(bag, fcurve)


def euler_path(bone: RestBone) -> str:
    """Data path of the bone's Euler angles, whatever its rotation mode."""
    return rotation_path(replace(bone, rotation_mode="XYZ"))


def _leaves_zero(fcurve: FCurve) -> bool:
    if fcurve.sampled_points or fcurve.modifiers:
        return True
    # Handles of a flat curve are flat as well, unless somebody has pulled them.
    return any(
        abs(place.y) > STILL_ZERO for key in fcurve.keyframe_points for place in (key.co, key.handle_left, key.handle_right)
    )
