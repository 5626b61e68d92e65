"""Batch of planar chains in a joint-major layout for speed.

All arrays inside the chain solver are `(n, P)`: n joints, P independent problems (frames of one chain or of many). A sum over the
few joints is then a handful of additions of long rows. Lengths and targets are relative to the chain length, and so is every
tolerance.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .angles import FULL_TURN

WHOLE_TURNS = FULL_TURN * np.array([[0.0], [-1.0], [1.0]])
"""Zero comes first, so that an angle inside its limits is unchanged."""


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """P chains of n links, with one target each."""

    targets: Array
    """`(2, P)`, relative to the root joint and to the chain length."""
    lengths: Array
    """`(n, P)` >= 0; each column sums to 1."""
    lower: Array
    """`(n, P)` radians, smallest angle of each joint; -inf where there is no limit."""
    upper: Array
    """`(n, P)` radians, largest angle of each joint; inf where there is no limit."""
    preferred: Array
    """`(n, P)` radians, inside the limits: the pose to stay near."""
    bend: Array
    """`(P,)` of +1 and -1: the requested side."""

    @property
    def size(self) -> int:
        """Number of problems, P."""
        return self.targets.shape[-1]

    def take(self, columns: Array | slice) -> "ChainProblem":
        """The problems in `columns`: indices, which may repeat, or a slice."""
        return ChainProblem(
            self.targets[:, columns],
            self.lengths[:, columns],
            self.lower[:, columns],
            self.upper[:, columns],
            self.preferred[:, columns],
            self.bend[columns],
        )

    def arms(self, angles: Array) -> Array:
        """Vectors from each joint to the tip for poses `angles` `(n, P)`.

        Returns `(2, n, P)`. The first joint is the root, so `[:, 0]` is the tip itself. Each arm rotated by a quarter turn is a
        column of the Jacobian.
        """
        directions = np.cumsum(angles, axis=0)
        links = np.empty((2, *angles.shape))
        np.multiply(self.lengths, np.cos(directions), out=links[0])
        np.multiply(self.lengths, np.sin(directions), out=links[1])
        return np.cumsum(links[:, ::-1], axis=1)[:, ::-1]

    def residuals(self, arms: Array) -> Array:
        """Vectors `(2, P)` from tip to target."""
        return self.targets - arms[:, 0]

    def distances(self, angles: Array) -> Array:
        """Distances `(P,)` from tip to target for poses `angles` `(n, P)`."""
        return norm(self.residuals(self.arms(angles)))

    def clip(self, angles: Array) -> Array:
        """Clamp poses `(n, P)` to the limits."""
        return np.minimum(np.maximum(angles, self.lower), self.upper)


def norm(vectors: Array) -> Array:
    """Lengths `(P,)` of plane vectors `(2, P)`."""
    return np.hypot(vectors[0], vectors[1])


def into_limits(angles: Array, lower: Array, upper: Array) -> Array:
    """Bring angles `(P,)` of one joint inside its limits.

    The angle a whole turn away is taken if it is inside, else the nearest limit.
    """
    candidates = angles + WHOLE_TURNS
    outside = np.maximum(np.maximum(lower - candidates, candidates - upper), 0.0)
    nearest = np.take_along_axis(candidates, outside.argmin(axis=0)[np.newaxis], axis=0)[0]
    return np.minimum(np.maximum(nearest, lower), upper)
