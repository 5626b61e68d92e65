"""Motions that end in the pose in which they began, and so can be played round after round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Indices
from ..arrays import magnitude
from ..contacts.states import runs

SAME = 1e-3
"""Part of the leg's length by which poses may differ that are meant to be the same."""


def ways_gone(joints: Array, heels: Array, balls: Array) -> Array:
    """How far each point of a leg is at the last moment from where it is at the first, `(5, 3)`.

    joints : (F, 3, 3) hip, knee and ankle; heels, balls : (F, 3)
    """
    ends = [np.vstack([joints[row], heels[row], balls[row]]) for row in (0, -1)]
    return ends[1] - ends[0]


def round_way(gone: Array, leg_length: float) -> Array | None:
    """How far `(3,)` a character gets in one round of its motion; `None` where that is no cycle.

    gone : (P, 3) of points of its legs, see `ways_gone`
    """
    way = gone.mean(axis=0)
    return None if magnitude(gone - way).max() > SAME * leg_length else way


@dataclass(frozen=True, slots=True)
class Rounds:
    """One round of a cycle, with what comes before and after it. The last moment of a round is the first one of the next."""

    count: int
    """Moments in the round that is meant, at least 2."""
    beside: int
    """Moments before it, and as many after it; they may be of several rounds."""

    def _moments(self) -> Indices:
        return np.arange(-self.beside, self.count + self.beside)

    def numbers(self) -> Indices:
        """For all moments which round they are of; that which is meant is 0, and has its own first and last moments."""
        moments, length = self._moments(), self.count - 1
        return np.where(moments < 0, moments // length, np.maximum(moments - 1, 0) // length)

    def rows(self) -> Indices:
        """For all moments the one of the round that is meant."""
        return self._moments() - self.numbers() * (self.count - 1)

    def times(self, first: float, step: float) -> Array:
        """When all moments are, if the round that is meant begins at `first`, and moments are a `step` apart."""
        return first + step * self._moments()

    @property
    def meant(self) -> slice:
        """The moments of the round that is meant, among all."""
        return slice(self.beside, self.beside + self.count)

    def middle(self, values: Array) -> Array:
        """What is meant, out of values for all moments, `(n, ...)`."""
        return values[self.meant]

    def states(self, states: Codes) -> Codes:
        """States of a foot for all moments: a point that stands at the first or at the last moment of a round stands at both."""
        found = np.array(states)
        found[0] = found[-1] = states[0] | states[-1]
        return found[self.rows()]


def stance_beside(states: Sequence[Codes]) -> int:
    """Frames of the longest stance, of all feet's states `(F,)`, at an end of a round that goes on in the next one.

    One over the whole round is on the same place wherever it is cut off.
    """
    longest = 0
    for each in states:
        last = len(each) - 1
        ends = [run for run in runs(each != 0) if (run[0] == 0) != (run[1] == last)]
        longest = max([longest, *(end - start + 1 for start, end in ends)])
    return longest
