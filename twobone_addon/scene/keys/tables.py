"""Everything that the keys of an F-curve hold, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...core.array_types import Array, Mask
from ...core.curves.frames import NEAR_FRAME
from ..blender_types import FCurve

INTERPOLATION = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
HANDLE_FREE, HANDLE_VECTOR, HANDLE_ALIGNED = 0, 2, 3
KEY_PLAIN = 0
"""Key type of keys that a person sets."""
KEY_GENERATED = 5
"""Key type that marks baked keys; Blender's own tools use it so."""
LASTING_PERIOD = 4.2
"""Period that marks baked keys of a scale that bakes leave: it belongs to the motion, not to their own stretch.

Blender keeps this number with the key, through copies and edits, and uses it for nothing but Elastic interpolation.
"""

WIDTHS = {
    "co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1,
    "interpolation": 1, "easing": 1, "type": 1, "handle_left_type": 1, "handle_right_type": 1,
    "select_control_point": 1, "select_left_handle": 1, "select_right_handle": 1,
}  # fmt: skip
"""All that a key holds, with the number of values of each."""

REAL = {"co", "handle_left", "handle_right", "amplitude", "back", "period"}
HANDLES = {"handle_left", "handle_right"}
SWITCHES = {"select_control_point", "select_left_handle", "select_right_handle"}

NATIVE = {"amplitude": 0.8, "back": 1.70158, "period": 4.1}
"""Easing numbers of a key that `keyframe_insert` makes; a bulk-added key has zeros."""

KeyTable = dict[str, Array]
"""One array `(K, width)` per name in `WIDTHS`."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """One channel as it is keyed around a range, before anything is written."""

    table: KeyTable | None
    """All that its keys hold; `None` where it has no curve with keys."""
    beside: tuple[float | None, float | None]
    """Values of the last key before and of the first key after the range; `None` where there is none."""
    frame_beside: tuple[float | None, float | None]
    """What the curve says one frame before and one frame after the range; `None` without keys."""
    baked: bool
    """Whether any of the keys is baked."""


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
    smooth: Mask | None = None
    """`(K,)` where the two handles are one line and stay so for whoever moves one of them; `None` for everywhere."""
    outside: KeyTable | None = None
    """What the curve is to have outside the range, where that is not what it has; keys inside do not count."""
    lasting: bool = False
    """Whether later bakes leave these keys and solve with them; Clear Baked Keys takes them."""


def read_keys(fcurve: FCurve) -> KeyTable:
    """Everything the curve's keys hold."""
    return {name: key_numbers(fcurve, name) for name in WIDTHS}


def key_numbers(fcurve: FCurve, name: str) -> Array:
    """One of the things in `WIDTHS` that the curve's keys hold, `(K, width)`."""
    points = fcurve.keyframe_points
    flat = np.empty(len(points) * WIDTHS[name], dtype=_number_type(name))
    points.foreach_get(name, flat)
    return flat.reshape(len(points), WIDTHS[name])


def put_keys(fcurve: FCurve, table: KeyTable) -> None:
    """Add keys to a curve that has none; what the table leaves out has Blender's defaults until the curve's update."""
    fcurve.keyframe_points.add(len(table["co"]))
    for name, values in table.items():
        fcurve.keyframe_points.foreach_set(name, values.ravel())


def replace_keys(fcurve: FCurve, table: KeyTable) -> None:
    """Give a curve the keys of a table instead of its own, with the handles they have there."""
    fcurve.keyframe_points.clear()
    put_keys(fcurve, table)
    fcurve.update()
    # `update` recalculates automatic handles; these keys must stay as they were.
    for name in HANDLES:
        fcurve.keyframe_points.foreach_set(name, table[name].ravel())


def blank_keys(count: int) -> KeyTable:
    """Keys with nothing but zeros."""
    return {name: np.zeros((count, width), dtype=_number_type(name)) for name, width in WIDTHS.items()}


def _number_type(name: str) -> type:
    """How Blender itself keeps the values, so that it copies an array instead of converting number by number."""
    if name in REAL:
        return np.float32
    return np.bool_ if name in SWITCHES else np.uint8


NO_KEYS = blank_keys(0)


def new_keys(frames: Array, values: Array, interpolation: int) -> KeyTable:
    """Baked keys `(K,)`, not selected, with the look that Blender gives its own."""
    table = {name: values.copy() for name, values in _look(len(frames), interpolation).items()}
    places = _places(frames, values)
    return table | {name: places.copy() for name in ("co", *sorted(HANDLES))}


def straight_keys(frames: Array, values: Array, interpolation: int) -> KeyTable:
    """The same without handles, which Blender works out; not to be changed, for many channels share what they have in common."""
    return {"co": _places(frames, values), **_look(len(frames), interpolation)}


def _places(frames: Array, values: Array) -> Array:
    places = np.empty((len(frames), 2), dtype=np.float32)
    places[:, 0], places[:, 1] = frames, values
    return places


@lru_cache(maxsize=2)
def _look(count: int, interpolation: int) -> KeyTable:
    """All that baked keys have in common, whatever their frames and values."""
    table = {name: values for name, values in blank_keys(count).items() if name != "co" and name not in HANDLES}
    for name, number in NATIVE.items():
        table[name][:] = number
    table["interpolation"][:] = interpolation
    table["handle_left_type"][:] = table["handle_right_type"][:] = HANDLE_VECTOR
    table["type"][:] = KEY_GENERATED
    return table


def lasting_keys(table: KeyTable) -> KeyTable:
    """The keys marked as those that later bakes leave."""
    return table | {"period": np.full_like(table["period"], LASTING_PERIOD)}


def are_stretch(table: KeyTable) -> Mask:
    """`(K,)` which keys of a scale are what a bake has stretched the bone by: baked ones that are not marked as lasting."""
    lasting = table["period"][:, 0] == np.float32(LASTING_PERIOD)
    return (table["type"][:, 0] == KEY_GENERATED) & ~lasting


def are_within(frames: Array, start: float, end: float) -> Mask:
    """Which of the frames `(K,)` of keys are from `start` to `end`."""
    return (frames >= start - NEAR_FRAME) & (frames <= end + NEAR_FRAME)


def are_within_any(frames: Array, spans: Iterable[tuple[float, float]]) -> Mask:
    """Which of the frames `(K,)` of keys, ascending, are in one of the spans; of many, as fast as of one."""
    edges = np.array([*spans], dtype=float).reshape(-1, 2)
    begun = np.zeros(len(frames) + 1, dtype=int)
    np.add.at(begun, np.searchsorted(frames, edges[:, 0] - NEAR_FRAME), 1)
    np.add.at(begun, np.searchsorted(frames, edges[:, 1] + NEAR_FRAME, side="right"), -1)
    return np.cumsum(begun[:-1]) > 0


def some_keys(table: KeyTable, which: object) -> KeyTable:
    """The keys that a mask, a slice or row numbers choose."""
    if isinstance(which, np.ndarray) and which.dtype == bool and not which.any():
        return NO_KEYS
    return {name: values[which] for name, values in table.items()}


def joined_keys(*tables: KeyTable) -> KeyTable:
    """The keys of all tables, one after the other."""
    return {name: np.concatenate([table[name] for table in tables]) for name in WIDTHS}
