"""A leg that may be live: its handlers, its channels."""

import bpy
import numpy as np

from twobone_addon.interface.live import following as live

HANDLERS = (
    "depsgraph_update_pre",
    "depsgraph_update_post",
    "frame_change_pre",
    "frame_change_post",
    "render_init",
    "load_pre",
)


def handlers():
    lists = {name: getattr(bpy.app.handlers, name) for name in HANDLERS}
    return {name: [function for function in found if function.__module__ == live.__name__] for name, found in lists.items()}


def go_live():
    bpy.ops.twobone.live(state="ON")


def channels(rig):
    return {name: (*rig.pose.bones[name].rotation_quaternion, *rig.pose.bones[name].scale) for name in ("upper", "lower")}


def close(first, second):
    return all(
        min(np.abs(np.subtract(first[name], second[name])).max(), np.abs(np.add(first[name], second[name])).max()) < 1e-5
        for name in first
    )
