"""Cycles: motions that end in the pose in which they began, and so can be repeated round after round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Indices
from ..arrays import magnitude
from ..contacts.states import runs

SAME = 1e-3
"""Largest difference, relative to leg length, between poses that count as the same."""


def ways_gone(joints: Array, heels: Array, balls: Array) -> Array:
    """Displacement `(5, 3)` of each point of a leg from the first frame to the last.

    joints : (F, 3, 3) hip, knee and ankle; heels, balls : (F, 3)
    """
    ends = [np.vstack([joints[row], heels[row], balls[row]]) for row in (0, -1)]
    return ends[1] - ends[0]


def round_way(gone: Array, leg_length: float) -> Array | None:
    """Displacement `(3,)` of a character per round of its motion; `None` if the motion is no cycle.

    gone : (P, 3) displacements of points of its legs, see `ways_gone`
    """
    travel = gone.mean(axis=0)
    return None if magnitude(gone - travel).max() > SAME * leg_length else travel


@dataclass(frozen=True, slots=True)
class Rounds:
    """A cycle repeated before and after its original round, in frames or samples. The last one is also the next round's first."""

    count: int
    """Samples in the original round, at least 2."""
    beside: int
    """Samples before it, and as many after it; may span several rounds."""

    def _moments(self) -> Indices:
        return np.arange(-self.beside, self.count + self.beside)

    def numbers(self) -> Indices:
        """Round number of each sample; the original round is 0 and includes both its first and its last sample."""
        moments, length = self._moments(), self.count - 1
        return np.where(moments < 0, moments // length, np.maximum(moments - 1, 0) // length)

    def rows(self) -> Indices:
        """For each sample, the corresponding row of the original round."""
        return self._moments() - self.numbers() * (self.count - 1)

    def times(self, first: float, step: float) -> Array:
        """Times of all samples, `step` apart, if the original round begins at `first`."""
        return first + step * self._moments()

    @property
    def meant(self) -> slice:
        """Slice of the original round within all samples."""
        return slice(self.beside, self.beside + self.count)

    def middle(self, values: Array) -> Array:
        """Values of the original round, out of values `(n, ...)` for all samples."""
        return values[self.meant]

    def states(self, states: Codes) -> Codes:
        """States of a foot at all samples: a point that stands at the first or the last sample of a round stands at both."""
        closed = np.array(states)
        closed[0] = closed[-1] = states[0] | states[-1]
        return closed[self.rows()]


def stance_beside(states: Sequence[Codes]) -> int:
    """Length in frames of the longest stance, over all feet's states `(F,)`, that reaches exactly one end of a round.

    A stance over the whole round does not count: its pin is the same wherever it is cut off.
    """
    longest = 0
    for foot_states in states:
        last = len(foot_states) - 1
        ends = [run for run in runs(foot_states != 0) if (run[0] == 0) != (run[1] == last)]
        longest = max([longest, *(end - start + 1 for start, end in ends)])
    return longest
