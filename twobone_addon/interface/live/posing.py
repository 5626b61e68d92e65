"""Rotation and scale channels of pose bones: read, set without keys, and auto-keyed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import bpy

from ...scene.lookup import rotation_values

if TYPE_CHECKING:
    from ...pipeline.plan.planning import ChainPlan
    from ...pipeline.pose.present import ChannelValue

SAME = 1e-6
"""Difference in a channel up to which it counts as unchanged: single-precision noise, which must not trigger updates again."""

Channels = dict[str, tuple[float, ...]]
"""Rotation (4 values) and scale (3 values) by bone."""


def read_channels(armature: bpy.types.Object, bones: Iterable[str]) -> Channels:
    """Return the present values of the bones' channels."""
    pose = armature.pose.bones
    return {name: (*rotation_values(pose[name]), *pose[name].scale) for name in bones}


def write_channels(armature: bpy.types.Object, channels: Channels) -> None:
    """Set rotation and scale of the bones."""
    from ...scene.bones import rotation_channel

    for name, values in channels.items():
        bone = armature.pose.bones.get(name)
        if bone is None:  # It was renamed or removed meanwhile.
            continue
        channel = rotation_channel(bone.rotation_mode)
        width = 3 if channel == "rotation_euler" else 4
        setattr(bone, channel, values[:width])
        bone.scale = values[4:]


def is_there(scene: bpy.types.Scene, plan: "ChainPlan") -> bool:
    """Whether all that a plan reads is still in the scene: from another window, much can happen while a limb is dragged."""
    from ...pipeline.motion.plan_motion import motion_quantities

    for quantity in motion_quantities(plan):
        thing = scene.objects.get(quantity.object)
        if thing is None or thing.mode == "EDIT" or (quantity.bone and quantity.bone not in thing.pose.bones):
            return False
    return True


def put_values(armature: bpy.types.Object, values: "list[ChannelValue]") -> None:
    """Set the channels that differ."""
    for value in values:
        channel = getattr(armature.pose.bones[value.bone], value.channel)
        if abs(channel[value.index] - value.value) > SAME:
            channel[value.index] = value.value


def key_if_automatic(context: bpy.types.Context, armature: bpy.types.Object, values: "list[ChannelValue]") -> None:
    """Key the channels at the present frame if auto-keying is on, with the user's options."""
    tools, edit = context.scene.tool_settings, context.preferences.edit
    if not tools.use_keyframe_insert_auto:
        return
    chosen = {
        "INSERTKEY_REPLACE": tools.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_CYCLE_AWARE": tools.use_keyframe_cycle_aware,
        "INSERTKEY_NEEDED": edit.use_auto_keyframe_insert_needed,
        "INSERTKEY_AVAILABLE": edit.use_keyframe_insert_available,
    }
    options = {option for option, on in chosen.items() if on}
    for name, channel in sorted({(value.bone, value.channel) for value in values}):
        armature.pose.bones[name].keyframe_insert(channel, group=name, options=options, keytype=tools.keyframe_type)
