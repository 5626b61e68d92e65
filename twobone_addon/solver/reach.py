"""Where a target lies with respect to what a chain can reach."""

from enum import IntEnum

import numpy as np

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


def classify(
    distances: np.ndarray, near: np.ndarray, far: np.ndarray, tolerance: float = ROUNDING_SLACK
) -> np.ndarray:
    """Compare target distances with the ring between `near` and `far`.

    distances : (..., F), from the root joint
    near, far : broadcast against distances, radii of the ring
    tolerance : slack outside the ring that still counts as reached, relative to `far`

    Returns (..., F) int8 of `Reach`, never DEGENERATE; NaN compares as reached.
    """
    slack = tolerance * far
    # The members are 0, 1 and 2 by design, so two comparisons are the answer.
    too_far = (distances > far + slack).astype(np.int8)
    too_near = (distances < near - slack).astype(np.int8)
    return Reach.TOO_FAR * too_far + Reach.TOO_NEAR * too_near
