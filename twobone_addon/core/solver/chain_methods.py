"""Other methods for chains: by one common factor of all bends, and by coordinate descent.

By `spring_pose` all joints open and close together, as animators expect of a hind leg. The factor is that of the tangents of half
the bends, which for small bends is that of the bends themselves. So all joints are straight at once at factor 0 and folded at
once at the other end, and none folds before the others have followed: under a factor of the angles the one that is bent most
would. With its bends known but for a factor, a chain has one number left that decides how far its tip is from its root, and what
a target asks for is a root in a bracket.

Cyclic coordinate descent as published is the base line that the default method is measured by. Joint after joint, from the tip to
the root, each turns so that the tip comes as near to the target as that joint alone can bring it; a joint with limits turns as
far as they let it (Wang & Chen 1991, "A combined optimization method for solving the inverse kinematics problem"; in the plane
with limits Lander 1998, "Making Kine More Flexible", and Juckett 2009, "Cyclic Coordinate Descent in 2D"). The distance never
grows, but the motion can lock: where no joint alone can improve, also where several together reach the target, and on a straight
chain that points at it.
"""

import numpy as np

from ..array_types import Array, Mask
from .angles import wrap
from .chain_problem import ChainProblem, into_limits, norm

STEPS_PER_LINK = 16
"""Poses for each link, from straight to folded, between which the root is bracketed: the distance goes up and down at most as
often as there are links."""

HALVINGS = 52
"""Of a bracket: to the last digit."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
NARROWINGS = 40
"""Of the bracket of a minimum: more would compare rounding."""

CLEARLY_NEARER = 1e-9
"""Of the chain's length, that ends must have approached each other before a way back counts: rounding is less."""


def spring_pose(problem: ChainProblem) -> Array:
    """Poses `(n, P)`, inside the limits, whose joints are bent by a common factor so that they reach the distance.

    Only the first joint is left as it is preferred, for it aims. A joint that the factor would bring beyond a limit stays on it.
    Targets too far get a straight chain; those too near for the shape, the pose that brings the ends nearest to each other before
    they part again.
    """
    halves = np.tan(0.5 * wrap(problem.preferred[1:]))
    greatest = np.abs(halves).max(axis=0)
    shape = np.divide(halves, greatest, out=np.zeros_like(halves), where=greatest > 0)
    wanted = norm(problem.targets)
    low, high, crossed = _bracket(problem, shape, wanted)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        too_far = _spans(problem, shape, middle) > wanted
        low = np.where(too_far & crossed, middle, low)
        high = np.where(too_far | ~crossed, high, middle)
    folds = np.where(crossed, 0.5 * (low + high), _nearest(problem, shape, low, high))
    straight = np.zeros(problem.size)
    folds = np.where(_spans(problem, shape, straight) <= wanted, straight, folds)
    return np.concatenate([problem.preferred[:1], _bends(problem, shape, folds)])


def _bracket(problem: ChainProblem, shape: Array, wanted: Array) -> tuple[Array, Array, Mask]:
    """Folds `(P,)` on both sides of where the distance is `wanted`; where it never is, around its first minimum."""
    count = STEPS_PER_LINK * len(problem.lengths)
    steps = np.linspace(0.0, np.pi, count + 1)
    low, high = np.zeros(problem.size), np.full(problem.size, np.pi)
    crossed, parted = np.zeros(problem.size, dtype=bool), np.zeros(problem.size, dtype=bool)
    before = farthest = _spans(problem, shape, low)
    for step in range(1, count + 1):
        here = _spans(problem, shape, np.full(problem.size, steps[step]))
        is_open = ~crossed & ~parted
        crossing = is_open & (before > wanted) & (here <= wanted)
        parting = is_open & ~crossing & (here > before) & (before < farthest - CLEARLY_NEARER)
        low = np.where(crossing, steps[step - 1], np.where(parting, steps[max(step - 2, 0)], low))
        high = np.where(crossing | parting, steps[step], high)
        crossed, parted = crossed | crossing, parted | parting
        farthest, before = np.maximum(farthest, here), here
    # Never parted: the ends are nearest where the chain is folded.
    return np.where(crossed | parted, low, np.pi), high, crossed


def _nearest(problem: ChainProblem, shape: Array, low: Array, high: Array) -> Array:
    """The folds `(P,)` between two at which root and tip are nearest to each other, by golden section."""
    for _ in range(NARROWINGS):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        nearer = _spans(problem, shape, first) < _spans(problem, shape, second)
        low, high = np.where(nearer, low, first), np.where(nearer, second, high)
    return 0.5 * (low + high)


def _bends(problem: ChainProblem, shape: Array, folds: Array) -> Array:
    """The angles `(n - 1, P)` after the first, within the limits; the joint that is bent most by `folds` `(P,)`."""
    bends = 2.0 * np.arctan2(np.sin(0.5 * folds) * shape, np.cos(0.5 * folds))
    return np.minimum(np.maximum(bends, problem.lower[1:]), problem.upper[1:])


def _spans(problem: ChainProblem, shape: Array, folds: Array) -> Array:
    """The distances `(P,)` from root to tip."""
    directions = np.cumsum(_bends(problem, shape, folds), axis=0)
    along = problem.lengths[0] + (problem.lengths[1:] * np.cos(directions)).sum(axis=0)
    return np.hypot(along, (problem.lengths[1:] * np.sin(directions)).sum(axis=0))


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
