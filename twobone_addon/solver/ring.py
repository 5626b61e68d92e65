"""The triangle of two links and a target, measured without loss near either limit.

The tip of a two-link chain can reach a ring around the root joint, from `near = |l1 - l2|` to
`far = l1 + l2`. What the solver needs is how far a distance is from both limits. Written as
products, (far - d)(far + d) and (d - near)(d + near), this loses nothing to cancellation
(the same idea as Kahan's "Miscalculating Area and Angles of a Needle-like Triangle").
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array

BLOCK_SIZE = 8192
"""Frames worked on at a time: a dozen float64 temporaries of a block stay in a core's cache."""


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of frames of a problem; each array is `(B,)` or 0-d where it is constant."""

    frames: slice
    x: Array
    y: Array
    length_1: Array
    length_2: Array
    bend: Array
    tolerance: Array

    distance: Array | None
    """What to solve for instead of the target's own distance, if anything."""


@dataclass(frozen=True, slots=True)
class Triangle:
    """The triangle of both links and the target's distance, clamped to the ring."""

    inside: Array
    """The distance, clamped."""
    near: Array
    far: Array

    straightness: Array
    """sqrt(inside^2 - near^2) / far, 0 when folded."""
    foldedness: Array
    """sqrt(far^2 - inside^2) / far, 0 when straight; over straightness it is tan(|angle 2| / 2)."""


def target_distances(targets: Array) -> Array:
    """How far `(..., F)` targets `(..., F, 2)` are from the root joint; infinite if beyond float64."""
    with np.errstate(over="ignore"):
        return np.hypot(targets[..., 0], targets[..., 1])


def ring_limits(length_1: Array, length_2: Array) -> tuple[Array, Array]:
    """The inner and outer radius of the reachable ring, shaped like the lengths."""
    return np.abs(length_1 - length_2), length_1 + length_2


def measure(distance: Array, length_1: Array, length_2: Array) -> Triangle:
    """Measure the triangle with sides `length_1`, `length_2` and the clamped distance.

    distance : (...), from the root joint to the target, not clamped
    length_1, length_2 : broadcast against distance

    Where both lengths are 0 the two relative fields are NaN: there is no triangle.
    """
    near, far = ring_limits(length_1, length_2)
    inside = np.clip(distance, near, far)
    # Each factor gets its own root: the product of two tiny factors would vanish.
    with np.errstate(invalid="ignore"):
        straightness = np.sqrt(inside - near) * np.sqrt(inside + near) / far
        foldedness = np.sqrt(far - inside) * np.sqrt(far + inside) / far
    return Triangle(inside, near, far, straightness, foldedness)


def blocks(
    targets: Array,
    lengths: Array,
    bend: Array,
    distances: Array | None = None,
    tolerance: ArrayLike = 0.0,
) -> Iterator[Block]:
    """Walk over a problem of any shape in stretches that fit the cache.

    targets : (..., F, 2)
    lengths : (..., F, 2) or (2,)
    bend : scalar or (..., F)
    distances : (..., F) or None
    tolerance : scalar or broadcast against (..., F)
    """
    shape = targets.shape[:-1]
    columns = (targets[..., 0], targets[..., 1], lengths[..., 0], lengths[..., 1], bend, np.asarray(tolerance, dtype=np.float64))
    flat = [_flatten(column, shape) for column in columns]
    flat_distances = None if distances is None else _flatten(distances, shape)
    for start in range(0, int(np.prod(shape)), BLOCK_SIZE):
        frames = slice(start, start + BLOCK_SIZE)
        distance = None if flat_distances is None else _stretch_of(flat_distances, frames)
        yield Block(frames, *(_stretch_of(column, frames) for column in flat), distance=distance)


def _flatten(column: Array, shape: tuple[int, ...]) -> Array:
    return column.reshape(()) if column.size == 1 else np.broadcast_to(column, shape).reshape(-1)


def _stretch_of(column: Array, frames: slice) -> Array:
    return column if column.ndim == 0 else column[frames]
