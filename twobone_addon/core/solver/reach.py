"""Compare targets with the ring that a chain can reach, and define how the chain reaches for them.

The tip of a two-link chain can reach a ring around the root joint, from `near = |l1 - l2|` to `far = l1 + l2`. What the solver
needs is how far a distance is from both limits. Written as products, (far - d)(far + d) and (d - near)(d + near), these suffer no
cancellation (the idea of Kahan's "Miscalculating Area and Angles of a Needle-like Triangle").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes
from ..arrays import span

ROUNDING_SLACK = 8 * np.finfo(np.float64).eps
"""Distance, relative to the chain length, that rounding alone can put between a target and the ring.

The distance, the sum of the lengths and the comparison each round once or twice.
"""


class Reach(IntEnum):
    """Outcome of a frame; arrays of it are int8.

    DEGENERATE marks frames whose target does not determine the pose: a target that is not finite, a link that vanishes beside the
    other, or a target on the root joint of a chain with equal links. Undetermined angles are held from the previous frame.
    """

    REACHED = 0
    TOO_FAR = 1
    TOO_NEAR = 2
    DEGENERATE = 3


class ReachMode(StrEnum):
    """Treatment of targets near or outside the limits of reach."""

    CLAMP = "CLAMP"
    """Point straight at the target, or fold."""

    SOFTEN = "SOFTEN"
    """Ease into straight and folded, see `softness`."""

    STRETCH = "STRETCH"
    """Scale the links so that the tip stays on the target, see `stretch_ratio`."""


@dataclass(frozen=True, slots=True)
class ReachOptions:
    """Options for reaching targets. Invalid values are rejected where settings are made."""

    mode: ReachMode | str = ReachMode.CLAMP
    """A `ReachMode` or its name."""
    softness: float = 0.0
    """SOFTEN, STRETCH: fraction of the chain length that is softened at the far limit, 0 to 1."""
    softness_near: float = 0.0
    """SOFTEN, STRETCH: fraction of the chain length that is softened at the folded limit, 0 to 1."""
    stretch_start: float = 1.0
    """STRETCH: fraction of the chain length at which stretching begins, 0 to 1."""
    stretch_max: float = np.inf
    """STRETCH: largest scale of the links, at least 1."""
    compress_min: float = 1.0
    """STRETCH: smallest scale of the links, above 0 and at most 1; 1 does not shrink them."""
    min_distance: float = 0.0
    """Keep the tip at least this far from the root joint (0 = off)."""
    max_distance: float = 0.0
    """Keep the tip at most this far from the root joint (0 = off)."""
    limits: ArrayLike | None = None
    """`(4,)` or broadcast against `(..., F, 4)`: joint limits as in `solve_two_bone_limited`."""
    tolerance: ArrayLike = ROUNDING_SLACK
    """Distance, relative to the chain length, that counts as reached; scalar or broadcast against `(..., F)`."""


def classify(distances: Array, near: Array, far: Array, slack: Array) -> Codes:
    """Compare target distances with the ring between `near` and `far`.

    distances : (..., F), from the root joint
    near, far : broadcast against distances, radii of the ring
    slack : broadcast against distances, distance outside the ring that still counts as reached

    Returns `(..., F)` int8 of `Reach`, never DEGENERATE; NaN compares as reached. If the ring is empty, TOO_FAR takes precedence
    over TOO_NEAR.
    """
    too_far = distances > far + slack
    too_near = distances < near - slack
    # These members are 1 and 2 by design, so that the codes are a plain sum.
    return too_far.view(np.int8) + 2 * (too_near & ~too_far).view(np.int8)


BLOCK_SIZE = 8192
"""Frames per block: a dozen float64 temporaries of a block fit a core's cache."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of consecutive frames; each array is `(B,)`, or 0-d where it is constant."""

    frames: slice
    x: Array
    y: Array
    length_1: Array
    length_2: Array
    bend: Array
    tolerance: Array

    distance: Array | None
    """Distance to solve for instead of the target's own, if given."""


@dataclass(frozen=True, slots=True)
class Triangle:
    """Triangle of both links and the target's distance clamped to the ring."""

    inside: Array
    """Clamped distance."""
    near: Array
    far: Array

    straightness: Array
    """sqrt(inside^2 - near^2) / far, 0 when folded."""
    foldedness: Array
    """sqrt(far^2 - inside^2) / far, 0 when straight; divided by straightness it is tan(|angle 2| / 2)."""


HUGE, TINY = 2.0**1000, 2.0**-1010
"""Numbers from which sums of many links may overflow float64, and below which they lose digits."""


def room_for_sums(targets: Array, lengths: Array) -> Array | None:
    """Factors `(..., F, 1)` by which the numbers of a frame are scaled before they are added; `None` if none needs one."""
    if max(np.abs(targets).max(initial=0.0), lengths.max(initial=0.0)) <= HUGE and lengths.min(initial=np.inf) >= TINY:
        return None
    size = np.maximum(np.abs(targets).max(axis=-1), lengths.max(axis=-1))
    exponents = np.where((size > HUGE) | (size < TINY), np.frexp(size)[1], 0)
    # Powers of two do not round.
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))[..., np.newaxis]


def target_distances(targets: Array) -> Array:
    """Distances `(..., F)` of targets `(..., F, 2)` from the root joint; infinite where they overflow float64."""
    with np.errstate(over="ignore"):
        return span(targets)


def ring_limits(length_1: Array, length_2: Array) -> tuple[Array, Array]:
    """Inner and outer radius of the reachable ring, shaped like the lengths."""
    return np.abs(length_1 - length_2), length_1 + length_2


def measure(distance: Array, length_1: Array, length_2: Array) -> Triangle:
    """Measure the triangle with sides `length_1`, `length_2` and the clamped distance.

    distance : (...), from the root joint to the target, not clamped
    length_1, length_2 : broadcast against distance

    Where both lengths are 0 there is no triangle, and the two relative fields are NaN.
    """
    near, far = ring_limits(length_1, length_2)
    inside = np.clip(distance, near, far)
    # Each factor gets its own square root: the product of two tiny factors would underflow.
    with np.errstate(invalid="ignore"):
        straightness = np.sqrt(inside - near) * np.sqrt(inside + near) / far
        foldedness = np.sqrt(far - inside) * np.sqrt(far + inside) / far
    return Triangle(inside, near, far, straightness, foldedness)


def blocks(
    targets: Array, lengths: Array, bend: Array, distances: Array | None = None, tolerance: ArrayLike = 0.0
) -> Iterator[Block]:
    """Iterate over a problem of any shape in blocks that fit the cache.

    targets : (..., F, 2)
    lengths : (..., F, 2) or (2,)
    bend : scalar or (..., F)
    distances : (..., F) or None
    tolerance : scalar or broadcast against (..., F)
    """
    shape = targets.shape[:-1]
    tolerance = np.asarray(tolerance, dtype=np.float64)
    columns = (targets[..., 0], targets[..., 1], lengths[..., 0], lengths[..., 1], bend, tolerance, distances)
    flat: list[Any] = [
        None if column is None else column.reshape(()) if column.size == 1 else np.broadcast_to(column, shape).reshape(-1)
        for column in columns
    ]
    for start in range(0, int(np.prod(shape)), BLOCK_SIZE):
        frames = slice(start, start + BLOCK_SIZE)
        parts: list[Any] = [column if column is None or column.ndim == 0 else column[frames] for column in flat]
        yield Block(frames, *parts)
