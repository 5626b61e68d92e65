"""What keys there are already: ranges, and the values just outside one."""

from __future__ import annotations

import bpy

from .blender_types import FCurve, Object
from .versions import curve_bag
from .writing import NEAR_FRAME

MOTION = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


def motion_curves(thing: Object, bone: str = "") -> list[FCurve]:
    """The F-curves that move an object, or a bone of it, themselves."""
    bag = curve_bag(thing)
    prefix = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].' if bone else ""
    paths = {prefix + channel for channel in (*MOTION, "delta_location", "delta_rotation_euler", "delta_scale")}
    return [fcurve for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path in paths]


def key_range(thing: Object, bone: str = "") -> tuple[float, float] | None:
    """Frames of the first and last key that move an object or bone; `None` without keys."""
    curves = [fcurve for fcurve in motion_curves(thing, bone) if fcurve.keyframe_points]
    if not curves:
        return None
    return (
        min(fcurve.keyframe_points[0].co[0] for fcurve in curves),
        max(fcurve.keyframe_points[-1].co[0] for fcurve in curves),
    )


def surroundings(
    thing: Object, path: str, index: int, start: float, end: float
) -> tuple[float | None, float | None]:
    """Values of the last key before and the first key after a range; `None` where there is none."""
    bag = curve_bag(thing)
    fcurve = bag.fcurves.find(path, index=index) if bag else None
    if fcurve is None:
        return None, None
    before = [key.co[1] for key in fcurve.keyframe_points if key.co[0] < start - NEAR_FRAME]
    after = [key.co[1] for key in fcurve.keyframe_points if key.co[0] > end + NEAR_FRAME]
    return (before[-1] if before else None), (after[0] if after else None)


def is_animated(thing: Object, path: str) -> bool:
    """Whether curves, strips or a driver may move the property at a data path."""
    data = thing.animation_data
    if data is None:
        return False
    bag = curve_bag(thing)
    curves = [*(bag.fcurves if bag else ()), *data.drivers]
    return bool(data.nla_tracks) or any(fcurve.data_path == path for fcurve in curves)
