"""Select and stack frames in records of arrays: apply one operation to all frame arrays of a record and its nested records.

The field types tell which arrays have a row for each frame, and the shape of a row: see `NumberRows` in `array_types`.
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
    """Build a record in which each frame array is `function` of the corresponding arrays of all records.

    The function receives these arrays and the number of axes of a row. `None` is kept; fields without rows are taken from the
    first record.
    """
    kind, values = type(records[0]), list[Any]()
    for name, axes in _all_fields(kind):
        arrays = [getattr(record, name) for record in records]
        values.append(arrays[0] if axes is None else _mapped(function, arrays, axes))
    return kind(*values)  # `dataclasses.replace` takes twice as long, and short bakes do little else.


def _mapped(function: Callable[[list[Array], int], Array], values: list[Any], axes: int) -> Any:
    if isinstance(values[0], np.ndarray):
        return function(values, axes)
    if values[0] is None:
        return None
    if isinstance(values[0], tuple):
        return tuple(_mapped(function, list(parts), axes) for parts in zip(*values, strict=True))
    return map_rows(function, *values) if is_dataclass(values[0]) else function(values, axes)


def picked_rows(record: Record, where: Mask | Indices) -> Record:
    """Select frames of a record by mask `(F,)` or indices; arrays with one row, or without a frame axis, are unchanged."""
    return map_rows(lambda arrays, axes: rows_at(arrays[0], where, axes), record)


def rows_at(values: Array, where: Mask | Indices, axes: int) -> Array:
    """Select rows of values `(F, ...)` with `axes` axes per row, as `at_frames` does."""
    return values if values.ndim == axes or len(values) == 1 else values[where]


def sliced(record: Record, part: slice) -> Record:
    """Slice the frames of a record or a stack; arrays with one row, or without a frame axis, are unchanged."""

    def rows(arrays: list[Array], axes: int) -> Array:
        array, before = arrays[0], arrays[0].ndim - axes - 1
        return array if before < 0 or array.shape[before] == 1 else array[(*[slice(None)] * before, part)]

    return map_rows(rows, record)


ROWS_AT_ONCE = 16384
"""Rows (frames of all chains or bones) computed at once: many, because of call overhead, but few enough for a core's cache."""


def in_parts(rows_of: Callable[[slice], Array], count: int) -> Array:
    """Results `(F, ...)` of a function for `count` frames, computed part by part to bound the memory of intermediate values.

    A function that returns one row, which stands for all frames, is called only once.
    """
    first = rows_of(slice(ROWS_AT_ONCE))
    if count <= ROWS_AT_ONCE or len(first) == 1:
        return first
    rows = np.empty((count, *first.shape[1:]))
    rows[:ROWS_AT_ONCE] = first
    for start in range(ROWS_AT_ONCE, count, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        rows[part] = rows_of(part)
    return rows


def stack(*records: Record) -> Record:
    """Stack records of one shape along a new leading dimension; arrays without rows get one row. One record is not copied."""

    def stacked(arrays: list[Array], axes: int) -> Array:
        rows = [array if array.ndim > axes else array[None] for array in arrays]
        return rows[0][None] if len(rows) == 1 else np.stack(rows)

    return map_rows(stacked, *records)


def of_stack(record: Record, index: int) -> Record:
    """The record at an index of a stack; arrays without rows are shared by all."""
    return map_rows(lambda arrays, axes: arrays[0] if arrays[0].ndim == axes else arrays[0][index], record)


def row_arrays(record: Any) -> Iterator[Array | None]:
    """The frame arrays of a record and its nested records, in order."""
    pending = [getattr(record, name) for name in _fields_with_rows(type(record))]
    for value in pending:
        for part in value if isinstance(value, tuple) else (value,):
            yield from row_arrays(part) if is_dataclass(part) else (part,)


@cache
def _all_fields(kind: Any) -> list[tuple[str, int | None]]:
    """All fields of a record type, in order, with the number of axes of a row; `None` for fields without rows."""
    with_rows = _fields_with_rows(kind)
    return [(field.name, with_rows.get(field.name)) for field in fields(kind)]


@cache
def _fields_with_rows(kind: type) -> dict[str, int]:
    """Fields of a record type that have rows, or contain records that do, with the number of axes of a row."""
    axes = {name: _axes_of(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
    return {name: count for name, count in axes.items() if count is not None}


def _axes_of(hint: Any) -> int | None:
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    if isinstance(hint, type) and is_dataclass(hint):
        return 0 if _fields_with_rows(hint) else None
    return next((axes for axes in map(_axes_of, get_args(hint)) if axes is not None), None)
