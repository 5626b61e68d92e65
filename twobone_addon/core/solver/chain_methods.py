"""Alternative methods for chains: one common factor of all bends, and cyclic coordinate descent.

With `spring_pose` all joints open and close together, as animators expect of a hind leg. The factor applies to the tangents of
half the bends, which for small bends amounts to the bends themselves. So all joints are straight together at factor 0 and folded
together at the other end; a factor of the angles would fold the joint with the greatest bend first. The distance from root to tip
then depends on this one number, which is found for a target by bracketing and bisection.

Cyclic coordinate descent as published is the baseline for the default method. From tip to root, each joint in turn rotates so
that the tip comes as near to the target as that joint alone can bring it, within its limits (Wang & Chen 1991, "A combined
optimization method for solving the inverse kinematics problem"; in the plane with limits Lander 1998, "Making Kine More
Flexible", and Juckett 2009, "Cyclic Coordinate Descent in 2D"). The distance never grows, but the descent can lock: where no
single joint can improve although several together reach the target, and on a straight chain that points at the target.
"""

import numpy as np

from ..array_types import Array, Mask
from .angles import wrap
from .chain_problem import ChainProblem, into_limits, norm

STEPS_PER_LINK = 16
"""Samples per link, from straight to folded, that bracket the solution: the distance rises and falls at most once per link."""

HALVINGS = 52
"""Bisections of a bracket: enough for full precision."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
NARROWINGS = 40
"""Golden-section steps for a minimum: more would compare rounding errors."""

CLEARLY_NEARER = 1e-9
"""Decrease of the root-tip distance, relative to the chain length, required before an increase counts; above rounding error."""


def spring_pose(problem: ChainProblem) -> Array:
    """Poses `(n, P)`, inside the limits, whose bends are scaled by a common factor so that the tip is at the target's distance.

    The first joint keeps its preferred angle, because it only aims. A joint that the factor would take beyond a limit stays on
    it. Targets too far away get a straight chain; targets too near for the shape get the pose at the first minimum of the
    root-tip distance.
    """
    halves = np.tan(0.5 * wrap(problem.preferred[1:]))
    greatest = np.abs(halves).max(axis=0)
    shape = np.divide(halves, greatest, out=np.zeros_like(halves), where=greatest > 0)
    distances = norm(problem.targets)
    low, high, crossed = _bracket(problem, shape, distances)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        too_far = _root_tip_distances(problem, shape, middle) > distances
        low = np.where(too_far & crossed, middle, low)
        high = np.where(too_far | ~crossed, high, middle)
    folds = np.where(crossed, 0.5 * (low + high), _nearest(problem, shape, low, high))
    straight = np.zeros(problem.size)
    folds = np.where(_root_tip_distances(problem, shape, straight) <= distances, straight, folds)
    return np.concatenate([problem.preferred[:1], _bends(problem, shape, folds)])


def _bracket(problem: ChainProblem, shape: Array, distances: Array) -> tuple[Array, Array, Mask]:
    """Folds `(P,)` below and above the one with `distances` `(P,)`; without one, around the first minimum of the distance."""
    count = STEPS_PER_LINK * len(problem.lengths)
    steps = np.linspace(0.0, np.pi, count + 1)
    low, high = np.zeros(problem.size), np.full(problem.size, np.pi)
    crossed, parted = np.zeros(problem.size, dtype=bool), np.zeros(problem.size, dtype=bool)
    before = farthest = _root_tip_distances(problem, shape, low)
    for step in range(1, count + 1):
        here = _root_tip_distances(problem, shape, np.full(problem.size, steps[step]))
        is_open = ~crossed & ~parted
        crossing = is_open & (before > distances) & (here <= distances)
        parting = is_open & ~crossing & (here > before) & (before < farthest - CLEARLY_NEARER)
        low = np.where(crossing, steps[step - 1], np.where(parting, steps[max(step - 2, 0)], low))
        high = np.where(crossing | parting, steps[step], high)
        crossed, parted = crossed | crossing, parted | parting
        farthest, before = np.maximum(farthest, here), here
    # The distance never rose again: it is least where the chain is folded.
    return np.where(crossed | parted, low, np.pi), high, crossed


def _nearest(problem: ChainProblem, shape: Array, low: Array, high: Array) -> Array:
    """Folds `(P,)` between `low` and `high` with the least root-tip distance, by golden-section search."""
    for _ in range(NARROWINGS):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        nearer = _root_tip_distances(problem, shape, first) < _root_tip_distances(problem, shape, second)
        low, high = np.where(nearer, low, first), np.where(nearer, second, high)
    return 0.5 * (low + high)


def _bends(problem: ChainProblem, shape: Array, folds: Array) -> Array:
    """Angles `(n - 1, P)` after the first, within the limits; the joint with the greatest bend is bent by `folds` `(P,)`."""
    bends = 2.0 * np.arctan2(np.sin(0.5 * folds) * shape, np.cos(0.5 * folds))
    return np.minimum(np.maximum(bends, problem.lower[1:]), problem.upper[1:])


def _root_tip_distances(problem: ChainProblem, shape: Array, folds: Array) -> Array:
    """Distances `(P,)` from root to tip."""
    directions = np.cumsum(_bends(problem, shape, folds), axis=0)
    along = problem.lengths[0] + (problem.lengths[1:] * np.cos(directions)).sum(axis=0)
    return np.hypot(along, (problem.lengths[1:] * np.sin(directions)).sum(axis=0))


SWEEPS = 200
"""Passes over all joints. Few chains that have not arrived by then ever do."""

LOCKED = 1e-12
"""Gain per sweep, relative to the chain length, below which a chain counts as locked."""


def coordinate_descent(problem: ChainProblem, starts: Array, tolerance: float) -> tuple[Array, Array]:
    """Cyclic coordinate descent: rotate one joint at a time, in all problems at once.

    problem : P chains
    starts : (n, P), inside the limits
    tolerance : distance, relative to the chain length, at which a chain has arrived

    Returns poses `(n, P)`, inside the limits, and the remaining distances `(P,)`.
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
    """Poses `(n, P)` after each joint has turned once, the last joint first."""
    for joint in reversed(range(len(angles))):
        arms = part.arms(angles)
        arm_u, arm_v = arms[:, joint]
        goal_u, goal_v = part.targets - arms[:, 0] + arms[:, joint]
        turn = np.arctan2(arm_u * goal_v - arm_v * goal_u, arm_u * goal_u + arm_v * goal_v)
        angles[joint] = into_limits(angles[joint] + turn, part.lower[joint], part.upper[joint])
    return angles
