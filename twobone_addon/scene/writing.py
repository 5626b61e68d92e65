"""Keys into F-curves, in bulk.

Inside the range a curve gets exactly the new keys; outside it every key stays as it is, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .blender_types import FCurve, Object
from .versions import ensure_curve_bag, new_fcurve

NEAR_FRAME = 0.01
"""Blender takes keys closer than this (frames) for one."""

INTERPOLATION = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
HANDLE_VECTOR, HANDLE_AUTO_CLAMPED = 2, 4
KEY_GENERATED = 5
"""Key type that marks baked keys; Blender's own tools use it so."""

WIDTHS = {
    "co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1,
    "interpolation": 1, "easing": 1, "type": 1, "handle_left_type": 1, "handle_right_type": 1,
    "select_control_point": 1, "select_left_handle": 1, "select_right_handle": 1,
}  # fmt: skip
"""All that a key holds, with the number of values of each."""

REAL = {"co", "handle_left", "handle_right", "amplitude", "back", "period"}

NATIVE = {"amplitude": 0.8, "back": 1.70158, "period": 4.1}
"""Easing numbers of a key that `keyframe_insert` makes; a bulk-added key has zeros."""

COLOR_MODES = {"rotation_quaternion": "AUTO_YRGB"}
"""How `keyframe_insert` colours new curves; all others are `AUTO_RGB`."""


@dataclass(frozen=True, slots=True)
class ChannelKeys:
    """The keys of one channel inside the range."""

    path: str
    index: int
    group: str
    frames: Array
    """`(K,)` ascending."""
    values: Array
    """`(K,)`"""


def write_keys(datablock: Object, channels: list[ChannelKeys], start: float, end: float) -> None:
    """Replace what the channels' curves have from `start` to `end` by these keys; missing curves are made."""
    bag = ensure_curve_bag(datablock)
    for channel in channels:
        fcurve = bag.fcurves.find(channel.path, index=channel.index)
        if fcurve is None:
            fcurve = new_fcurve(bag, channel.path, channel.index, channel.group)
            fcurve.color_mode = COLOR_MODES.get(channel.path.rpartition(".")[2], "AUTO_RGB")
        _replace(fcurve, channel, start, end)


def _replace(fcurve: FCurve, channel: ChannelKeys, start: float, end: float) -> None:
    fresh = _fresh(channel)
    if not fcurve.keyframe_points:
        _put(fcurve, fresh)
        fcurve.update()
        return
    old = read_keys(fcurve)
    frames = old["co"][:, 0]
    before, after = frames < start - NEAR_FRAME, frames > end + NEAR_FRAME
    merged = {name: np.concatenate([old[name][before], fresh[name], old[name][after]]) for name in WIDTHS}
    fcurve.keyframe_points.clear()
    _put(fcurve, merged)
    fcurve.update()
    if before.any() or after.any():
        _set_back(fcurve, merged, int(before.sum()), len(fresh["co"]))


def _set_back(fcurve: FCurve, merged: dict[str, Array], first: int, count: int) -> None:
    """Undo what `update` did to the keys outside the range: it recalculates automatic and aligned handles."""
    now = read_keys(fcurve)
    if len(now["co"]) != len(merged["co"]):
        return  # Keys outside the range were closer than Blender keeps apart: the user's own doing, merged by it.
    for name in ("handle_left", "handle_right"):
        kept = merged[name].copy()
        kept[first : first + count] = now[name][first : first + count]
        fcurve.keyframe_points.foreach_set(name, kept.ravel())


def read_keys(fcurve: FCurve) -> dict[str, Array]:
    """Everything the curve's keys hold, `(K, width)` each."""
    points = fcurve.keyframe_points
    keys = {}
    for name, width in WIDTHS.items():
        flat = np.empty(len(points) * width, dtype=np.float32 if name in REAL else np.int32)
        points.foreach_get(name, flat)
        keys[name] = flat.reshape(-1, width)
    return keys


def _fresh(channel: ChannelKeys) -> dict[str, Array]:
    count = len(channel.frames)
    points = np.stack([channel.frames, channel.values], axis=-1).astype(np.float32)
    keys = {
        name: np.zeros((count, width), dtype=np.float32 if name in REAL else np.int32)
        for name, width in WIDTHS.items()
    }
    for name in ("co", "handle_left", "handle_right"):
        keys[name][:] = points
    for name, number in NATIVE.items():
        keys[name][:] = number
    keys["interpolation"][:] = INTERPOLATION["LINEAR"]
    keys["handle_left_type"][:] = keys["handle_right_type"][:] = HANDLE_VECTOR
    keys["type"][:] = KEY_GENERATED
    return keys


def _put(fcurve: FCurve, keys: dict[str, Array]) -> None:
    fcurve.keyframe_points.add(len(keys["co"]))
    for name, values in keys.items():
        fcurve.keyframe_points.foreach_set(name, values.ravel())
