"""Where a target lies with respect to what a chain can reach, and how the chain is to reach for it."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes

ROUNDING_SLACK = 8 * np.finfo(np.float64).eps
"""Slack, relative to the chain length, that rounding alone can put between a target and the ring.

The distance, the sum of the lengths and the comparison each round once or twice.
"""


class Reach(IntEnum):
    """What became of one frame; arrays of it are int8.

    DEGENERATE marks frames in which the target fixes no pose: a target that is no number, a link
    that vanishes beside the other one, or a target on the root joint of a chain with equal links.
    What is free is then held from the frame before.
    """

    REACHED = 0
    TOO_FAR = 1
    TOO_NEAR = 2
    DEGENERATE = 3


class ReachMode(StrEnum):
    """What a chain does about targets near or outside what it can reach."""

    CLAMP = "CLAMP"
    """Point straight at them, or fold."""

    SOFTEN = "SOFTEN"
    """Ease into straight and folded, see `softness`."""

    STRETCH = "STRETCH"
    """Scale the links so that the tip stays on the target, see `stretching`."""


@dataclass(frozen=True, slots=True)
class ReachOptions:
    """How a chain is to reach for its targets. Values without a meaning are refused where settings are made."""

    mode: ReachMode | str = ReachMode.CLAMP
    """A `ReachMode` or its name."""
    softness: float = 0.0
    """SOFTEN, STRETCH: fraction of the chain length that is softened at the far limit, 0 to 1."""
    softness_near: float = 0.0
    """SOFTEN, STRETCH: the same at the folded limit."""
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
    """How far off, relative to the chain length, still counts as reached; scalar or broadcast against `(..., F)`."""


def classify(distances: Array, near: Array, far: Array, slack: Array) -> Codes:
    """Compare target distances with the ring between `near` and `far`.

    distances : (..., F), from the root joint
    near, far : broadcast against distances, radii of the ring
    slack : broadcast against distances, how far outside the ring still counts as reached

    Returns `(..., F)` int8 of `Reach`, never DEGENERATE; NaN compares as reached. Should the ring
    be empty, TOO_FAR goes before TOO_NEAR.
    """
    too_far = distances > far + slack
    too_near = distances < near - slack
    # By design these members are 1 and 2, which makes the choice among three two sums.
    return too_far.view(np.int8) + 2 * (too_near & ~too_far).view(np.int8)
