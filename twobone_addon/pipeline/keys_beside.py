"""Keys beside a range: what keeps a channel as it is outside the frames that get new keys.

The plan of every change goes through here: whatever a task keys, `with_keys_beside` has the channel's own keys, where it is to
be held, and the new keys, before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.array_types import Array, Mask
from ..core.curves.bezier import parameters_at
from ..core.curves.frames import NEAR_FRAME
from ..records import unchecked
from ..scene.keys.tables import (
    HANDLE_FREE,
    INTERPOLATION,
    NO_KEYS,
    ChannelKeys,
    Keyed,
    KeyTable,
    joined_keys,
    new_keys,
    some_keys,
)
from ..settings import BakeSettings

KeyPoint = tuple[float, float]
"""Frame and value."""

Sides = tuple[KeyPoint | None, KeyPoint | None]
"""Where a channel is held before and after new keys; `None` where it is not."""


def holds(settings: BakeSettings) -> tuple[bool, bool]:
    """Whether channels are held before and after the range: as the settings ask; a strip changes nothing outside."""
    in_strip = settings.destination == "NLA"
    return settings.key_before and not in_strip, settings.key_after and not in_strip


def sides_of(keyed: Keyed, frames: tuple[float, float], is_held: tuple[bool, bool], present: tuple[float, float]) -> Sides:
    """Where a channel is held at `frames` before and after a range, at its own values there.

    present : values before and after the range for a channel without a curve
    """
    before, after = (
        (frame, now if value is None else value) if held else None
        for held, frame, value, now in zip(is_held, frames, keyed.frame_beside, present, strict=True)
    )
    return before, after


def with_keys_beside(pieces: Sequence[ChannelKeys], keyed: Keyed, sides: Sequence[Sides]) -> list[ChannelKeys]:
    """The new keys of a channel, in one or several pieces, with the keys that hold it to the sides of each piece."""
    own = NO_KEYS if keyed.table is None else keyed.table
    outside = own
    for before, after in _missing(own, sides):
        outside = _with_held_keys(outside, before, after)
    return [unchecked(piece, {"outside": None if outside is own else outside}) for piece in pieces]


def held_beside(
    keys: ChannelKeys, keyed: Keyed, within: tuple[float, float], is_held: tuple[bool, bool], present: tuple[float, float]
) -> ChannelKeys:
    """The new keys of a channel over one range, with those that hold it one frame before and after; see `sides_of`."""
    return with_keys_beside([keys], keyed, [sides_of(keyed, (within[0] - 1.0, within[1] + 1.0), is_held, present)])[0]


def _missing(table: KeyTable, sides: Sequence[Sides]) -> list[Sides]:
    """The sides of which the table has no key at one frame at least; looked up at once, for there may be thousands."""
    if not len(table["co"]):
        return [pair for pair in sides if pair != (None, None)]
    frames = np.array([[np.nan if point is None else point[0] for point in pair] for pair in sides]).reshape(-1, 2)
    return [sides[number] for number in np.flatnonzero(~_has_keys(table, frames).all(axis=1)).tolist()]


def _has_keys(table: KeyTable, frames: Array) -> Mask:
    """Mask `(...)` of `frames` `(...)` at which there already is a key, or that are NaN."""
    places = np.searchsorted(table["co"][:, 0], frames - NEAR_FRAME)
    return ~(np.append(table["co"][:, 0], np.inf)[places] > frames + NEAR_FRAME)


def _with_held_keys(table: KeyTable, before: KeyPoint | None, after: KeyPoint | None) -> KeyTable:
    """The keys with one more before and one after a range, at the curve's own values there; `None` adds none.

    A Bezier segment is split at the frame (de Casteljau), so the part outside keeps its shape; for that the handle of the
    neighbouring key outside becomes free. Both may be in the same segment. An existing key at that frame stays as it is.
    """
    start, end = 0, 0
    left = first = last = NO_KEYS
    right = table
    if before is not None:
        start, first, left = _held_key(table, *before, leads_outside=False)
        end = start
    if after is not None:
        end, last, right = _held_key(table, *after, leads_outside=True)
    outside, beyond = some_keys(left, slice(None, start)), some_keys(right, slice(end, None))
    return joined_keys(outside, first, some_keys(table, slice(start, end)), last, beyond)


def _held_key(table: KeyTable, frame: float, value: float, *, leads_outside: bool) -> tuple[int, KeyTable, KeyTable]:
    """Index at which a key at `frame` belongs, that key (`NO_KEYS` if there already is one), and the keys adjusted to it.

    leads_outside : whether the old curve continues after the key (it is after the range) instead of before it
    """
    frames = table["co"][:, 0]
    row = int(np.searchsorted(frames, frame - NEAR_FRAME))
    if row < len(frames) and frames[row] <= frame + NEAR_FRAME:
        return row, NO_KEYS, table
    held = new_keys(np.array([frame]), np.array([value]), INTERPOLATION["LINEAR"])
    if 0 < row < len(frames):
        # After the range a key goes on with the segment that it splits.
        if leads_outside:
            held["interpolation"][:] = table["interpolation"][row - 1]
        if table["interpolation"][row - 1, 0] == INTERPOLATION["BEZIER"]:
            table = {name: values.copy() for name, values in table.items()}
            _split(table, held, row, frame, leads_outside=leads_outside)
    return row, held, table


def _split(table: KeyTable, held: KeyTable, row: int, frame: float, *, leads_outside: bool) -> None:
    """Split the segment before `row` at `frame`: set the handles of `held` and of its neighbour outside, in row."""
    start, end = table["co"][row - 1].astype(float), table["co"][row].astype(float)
    duration = end[0] - start[0]
    # Like Blender, shorten handles that reach beyond the other key.
    right, left = (
        key + (handle - key) * min(1.0, duration / max(abs(handle[0] - key[0]), np.finfo(float).tiny))
        for key, handle in (
            (start, table["handle_right"][row - 1].astype(float)),
            (end, table["handle_left"][row].astype(float)),
        )
    )
    share = np.array((frame - start[0]) / duration)
    parameter = float(parameters_at(share, (right[0] - start[0]) / duration, (left[0] - start[0]) / duration))
    first, middle, last = start + parameter * (right - start), right + parameter * (left - right), left + parameter * (end - left)
    inner_left, inner_right = first + parameter * (middle - first), middle + parameter * (last - middle)
    if leads_outside:
        table["handle_left"][row], table["handle_left_type"][row] = last, HANDLE_FREE
        held["handle_right"][0], held["handle_right_type"][0] = inner_right, HANDLE_FREE
    else:
        table["handle_right"][row - 1], table["handle_right_type"][row - 1] = first, HANDLE_FREE
        held["handle_left"][0], held["handle_left_type"][0] = inner_left, HANDLE_FREE
