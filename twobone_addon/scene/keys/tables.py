"""Keys of F-curves as tables of arrays, with all their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from ...core.array_types import Array, Indices, KeyFrames, Mask
from ...core.curves.frames import NEAR_FRAME
from ...records import replace
from ..blender_types import Channel, CurveBag, FCurve

INTERPOLATION = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
HANDLE_FREE, HANDLE_VECTOR, HANDLE_ALIGNED = 0, 2, 3
KEY_PLAIN = 0
"""Key type of keys set by a person."""
KEY_GENERATED = 5
"""Key type that marks baked keys; Blender's own tools use it so."""
LASTING_PERIOD = 4.2
"""Period that marks baked scale keys which belong to the motion, not to a bake's stretch, so that later bakes leave them.

Blender keeps this number with the key, through copies and edits, and uses it for nothing but Elastic interpolation.
"""

WIDTHS = {
    "co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1,
    "interpolation": 1, "easing": 1, "type": 1, "handle_left_type": 1, "handle_right_type": 1,
    "select_control_point": 1, "select_left_handle": 1, "select_right_handle": 1,
}  # fmt: skip
"""Attributes of a key, each with its number of values."""

REAL = {"co", "handle_left", "handle_right", "amplitude", "back", "period"}
HANDLES = {"handle_left", "handle_right"}
SWITCHES = {"select_control_point", "select_left_handle", "select_right_handle"}

NATIVE = {"amplitude": 0.8, "back": 1.70158, "period": 4.1}
"""Easing attributes that `keyframe_insert` gives a key; keys added in bulk have zeros."""

KeyTable = dict[str, Array]
"""One array `(K, width)` per name in `WIDTHS`."""

BareTable = Mapping[str, Array]
"""Keys without handles, which Blender computes; read-only. A type of its own, so that nobody reads handles that are not there."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """The keys of one channel around a range, before anything is written."""

    table: KeyTable | None
    """All its keys; `None` where it has no curve with keys."""
    beside: tuple[float | None, float | None]
    """Values of the last key before and the first key after the range; `None` without such a key."""
    frame_beside: tuple[float | None, float | None]
    """Values of the curve one frame before and one frame after the range; `None` without keys."""
    baked: bool
    """Whether any of the keys is baked."""

    def holding(self, values: tuple[float, float]) -> Keyed:
        """The same keys, where the channel has these values in the frames before and after the range."""
        return replace(self, beside=values, frame_beside=values)


@dataclass(frozen=True, slots=True)
class _InsideRange:
    """The keys of one channel inside the range."""

    path: str
    index: int
    group: str
    frames: KeyFrames
    """`(K,)`"""
    values: Array
    """`(K,)`"""
    outside: KeyTable | None = field(default=None, kw_only=True)
    """New keys outside the range, where the curve's present ones are to change; keys inside the range are ignored."""
    lasting: bool = field(default=False, kw_only=True)
    """Whether later bakes leave these keys and solve with them; Clear Baked Keys removes them."""
    played: KeyTable | None = field(default=None, kw_only=True)
    """Keys of what modifiers, extrapolation or NLA tracks play, see `pipeline.played`: they count as there before these, and
    `outside` has those beside the range. `None` for none."""

    @property
    def channel(self) -> Channel:
        """The channel to be keyed."""
        return Channel(self.path, self.index)


@dataclass(frozen=True, slots=True)
class StraightKeys(_InsideRange):
    """Keys of constant or straight segments, whose handles Blender computes."""

    interpolation: Literal["CONSTANT", "LINEAR"]
    held: Mask | None = field(default=None, kw_only=True)
    """`(K,)` keys that are constant whatever the interpolation of the others; `None` for none."""


@dataclass(frozen=True, slots=True)
class SmoothKeys(_InsideRange):
    """Keys of Bezier segments; each has both handles, so do the first, the last and a single one."""

    left: Array
    """`(K, 2)` left handles: frame, value."""
    right: Array
    """`(K, 2)` right handles."""
    smooth: Mask | None = None
    """`(K,)` whether a key's handles are aligned and stay so when one is moved; `None` for all keys."""

    def part(self, rows: slice) -> SmoothKeys:
        """Some of the keys."""
        smooth, frames = None if self.smooth is None else self.smooth[rows], KeyFrames(self.frames[rows])
        parts = frames, self.values[rows], self.left[rows], self.right[rows], smooth
        return SmoothKeys(self.path, self.index, self.group, *parts, outside=self.outside, lasting=self.lasting)

    @classmethod
    def in_one(cls, pieces: Sequence[SmoothKeys]) -> SmoothKeys:
        """The keys of several pieces of a channel, one after the other."""
        first, columns = pieces[0], ("frames", "values", "left", "right")
        joined = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in columns}
        smooth = [np.ones(len(piece.frames), bool) if piece.smooth is None else piece.smooth for piece in pieces]
        return replace(first, **joined, smooth=np.concatenate(smooth))


ChannelKeys = StraightKeys | SmoothKeys


def read_keys(fcurve: FCurve) -> KeyTable:
    """All attributes of a curve's keys."""
    return {name: key_numbers(fcurve, name) for name in WIDTHS}


def key_numbers(fcurve: FCurve, name: str) -> Array:
    """One attribute of a curve's keys, named as in `WIDTHS`, `(K, width)`."""
    points = fcurve.keyframe_points
    flat = np.empty(len(points) * WIDTHS[name], dtype=number_type(name))
    points.foreach_get(name, flat)
    return flat.reshape(len(points), WIDTHS[name])


