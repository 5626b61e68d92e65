"""What a bone's rotation channels hold, now and in their keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...rig.bones import RestBone
from ..blender_types import FCurve, Object
from ..lookup import rotation_values
from ..paths import rotation_path
from ..versions import curve_bag
from .reading import any_baked_keys, is_animated

STILL_ZERO = 1e-6
"""Radians below which a channel counts as zero."""


@dataclass(frozen=True, slots=True)
class RotationChannels:
    """The rotation property of one bone."""

    path: str
    values: tuple[float, ...]
    """Now: quaternion, axis-angle, or Euler angles and 0."""
    curves: dict[int, FCurve]
    """Curves of the bone's own action, by channel."""
    opaque: bool
    """Strips or drivers have a say, so keys do not tell all."""

    @property
    def baked(self) -> frozenset[int]:
        """The channels that have baked keys."""
        return frozenset(index for index, fcurve in self.curves.items() if any_baked_keys(fcurve))

    @property
    def animated(self) -> bool:
        """Whether anything moves the rotation."""
        return bool(self.curves) or self.opaque

    def turns_beside(self, channel: int) -> bool:
        """Whether any Euler channel other than this one is, or becomes, anything but zero."""
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
        path, rotation_values(armature.pose.bones[bone.name]), curves, is_animated(armature, path) and not curves
    )


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
