"""Where a target lies with respect to what a chain can reach."""

from enum import IntEnum

import numpy as np

from ..array_types import Array, Codes

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


def classify(distances: Array, near: Array, far: Array, slack: Array) -> Codes:
    """Compare target distances with the ring between `near` and `far`.

    distances : (..., F), from the root joint
    near, far : broadcast against distances, radii of the ring
    slack : broadcast against distances, how far outside the ring still counts as reached

    Returns `(..., F)` int8 of `Reach`, never DEGENERATE; NaN compares as reached. Should the ring
    be empty, TOO_FAR goes before TOO_NEAR.
    """
    too_far = distances > far + slack
    too_near = distances < near - slack
    # By design these members are 1 and 2, which makes the choice among three two sums.
    return too_far.view(np.int8) + 2 * (too_near & ~too_far).view(np.int8)
