"""Cuts: from one frame to the next all of a body jumps, as where two takes were joined. Nothing may be eased across a cut."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Indices
from ..arrays import magnitude

JUMP = 0.25
"""Smallest jump of every point at a cut, relative to the size of the body, such as the length of a leg."""

SUDDEN = 4.0
"""How many times a cut is larger than any other step of any point near it: a fast motion has equals beside it."""

NEAR = 4
"""Number of steps to either side with which a step is compared: motion held on twos or threes jumps again within these."""


def cuts(points: Array, size: float) -> Indices:
    """Rows of `points` `(F, P, 3)`, one a frame, at which another take begins; `size` is that of the body.

    Neither the first two nor the last row begin a take: a take has two frames at least.
    """
    steps = magnitude(np.diff(points, axis=0))
    least, most = steps.min(axis=1), steps.max(axis=1)
    found = []
    for row in np.flatnonzero(least > JUMP * size).tolist():
        beside = np.concatenate([most[max(row - NEAR, 0) : row], most[row + 1 : row + 1 + NEAR]])
        if 0 < row < len(steps) - 1 and least[row] > SUDDEN * beside.max(initial=0.0):
            found.append(row + 1)
    return np.array(found, dtype=int)