def put_keys(fcurve: FCurve, table: BareTable) -> None:
    """Add keys to a curve without any; attributes not in the table have Blender's defaults until the curve's update."""
    fcurve.keyframe_points.add(len(table["co"]))
    for name, values in table.items():
        fcurve.keyframe_points.foreach_set(name, values.ravel())


class RepeatedKeys:
    """A curve whose linear keys at some frames are written, and get other values again and again.

    For curves that are gone with a trial: nothing notes what they were.
    """

    def __init__(self, bag: CurveBag, written: StraightKeys) -> None:
        self._fcurve = bag.fcurves.find(written.path, index=written.index)
        self._frames = np.asarray(written.frames, dtype=np.float32)
        self._numbers = np.empty(2 * len(self._fcurve.keyframe_points), dtype=np.float32)
        self._fcurve.keyframe_points.foreach_get("co", self._numbers)
        self._rows = np.flatnonzero(np.isin(self._numbers[0::2], self._frames))

    def takes(self, keys: StraightKeys) -> bool:
        """Whether these keys are at the same frames, all of which the curve has."""
        frames = np.asarray(keys.frames, dtype=np.float32)
        return len(self._rows) == len(frames) and np.array_equal(frames, self._frames)

    def put(self, keys: StraightKeys) -> None:
        """Give the keys these values."""
        self._numbers[2 * self._rows + 1] = keys.values
        self._fcurve.keyframe_points.foreach_set("co", self._numbers)
        self._fcurve.update()


def blank_keys(count: int) -> KeyTable:
    """Keys whose attributes are all zero."""
    return {name: np.zeros((count, width), dtype=number_type(name)) for name, width in WIDTHS.items()}


def number_type(name: str) -> type:
    """Type in which Blender stores an attribute, so that it copies whole arrays instead of converting each number."""
    if name in REAL:
        return np.float32
    return np.bool_ if name in SWITCHES else np.uint8


NO_KEYS = blank_keys(0)


def new_keys(frames: Array, values: Array, interpolation: int, *, lasting: bool = False) -> KeyTable:
    """Baked keys `(K,)`, not selected, with the attributes that Blender gives its own."""
    shared = _shared_attributes(len(frames), interpolation, lasting=lasting)
    table = {name: values.copy() for name, values in shared.items()}
    points = _points(frames, values)
    return table | {name: points.copy() for name in ("co", *sorted(HANDLES))}


def bare_keys(frames: Array, values: Array, interpolation: int, *, lasting: bool = False) -> BareTable:
    """Baked keys `(K,)` without handles; many channels share the arrays."""
    return {"co": _points(frames, values), **_shared_attributes(len(frames), interpolation, lasting=lasting)}


def _points(frames: Array, values: Array) -> Array:
    points = np.empty((len(frames), 2), dtype=np.float32)
    points[:, 0], points[:, 1] = frames, values
    return points


@lru_cache(maxsize=4)
def _shared_attributes(count: int, interpolation: int, *, lasting: bool) -> BareTable:
    """Attributes that all baked keys share, whatever their frames and values."""
    table = {name: values for name, values in blank_keys(count).items() if name != "co" and name not in HANDLES}
    for name, number in NATIVE.items():
        table[name][:] = number
    table["interpolation"][:] = interpolation
    table["handle_left_type"][:] = table["handle_right_type"][:] = HANDLE_VECTOR
    table["type"][:] = KEY_GENERATED
    if lasting:
        table["period"][:] = LASTING_PERIOD
    return table


def are_lasting(table: KeyTable) -> Mask:
    """Mask `(K,)` of scale keys that are marked as lasting: no later bake takes them for its own stretch."""
    return np.asarray(table["period"][:, 0] == np.float32(LASTING_PERIOD))


def are_within(frames: Array, start: float, end: float) -> Mask:
    """Mask `(K,)` of key frames from `start` to `end`."""
    return (frames >= start - NEAR_FRAME) & (frames <= end + NEAR_FRAME)


def are_within_any(frames: Array, spans: Iterable[tuple[float, float]]) -> Mask:
    """Mask `(K,)` of ascending key frames in any of the spans; many spans take no longer than one."""
    edges = np.array([*spans], dtype=float).reshape(-1, 2)
    # How many more spans have begun than ended at each row, summed up.
    begun = np.zeros(len(frames) + 1, dtype=int)
    np.add.at(begun, np.searchsorted(frames, edges[:, 0] - NEAR_FRAME), 1)
    np.add.at(begun, np.searchsorted(frames, edges[:, 1] + NEAR_FRAME, side="right"), -1)
    return np.cumsum(begun[:-1]) > 0


def some_keys(table: KeyTable, which: Mask | Indices | slice) -> KeyTable:
    """The keys selected by a mask, a slice or row numbers."""
    if isinstance(which, slice):
        return {name: values[which] for name, values in table.items()}
    rows = np.flatnonzero(which) if which.dtype == bool else which
    return {name: values.take(rows, axis=0) for name, values in table.items()}  # a fourth of the time of indexing


def joined_keys(*tables: KeyTable) -> KeyTable:
    """The keys of all tables, concatenated."""
    return {name: np.concatenate([table[name] for table in tables]) for name in WIDTHS}
