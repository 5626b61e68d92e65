"""Read poses from an action's F-curves, whether or not the armature plays it."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.rig.inheritance import BoneLink, ChannelValues, posed_bone
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, PoseBone
from ...scene.bones import read_rest_bone, rotation_channel

DEFAULTS = {
    "location": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0, 0.0),
}
"""Values at rest of each channel; three Euler angles are followed by a 0, as `ChannelValues` has them."""


def read_poses(armature: Object, own: OwnAction, count: int) -> Array:
    """Heads and tails `(P, B, 2, 3)` of all bones in up to `count` poses spread over an action, armature space.

    What no curve moves is at rest; constraints and drivers are not asked. Empty where the action has no curves.
    """
    bones, bag = armature.data.bones, own.bag
    if bag is None or not len(bag.fcurves) or not len(bones):
        return np.empty((0, len(bones), 2, 3))
    first, last = own.action.frame_range
    # The ends of a cycle are one pose: the middles of equal parts differ.
    times = np.unique(first + (last - first) * (np.arange(count) + 0.5) / count)
    curves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in bag.fcurves}

    def values(bone: PoseBone, channel: str) -> Array:
        rows = np.repeat(np.array([DEFAULTS[channel]]), len(times), axis=0)
        for index in range(rows.shape[1]):
            fcurve = curves.get((f"{bone.path_from_id()}.{channel}", index))
            if fcurve is not None:
                rows[:, index] = [fcurve.evaluate(time) for time in times]
        return rows

    posed: dict[str, Array] = {}
    places = np.empty((len(times), len(bones), 2, 3))
    for number, bone in enumerate(armature.pose.bones):  # parents come before their children
        channels = ChannelValues(
            values(bone, "location"), values(bone, rotation_channel(bone.rotation_mode)), values(bone, "scale")
        )
        pose = posed_bone(BoneLink(read_rest_bone(bone), channels), posed[bone.parent.name] if bone.parent else None)
        posed[bone.name] = pose
        places[:, number, 0] = pose[:, :3, 3]
        places[:, number, 1] = pose[:, :3, 3] + bone.bone.length * pose[:, :3, 1]
    return places
