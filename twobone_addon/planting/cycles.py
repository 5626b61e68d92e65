"""Motions that end in the pose in which they began, and so can be played round after round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Indices
from ..arrays import magnitude

SAME = 1e-3
"""Part of the leg's length by which poses may differ that are meant to be the same."""


def round_way(gone: Array, leg_length: float) -> Array | None:
    """How far `(3,)` a character gets in one round of its motion; `None` where that is no cycle.

    gone : (P, 3) of points of its legs, how far each is at the last frame from where it is at the first
    """
    way = gone.mean(axis=0)
    return None if magnitude(gone - way).max() > SAME * leg_length else way


@dataclass(frozen=True, slots=True)
class Rounds:
    """One round of a cycle, with others before and after it. The last moment of a round is the first one of the next."""

    count: int
    """Moments in the round that is meant."""
    beside: int
    """Rounds before it, and as many after it."""

    @property
    def start(self) -> int:
        """Where among all moments the round begins that is meant."""
        return self.beside * (self.count - 1)

    def rows(self) -> Indices:
        """For all moments the one of the round that is meant, whose own first and last moments both stay."""
        inside = np.arange(self.count)
        return np.concatenate([np.tile(inside[:-1], self.beside), inside, np.tile(inside[1:], self.beside)])

    def numbers(self) -> Array:
        """For all moments which round they are of; the one that is meant is 0."""
        beside = np.repeat(np.arange(1, self.beside + 1), self.count - 1)
        return np.concatenate([-beside[::-1], np.zeros(self.count), beside])

    def times(self, first: float, step: float) -> Array:
        """When all moments are, if the round that is meant begins at `first`, and moments are a `step` apart."""
        return first + step * (np.arange(len(self.rows())) - self.start)

    def middle(self, values: Array) -> Array:
        """What is meant, out of values for all moments, `(n, ...)`."""
        return values[self.start : self.start + self.count]

    def states(self, states: Codes) -> Codes:
        """States of a foot for all moments: a point that stands at the first or at the last moment of a round stands at both."""
        found = np.array(states)
        found[0] = found[-1] = states[0] | states[-1]
        return found[self.rows()]
