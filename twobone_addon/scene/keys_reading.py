"""What keys there are already: ranges, and the values just outside one."""

from __future__ import annotations

import bpy
import numpy as np

from ..array_types import Array
from ..curves.frames import FRAME_DECIMALS
from .blender_types import FCurve, Object
from .key_tables import KEY_GENERATED, NEAR_FRAME, KeyTable, read_keys
from .versions import curve_bag

MOTION = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


def motion_curves(thing: Object, bone: str = "") -> list[FCurve]:
    """The F-curves that move an object, or a bone of it, themselves."""
    bag = curve_bag(thing)
    prefix = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].' if bone else ""
    paths = {prefix + channel for channel in (*MOTION, "delta_location", "delta_rotation_euler", "delta_scale")}
    return [fcurve for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path in paths]


def key_frames(thing: Object, bone: str = "") -> Array:
    """Frames `(K,)`, ascending, of all keys that move an object or bone; empty without keys."""
    frames = [read_frames(fcurve) for fcurve in motion_curves(thing, bone)]
    return np.unique(np.concatenate(frames)) if frames else np.empty(0)


def read_frames(fcurve: FCurve) -> Array:
    """Frames `(K,)` of a curve's keys."""
    places = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
    fcurve.keyframe_points.foreach_get("co", places)
    # Single precision holds 0.8 as 0.800000012; six decimals are what was meant.
    return np.round(places[::2].astype(float), FRAME_DECIMALS)


def surroundings(thing: Object, path: str, index: int, start: float, end: float) -> tuple[float | None, float | None]:
    """Values of the last key before and the first key after a range; `None` where there is none."""
    fcurve = _find(thing, path, index)
    if fcurve is None:
        return None, None
    points = fcurve.keyframe_points
    frames = read_frames(fcurve)
    before, after = np.flatnonzero(frames < start - NEAR_FRAME), np.flatnonzero(frames > end + NEAR_FRAME)
    return (
        points[before[-1]].co[1] if len(before) else None,
        points[after[0]].co[1] if len(after) else None,
    )


def baked_channels(thing: Object, path: str) -> frozenset[int]:
    """Which of the first three channels of a property have baked keys."""
    curves = {index: _find(thing, path, index) for index in range(3)}
    return frozenset(index for index, fcurve in curves.items() if fcurve is not None and any_baked_keys(fcurve))


def any_baked_keys(fcurve: FCurve) -> bool:
    """Whether any key of a curve is baked."""
    types = np.empty(len(fcurve.keyframe_points), dtype=np.int32)
    fcurve.keyframe_points.foreach_get("type", types)
    return bool(np.any(types == KEY_GENERATED))


def key_table(thing: Object, path: str, index: int) -> KeyTable | None:
    """All that the keys of a channel hold; `None` where it has no curve with keys."""
    fcurve = _find(thing, path, index)
    return read_keys(fcurve) if fcurve is not None and fcurve.keyframe_points else None


def value_at(thing: Object, path: str, index: int, frame: float) -> float:
    """What the curve of a channel, which is known to be there, says at a frame."""
    return _find(thing, path, index).evaluate(frame)


def _find(thing: Object, path: str, index: int) -> FCurve | None:
    bag = curve_bag(thing)
    return bag.fcurves.find(path, index=index) if bag else None


def is_animated(thing: Object, path: str) -> bool:
    """Whether curves, strips or a driver may move the property at a data path."""
    data = thing.animation_data
    return data is not None and (bool(data.nla_tracks) or bool(moving_curves(thing, path)))


def moving_curves(thing: Object, path: str) -> list[FCurve]:
    """The F-curves of the present action, and the drivers, of the property at a data path."""
    bag, data = curve_bag(thing), thing.animation_data
    curves = [*(bag.fcurves if bag else ()), *(data.drivers if data else ())]
    return [fcurve for fcurve in curves if fcurve.data_path == path]
