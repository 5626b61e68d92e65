"""Arithmetic on arrays that every room needs: lengths, rows that hold, and rows that stand for all frames.

What does not move may have one row instead of `F`, which stands for all frames. Only this file knows.
"""

from __future__ import annotations

import numpy as np

from .array_types import Array, Indices, Mask

FEW_COMPONENTS = 4
"""A point has three, a quaternion four."""


def magnitude(vectors: Array) -> Array:
    """Lengths `(...)` of vectors `(..., k)`."""
    squares = vectors * vectors
    return np.sqrt(_over_components(np.add, squares))


def largest_component(vectors: Array) -> Array:
    """The largest size `(...)` of a component of vectors `(..., k)`."""
    return _over_components(np.maximum, np.abs(vectors))


def dot(first: Array, second: Array) -> Array:
    """Products `(...)` of vectors `(..., k)`."""
    return _over_components(np.add, first * second)


def across(vectors: Array, along: Array) -> Array:
    """What vectors `(..., k)` have at right angles to unit vectors `along` `(..., k)`."""
    return vectors - along * dot(vectors, along)[..., None]


def any_across(along: Array) -> Array:
    """A vector `(..., 3)` at right angles to each unit vector `along` `(..., 3)`."""
    return across(np.eye(3)[np.argmin(np.abs(along), axis=-1)], along)


def span(vectors: Array) -> Array:
    """Lengths `(...)` of plane vectors `(..., 2)`, of any size."""
    return np.hypot(vectors[..., 0], vectors[..., 1])


def cross(first: Array, second: Array) -> Array:
    """`np.cross` of vectors `(..., 3)`, which takes NumPy two or three times as long."""
    (a, b, c), (d, e, f) = ([vectors[..., axis] for axis in range(3)] for vectors in (first, second))
    found = np.empty(np.broadcast_shapes(first.shape, second.shape))
    found[..., 0], found[..., 1], found[..., 2] = b * f - c * e, c * d - a * f, a * e - b * d
    return found


def median(values: Array) -> Array:
    """`np.median` of values `(n, ...)` along the first axis, which takes NumPy seven times as long where these are few."""
    ordered, count = np.sort(values, axis=0), len(values)
    return 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])


def _over_components(joined: np.ufunc, values: Array) -> Array:
    """`joined.reduce` along the last axis: of a few components, one after the other takes NumPy a fifth of the time."""
    if not 1 < values.shape[-1] <= FEW_COMPONENTS:
        return joined.reduce(values, axis=-1)
    found = joined(values[..., 0], values[..., 1])
    for component in range(2, values.shape[-1]):
        found = joined(found, values[..., component])
    return found


def shortening(lengths: Array, limits: Array) -> Array:
    """Factors `(...)` with which `lengths` are no longer than `limits` `(...)`: 1 where they are not, though both be 0."""
    lengths, limits = np.broadcast_arrays(lengths, limits)
    return np.divide(limits, lengths, out=np.ones(lengths.shape), where=lengths > limits)


def path_length(joints: Array) -> Array:
    """Lengths `(...)` of the way from joint to joint `(..., n + 1, k)`."""
    return magnitude(np.diff(joints, axis=-2)).sum(axis=-1)


def held_rows(valid: Mask) -> Indices:
    """For each frame of `valid` `(..., F)` the last valid one so far; before the first valid one, that one.

    Where none is valid, frame 0.
    """
    valid = np.asarray(valid)
    rows = np.where(valid, np.arange(valid.shape[-1]), np.argmax(valid, axis=-1)[..., None])
    return np.maximum.accumulate(rows, axis=-1)


def held(values: Array, valid: Mask) -> Array:
    """`values` `(..., F, k)` with each row that is not `valid` `(..., F)` as in the frame that `held_rows` tells."""
    return np.take_along_axis(values, held_rows(valid)[..., None], axis=-2)


def still_row(values: Array) -> Array:
    """The first of the rows of `values` `(F, ...)` if all are alike, `(1, ...)`; else all."""
    # Most of what moves is told from its ends. A copy, or the one row would keep the others in memory.
    return values[:1].copy() if np.array_equal(values[0], values[-1]) and np.all(values == values[0]) else values


def frame_rows(values: Array, rows: Indices | Mask) -> Array:
    """Some rows of `values` `(F, ...)`; what has one row only stands for all frames and stays as it is."""
    return values if len(values) == 1 else values[rows]


def every_row(values: Array, count: int) -> Array:
    """`values` `(F, ...)`, or one row of them, with as many rows as there are frames; read-only."""
    return np.broadcast_to(values, (count, *values.shape[1:]))
