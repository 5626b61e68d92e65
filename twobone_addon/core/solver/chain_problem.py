"""Many planar chains at once, laid out for speed: the joints first, then the problems.

Everything inside the chain solver is joint-major, `(n, P)`: n joints, P independent problems (frames of one chain, or of many). A
sum over the few joints is then a handful of additions of long rows. Lengths and targets are relative to the chain length, so
every tolerance is too.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .angles import FULL_TURN

WHOLE_TURNS = FULL_TURN * np.array([[0.0], [-1.0], [1.0]])
"""None first, so that an angle inside its limits stays as it is."""


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """P chains of n links with a target each."""

    targets: Array
    """`(2, P)`, relative to the root joint and to the chain length."""
    lengths: Array
    """`(n, P)` >= 0; each column sums to 1."""
    lower: Array
    """`(n, P)` radians, smallest angle of each joint; -inf where there is no limit."""
    upper: Array
    """`(n, P)` radians, largest angle of each joint; inf where there is no limit."""
    preferred: Array
    """`(n, P)` radians, inside the limits: the pose to stay near to."""
    bend: Array
    """`(P,)` of +1 and -1: the side that is asked for."""

    @property
    def size(self) -> int:
        """The number of problems, P."""
        return self.targets.shape[-1]

    def take(self, columns: Array | slice) -> "ChainProblem":
        """The problems in `columns`: indices, repeated as often as wanted, or a slice."""
        return ChainProblem(
            self.targets[:, columns],
            self.lengths[:, columns],
            self.lower[:, columns],
            self.upper[:, columns],
            self.preferred[:, columns],
            self.bend[columns],
        )

    def arms(self, angles: Array) -> Array:
        """Where the tip is as seen from each joint, for poses `angles` `(n, P)`.

        Returns `(2, n, P)`. The first joint is the root, so `[:, 0]` is the tip itself. Turning joint i moves the tip by its arm
        turned a quarter: that is the whole Jacobian.
        """
        directions = np.cumsum(angles, axis=0)
        links = np.empty((2, *angles.shape))
        np.multiply(self.lengths, np.cos(directions), out=links[0])
        np.multiply(self.lengths, np.sin(directions), out=links[1])
        return np.cumsum(links[:, ::-1], axis=1)[:, ::-1]

    def residuals(self, arms: Array) -> Array:
        """The way from the tip to the target, `(2, P)`."""
        return self.targets - arms[:, 0]

    def distances(self, angles: Array) -> Array:
        """How far the tip of poses `angles` `(n, P)` stays from the target, `(P,)`."""
        return norm(self.residuals(self.arms(angles)))

    def clip(self, angles: Array) -> Array:
        """Poses `(n, P)` with every angle brought inside its limits."""
        return np.minimum(np.maximum(angles, self.lower), self.upper)


def norm(vectors: Array) -> Array:
    """The lengths `(P,)` of plane vectors `(2, P)`."""
    return np.hypot(vectors[0], vectors[1])


def into_limits(angles: Array, lower: Array, upper: Array) -> Array:
    """Angles `(P,)` of one joint brought inside its limits.

    The same direction a whole turn away is taken if it is inside; else the nearest limit.
    """
    candidates = angles + WHOLE_TURNS
    outside = np.maximum(np.maximum(lower - candidates, candidates - upper), 0.0)
    nearest = np.take_along_axis(candidates, outside.argmin(axis=0)[np.newaxis], axis=0)[0]
    return np.minimum(np.maximum(nearest, lower), upper)
