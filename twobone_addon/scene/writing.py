"""Keys into F-curves, in bulk.

Inside the range a curve gets exactly the new keys; outside it every key stays as it is, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .blender_types import CurveBag, FCurve
from .holding import with_held_key
from .key_tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    INTERPOLATION,
    NEAR_FRAME,
    KeyTable,
    blank_keys,
    joined_keys,
    new_keys,
    put_keys,
    read_keys,
    some_keys,
)
from .versions import new_fcurve

STRAIGHT_HANDLES = 1e-4
"""Sine of the angle between two handles, in frames and radians, below which they count as one line."""

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
    interpolation: str
    """`CONSTANT`, `LINEAR` or `BEZIER`."""
    left: Array | None = None
    """`(K, 2)` handles before the keys, for `BEZIER`: frame, value."""
    right: Array | None = None
    """`(K, 2)` handles after the keys."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The frames in which keys are replaced, and whether to hold what is just outside."""

    start: float
    end: float
    hold_before: bool = False
    hold_after: bool = False


def write_keys(
    bag: CurveBag, channels: Sequence[ChannelKeys], span: KeyRange, present: Mapping[tuple[str, int], tuple[float, float]]
) -> None:
    """Replace what the channels' curves have in the range by these keys; missing curves are made.

    `present`: by path and index, what a channel without a curve holds before and after the range.
    """
    for channel in channels:
        fcurve = bag.fcurves.find(channel.path, index=channel.index)
        if fcurve is None:
            fcurve = new_fcurve(bag, channel.path, channel.index, channel.group)
            fcurve.color_mode = COLOR_MODES.get(channel.path.rpartition(".")[2], "AUTO_RGB")
        _replace(fcurve, _baked(channel), span, present[channel.path, channel.index])


def _replace(fcurve: FCurve, fresh: KeyTable, span: KeyRange, present: tuple[float, float]) -> None:
    had_keys = len(fcurve.keyframe_points) > 0
    old = _with_holds(fcurve, span, present) if had_keys or span.hold_before or span.hold_after else blank_keys(0)
    frames = old["co"][:, 0]
    before, after = frames < span.start - NEAR_FRAME, frames > span.end + NEAR_FRAME
    if not (before.any() or after.any()):
        if had_keys:
            fcurve.keyframe_points.clear()
        put_keys(fcurve, fresh)
        fcurve.update()
        return
    merged = joined_keys(some_keys(old, before), fresh, some_keys(old, after))
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    _set_back(fcurve, merged, int(before.sum()), len(fresh["co"]))


def _with_holds(fcurve: FCurve, span: KeyRange, present: tuple[float, float]) -> KeyTable:
    """The curve's keys, with those that hold what is one frame before and one frame after the range."""
    table = read_keys(fcurve)
    for wanted, frame, value, outside in (
        (span.hold_before, span.start - 1.0, present[0], False),
        (span.hold_after, span.end + 1.0, present[1], True),
    ):
        if wanted:
            has_keys = len(fcurve.keyframe_points) > 0
            table = with_held_key(table, frame, fcurve.evaluate(frame) if has_keys else value, leads_outside=outside)
    return table


def _set_back(fcurve: FCurve, merged: KeyTable, first: int, count: int) -> None:
    """Undo what `update` did to the keys outside the range: it recalculates automatic and aligned handles."""
    now = read_keys(fcurve)
    if len(now["co"]) != len(merged["co"]):
        return  # Keys outside the range were closer than Blender keeps apart: the user's own doing, merged by it.
    for name in ("handle_left", "handle_right"):
        kept = merged[name].copy()
        kept[first : first + count] = now[name][first : first + count]
        fcurve.keyframe_points.foreach_set(name, kept.ravel())


def _baked(channel: ChannelKeys) -> KeyTable:
    table = new_keys(channel.frames, channel.values, INTERPOLATION[channel.interpolation])
    if channel.left is not None and channel.right is not None:
        table["handle_left"][:], table["handle_right"][:] = channel.left, channel.right
        places = np.stack([channel.frames, channel.values], axis=-1)
        kinds = np.where(_straight(places - channel.left, channel.right - places), HANDLE_ALIGNED, HANDLE_FREE)
        table["handle_left_type"][:, 0] = table["handle_right_type"][:, 0] = kinds
    return table


def _straight(before: Array, after: Array) -> Array:
    """Where two handles `(K, 2)` lie on one line."""
    across = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return np.abs(across) <= STRAIGHT_HANDLES * np.hypot(*before.T) * np.hypot(*after.T)
