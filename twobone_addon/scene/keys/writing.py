"""Keys into F-curves, in bulk.

Inside the range a curve gets exactly the new keys; outside it every key stays as it is, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Mask
from ..blender_types import CurveBag, FCurve
from ..versions import new_fcurve
from .tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    INTERPOLATION,
    NEAR_FRAME,
    ChannelKeys,
    KeyTable,
    joined_keys,
    lasting_keys,
    new_keys,
    put_keys,
    read_keys,
    some_keys,
    straight_keys,
)

COLOR_MODES = {"rotation_quaternion": "AUTO_YRGB"}
"""How `keyframe_insert` colours new curves; all others are `AUTO_RGB`."""


def write_keys(bag: CurveBag, channels: Sequence[ChannelKeys], start: float, end: float) -> None:
    """Replace what the channels' curves have from `start` to `end` by these keys; missing curves are made."""
    for channel in channels:
        fcurve = bag.fcurves.find(channel.path, index=channel.index)
        if fcurve is None:
            fcurve = _new_curve(bag, channel)
        _replace(fcurve, channel, start, end)


def _replace(fcurve: FCurve, channel: ChannelKeys, start: float, end: float) -> None:
    if channel.outside is None and _has_nothing_outside(fcurve, start, end):
        fcurve.keyframe_points.clear()
        # Vector handles are worked out by the update.
        put_keys(fcurve, _straight(channel) if channel.left is None else _baked(channel))
        fcurve.update()
        return
    fresh = _baked(channel)
    old = read_keys(fcurve) if channel.outside is None else channel.outside
    frames = old["co"][:, 0]
    before, after = frames < start - NEAR_FRAME, frames > end + NEAR_FRAME
    merged = joined_keys(some_keys(old, before), fresh, some_keys(old, after))
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    if before.any() or after.any():
        rows, first = np.arange(len(merged["co"])), int(before.sum())
        _set_back_at(fcurve, merged, (rows < first) | (rows >= first + len(fresh["co"])))


def write_pieces(bag: CurveBag, pieces: Sequence[ChannelKeys], outside: KeyTable | None) -> None:
    """Replace what one channel has within each of `pieces`, from its first to its last key, by the keys of the piece.

    outside : what the curve is to have beside the pieces, where that is not what it has; keys within them do not count
    """
    channel = pieces[0]
    fcurve = bag.fcurves.find(channel.path, index=channel.index) or _new_curve(bag, channel)
    old = read_keys(fcurve) if outside is None else outside
    frames = old["co"][:, 0]
    inside = np.zeros(len(frames), dtype=bool)
    for piece in pieces:
        inside |= (frames >= piece.frames[0] - NEAR_FRAME) & (frames <= piece.frames[-1] + NEAR_FRAME)
    kept = some_keys(old, ~inside)
    merged = joined_keys(kept, *(_baked_piece(piece) for piece in pieces))
    order = np.argsort(merged["co"][:, 0], kind="stable")
    merged = some_keys(merged, order)
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    _set_back_at(fcurve, merged, order < len(kept["co"]))


def _baked_piece(piece: ChannelKeys) -> KeyTable:
    """The keys of a piece; from its last one the curve goes straight to the next, which may have no handles to lead there."""
    table = _baked(piece)
    table["interpolation"][-1] = INTERPOLATION["LINEAR"]
    return table


def _new_curve(bag: CurveBag, channel: ChannelKeys) -> FCurve:
    fcurve = new_fcurve(bag, channel.path, channel.index, channel.group)
    fcurve.color_mode = COLOR_MODES.get(channel.path.rpartition(".")[2], "AUTO_RGB")
    return fcurve


def _set_back_at(fcurve: FCurve, merged: KeyTable, kept: Mask) -> None:
    """Undo what `update` did to the keys that are `kept` `(K,)`: it recalculates automatic and aligned handles."""
    now = read_keys(fcurve)
    if len(now["co"]) != len(merged["co"]):
        return  # Kept keys were closer than Blender keeps apart: the user's own doing, merged by it.
    for name in ("handle_left", "handle_right"):
        values = np.where(kept[:, None], merged[name], now[name])
        fcurve.keyframe_points.foreach_set(name, values.ravel())


def _has_nothing_outside(fcurve: FCurve, start: float, end: float) -> bool:
    points = fcurve.keyframe_points
    if not points:
        return True
    return points[0].co[0] >= start - NEAR_FRAME and points[-1].co[0] <= end + NEAR_FRAME


def _straight(channel: ChannelKeys) -> KeyTable:
    table = straight_keys(channel.frames, channel.values, INTERPOLATION[channel.interpolation])
    return lasting_keys(table) if channel.lasting else table


def _baked(channel: ChannelKeys) -> KeyTable:
    table = new_keys(channel.frames, channel.values, INTERPOLATION[channel.interpolation])
    if channel.left is not None and channel.right is not None:
        table["handle_left"][:], table["handle_right"][:] = channel.left, channel.right
        kinds = HANDLE_ALIGNED if channel.smooth is None else np.where(channel.smooth, HANDLE_ALIGNED, HANDLE_FREE)
        table["handle_left_type"][:, 0] = table["handle_right_type"][:, 0] = kinds
    return lasting_keys(table) if channel.lasting else table
