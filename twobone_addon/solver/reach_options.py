"""How a chain is to reach for its targets."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from .reach import ROUNDING_SLACK


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
    tolerance: float = ROUNDING_SLACK
    """How far off, relative to the chain length, still counts as reached."""
