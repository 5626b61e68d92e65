"""Records whose arrays have a row for each frame: the same done to all arrays of a record, and of the records in it.

Which of a record's arrays have rows, and what a row of them is, their types say: see `NumberRows` in `array_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from .array_types import Array, Indices, Mask

Record = TypeVar("Record")


def map_rows(function: Callable[[list[Array], int], Array], *records: Record) -> Record:
    """The first of several records of a kind, with `function` of that array of all of them in the place of each array.

    The function is given the arrays and how many axes a row of them has. What is `None` stays; what has no rows is the
    first record's.
    """
    kind, values = type(records[0]), list[Any]()
    for name, axes in _all_fields(kind):
        own = [getattr(record, name) for record in records]
        values.append(own[0] if axes is None else _mapped(function, own, axes))
    return kind(*values)  # `dataclasses.replace` takes twice as long, and short bakes do little else.


def _mapped(function: Callable[[list[Array], int], Array], values: list[Any], axes: int) -> Any:
    if isinstance(values[0], np.ndarray):
        return function(values, axes)
    if values[0] is None:
        return None
    if isinstance(values[0], tuple):
        return tuple(_mapped(function, list(each), axes) for each in zip(*values, strict=True))
    return map_rows(function, *values) if is_dataclass(values[0]) else function(values, axes)


def at_frames(record: Record, where: Mask | Indices) -> Record:
    """A record at the frames `where` `(F,)`, or of these rows; an array of one row, or of none, stands for all frames."""
    return map_rows(lambda arrays, axes: rows_at(arrays[0], where, axes), record)


def rows_at(values: Array, where: Mask | Indices, axes: int) -> Array:
    """Rows of values `(F, ...)` with `axes` axes a row, as `at_frames`; one row, or none, stands for all frames."""
    return values if values.ndim == axes or len(values) == 1 else values[where]


def part_of(record: Record, part: slice) -> Record:
    """A record, or a stack of them, at the frames of a slice; an array of one row, or of none, stands for all frames."""

    def rows(arrays: list[Array], axes: int) -> Array:
        array, before = arrays[0], arrays[0].ndim - axes - 1
        return array if before < 0 or array.shape[before] == 1 else array[(*[slice(None)] * before, part)]

    return map_rows(rows, record)


ROWS_AT_ONCE = 16384
"""Frames of all chains or bones that are worked out together: many, for each call has its cost, few enough for a core's cache."""


def in_parts(rows_of: Callable[[slice], Array], count: int) -> Array:
    """What a function gives of each part of `count` frames, `(F, ...)`, one part after the other: it takes more than it gives.

    One row stands for all frames.
    """
    first = rows_of(slice(ROWS_AT_ONCE))
    if count <= ROWS_AT_ONCE or len(first) == 1:
        return first
    found = np.empty((count, *first.shape[1:]))
    found[:ROWS_AT_ONCE] = first
    for start in range(ROWS_AT_ONCE, count, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        found[part] = rows_of(part)
    return found


def stack(*records: Record) -> Record:
    """Records of one shape as one, with a leading dimension; arrays without rows get one. A single one is not copied."""

    def stacked(arrays: list[Array], axes: int) -> Array:
        rows = [array if array.ndim > axes else array[None] for array in arrays]
        return rows[0][None] if len(rows) == 1 else np.stack(rows)

    return map_rows(stacked, *records)


def of_stack(record: Record, place: int) -> Record:
    """One of the records of a stack; arrays that have no rows are the same for all."""
    return map_rows(lambda arrays, axes: arrays[0] if arrays[0].ndim == axes else arrays[0][place], record)


def row_arrays(record: Any) -> Iterator[Array | None]:
    """The arrays of a record that have rows, in order."""
    pending = [getattr(record, name) for name in _fields_with_rows(type(record))]
    for each in pending:
        if isinstance(each, tuple):
            for part in each:
                yield from row_arrays(part) if is_dataclass(part) else (part,)
        else:
            yield from row_arrays(each) if is_dataclass(each) else (each,)


@cache
def _all_fields(kind: Any) -> list[tuple[str, int | None]]:
    """All fields of a record, in order; `None` where they have no rows."""
    with_rows = _fields_with_rows(kind)
    return [(each.name, with_rows.get(each.name)) for each in fields(kind)]


@cache
def _fields_with_rows(kind: type) -> dict[str, int]:
    """Fields of a record that have rows, or hold records that do; with the axes that a row has."""
    axes = {name: _axes_of(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
    return {name: count for name, count in axes.items() if count is not None}


def _axes_of(hint: Any) -> int | None:
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    if isinstance(hint, type) and is_dataclass(hint):
        return 0 if _fields_with_rows(hint) else None
    return next((axes for axes in map(_axes_of, get_args(hint)) if axes is not None), None)
