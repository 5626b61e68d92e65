"""What was tried with a base, and the best of it, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array_types import Array
from ...arrays import magnitude


@dataclass(frozen=True, slots=True)
class Tried:
    """Shapes and turns of a base, targets, and what they lead to."""

    shape: Array
    """`(F, 2)`"""
    turn: Array
    """`(F,)`"""
    beyond: Array
    """`(F, 3)`"""
    off: Array
    """`(F, 4)` errors of the joints."""

    def or_better(self, other: Tried) -> Tried:
        """The same with those of the frames at which the other ones are better."""
        better = magnitude(other.off) < magnitude(self.off)
        at = better[:, None]
        shape, off = np.where(at, other.shape, self.shape), np.where(at, other.off, self.off)
        return Tried(shape, np.where(better, other.turn, self.turn), np.where(at, other.beyond, self.beyond), off)
