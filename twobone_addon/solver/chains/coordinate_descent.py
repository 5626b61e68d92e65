"""Cyclic coordinate descent as published: the base line that the default method is measured by.

Joint after joint, from the tip to the root, each turns so that the tip comes as near to the
target as that joint alone can bring it; a joint with limits turns as far as they let it (Wang &
Chen 1991, "A combined optimization method for solving the inverse kinematics problem"; in the
plane with limits Lander 1998, "Making Kine More Flexible", and Juckett 2009, "Cyclic Coordinate
Descent in 2D"). The distance never grows, but the motion can lock: where no joint alone can
improve, also where several together reach the target, and on a straight chain that points at it.
"""

import numpy as np

from ...array_types import Array
from .problem import ChainProblem, into_limits

SWEEPS = 200
"""Rounds over all joints. Few chains that have not arrived by then ever do."""

LOCKED = 1e-12
"""Gain in a round, relative to the chain length, below which the chain counts as locked."""


def coordinate_descent(problem: ChainProblem, starts: Array, tolerance: float) -> tuple[Array, Array]:
    """Turn one joint at a time, all problems at once.

    problem : P chains
    starts : (n, P), inside the limits
    tolerance : distance, relative to the chain length, at which a chain has arrived

    Returns poses `(n, P)`, inside the limits, and the distances left `(P,)`.
    """
    angles = starts.copy()
    distances = problem.distances(angles)
    active = np.flatnonzero(distances > tolerance)
    for _ in range(SWEEPS):
        if active.size == 0:
            break
        part = problem.take(active)
        angles[:, active] = _sweep(part, angles[:, active])
        before, distances[active] = distances[active], part.distances(angles[:, active])
        active = active[(distances[active] > tolerance) & (before - distances[active] > LOCKED)]
    return angles, distances


def _sweep(part: ChainProblem, angles: Array) -> Array:
    """Poses `(n, P)` after one turn of every joint, the last one first."""
    for joint in reversed(range(len(angles))):
        arms = part.arms(angles)
        arm_u, arm_v = arms[:, joint]
        goal_u, goal_v = part.targets - arms[:, 0] + arms[:, joint]
        turn = np.arctan2(arm_u * goal_v - arm_v * goal_u, arm_u * goal_u + arm_v * goal_v)
        angles[joint] = into_limits(angles[joint] + turn, part.lower[joint], part.upper[joint])
    return angles
