"""Keys written to a real F-curve and read back; needs bpy."""

import contextlib

import bpy
import numpy as np

from twobone_addon.core.curves.bezier import Keys

FREE, BEZIER = 0, 2
"""Blender's numbers of a handle's type and of an interpolation."""


@contextlib.contextmanager
def written_curves(curves):
    """F-curves of a new action that carry the keys, on custom properties of a new object; removed afterwards."""
    owner = bpy.data.objects.new("Curve test", None)
    action = bpy.data.actions.new("Curve test")
    owner.animation_data_create().action = action
    try:
        yield [_written(owner, action, index, keys) for index, keys in enumerate(curves)]
    finally:
        bpy.data.objects.remove(owner)
        bpy.data.actions.remove(action)


@contextlib.contextmanager
def written_curve(keys):
    with written_curves([keys]) as (fcurve,):
        yield fcurve


def _written(owner, action, index, keys):
    owner[f"channel {index}"] = 0.0
    path = f'["channel {index}"]'
    make = getattr(action, "fcurve_ensure_for_datablock", None)
    fcurve = make(owner, path) if make else action.fcurves.new(path)
    points, count = fcurve.keyframe_points, len(keys.frames)
    points.add(count)
    points.foreach_set("co", np.stack([keys.frames, keys.values], axis=-1).astype(np.float32).ravel())
    for attribute in ("handle_left_type", "handle_right_type"):
        points.foreach_set(attribute, [FREE] * count)
    points.foreach_set("handle_left", keys.left.astype(np.float32).ravel())
    points.foreach_set("handle_right", keys.right.astype(np.float32).ravel())
    points.foreach_set("interpolation", [BEZIER] * count)
    fcurve.update()
    return fcurve


def read_keys(fcurve):
    """The keys as Blender stores them."""

    def read(attribute):
        flat = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
        fcurve.keyframe_points.foreach_get(attribute, flat)
        return flat.reshape(-1, 2).astype(float)

    points = read("co")
    return Keys(points[:, 0], points[:, 1], read("handle_left"), read("handle_right"))


def evaluated(fcurves, frames):
    """Blender's own values (F, K) of the curves."""
    return np.array([[fcurve.evaluate(frame) for fcurve in fcurves] for frame in frames])
