"""What is known about feet before their contacts are: where their points are over time, and how large the character is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array


@dataclass(frozen=True, slots=True)
class FeetMotion:
    """The feet of one character over time, `C` of them, heel first and ball second."""

    points: Array
    """`(C, 2, F, 3)` heel and ball, Z up, in a space in which the ground has no motion but a steady one."""
    heights: Array
    """`(C, 2, F)` over the ground, or over height 0 as long as the ground is not known; the sole at rest has 0."""
    hips: Array
    """`(C, F, 3)` root joints of the legs, in the same space."""
    leg_length: float
    """Of a stretched leg, in the units of the points."""
    rate: float
    """Frames a second."""

    def over(self, height: float) -> FeetMotion:
        """The same over a flat ground at that height."""
        return replace(self, heights=self.heights - height)

    def beside(self, velocity: Array) -> FeetMotion:
        """The same as seen from a ground that moves at `velocity` `(3,)`, units a second."""
        away = np.arange(self.points.shape[-2])[:, None] * (velocity / self.rate)
        return replace(self, points=self.points - away, hips=self.hips - away)
