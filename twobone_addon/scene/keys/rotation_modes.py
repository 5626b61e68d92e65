"""The rotation mode of a bone, changed together with its keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array
from ..blender_types import Object
from ..versions import curve_bag, ensure_curve_bag
from .clearing import remove_curve
from .writing import ChannelKeys, write_keys


def set_rotation_mode(
    armature: Object, bone: str, mode: str, *, value: Array, keys: Sequence[ChannelKeys], types: Array, paths: Sequence[str]
) -> None:
    """Give a bone an Euler rotation mode with the angles `value` `(3,)` and these keys.

    types : (K,) the type of each key; paths : data paths whose curves are replaced
    """
    pose_bone = armature.pose.bones[bone]
    pose_bone.rotation_mode = mode
    pose_bone.rotation_euler = value
    if keys:
        write_keys(ensure_curve_bag(armature), keys, -np.inf, np.inf)
    bag = curve_bag(armature)
    wanted = {(channel.path, channel.index) for channel in keys}
    for fcurve in list(bag.fcurves) if bag else ():
        place = (fcurve.data_path, fcurve.array_index)
        if place in wanted:
            fcurve.keyframe_points.foreach_set("type", types)
        elif fcurve.data_path in paths:
            remove_curve(bag, fcurve)
