"""The closest pose to a target that is out of reach: Newton's method in the box of limits.

Out of reach, the distance does not vanish, and neither does the second derivative of the tip:
Gauss-Newton steps creep. For a planar chain that derivative is as cheap as the first one, since
turning joints i and j bends the tip's way along the arm of the farther one:
d2 tip / d i d j = -arm(max(i, j)). Limits are an active set (Bertsekas 1982, "Projected Newton
methods for optimization problems with simple constraints").
"""

import numpy as np

from ...array_types import Array, Mask
from .problem import ChainProblem, norm

NEWTON_STEPS = 30
FLAT = 1e-12
"""Slope of half the squared distance per radian that counts as zero."""

ON_LIMIT = 1e-9
"""Radians from a limit in which a joint that is pushed outward counts as being on it."""

LEAST_CURVATURE = 1e-6
"""Directions with less curvature get this much, so that a step stays finite."""

FIRST_DAMPING = 1e-3
LEAST_RAISED_DAMPING = 1e-4
DAMPING_FACTOR = 10.0
GREATEST_DAMPING = 1e8
"""With this much damping a step is below rounding: nothing is left to gain."""


def settle(problem: ChainProblem, angles: Array) -> tuple[Array, Array]:
    """Bring tips to the nearest local minimum of the distance to the target.

    angles : (n, P), inside the limits; tips not on their targets

    Returns the poses `(n, P)`, inside the limits, and the distances left `(P,)`, never greater than
    before. For links without limits the minimum is the straight chain, or the folded one.
    """
    angles = angles.copy()
    arms = problem.arms(angles)
    distances = norm(problem.residuals(arms))
    damping = np.full(problem.size, FIRST_DAMPING)
    active = np.arange(problem.size)
    for _ in range(NEWTON_STEPS):
        if active.size == 0:
            break
        part, here, before = problem.take(active), angles[:, active], distances[active]
        turn, slope = _newton_step(part, here, arms[..., active], damping[active] * before)
        there = part.clip(here + turn)
        there_arms = part.arms(there)
        better = _is_closer(part, arms[..., active], there_arms)
        raised = np.maximum(damping[active], LEAST_RAISED_DAMPING) * DAMPING_FACTOR
        damping[active] = np.where(better, damping[active] / DAMPING_FACTOR, raised)
        moved = active[better]
        angles[:, moved], arms[..., moved] = there[:, better], there_arms[..., better]
        distances[moved] = norm(part.residuals(there_arms))[better]
        active = active[(slope > FLAT * np.maximum(before, 1.0)) & (damping[active] < GREATEST_DAMPING)]
    return angles, distances


def _is_closer(part: ChainProblem, before: Array, after: Array) -> Mask:
    """`(P,)` whether the second arms bring the tip nearer to the target than the first.

    The difference of the squared distances, factored: comparing the distances themselves would
    lose the tip's small moves beside a target that is far away.
    """
    move = after[:, 0] - before[:, 0]
    return (move * (part.residuals(before) + part.residuals(after))).sum(axis=0) > 0


def _newton_step(part: ChainProblem, here: Array, arms: Array, damping: Array) -> tuple[Array, Array]:
    """One turn `(n, P)` downhill, and the steepest slope `(P,)` before it."""
    arm_u, arm_v = arms
    left_u, left_v = residuals = part.residuals(arms)
    gradient = arm_v * left_u - arm_u * left_v
    pushed_down = (here <= part.lower + ON_LIMIT) & (gradient > 0)
    pushed_up = (here >= part.upper - ON_LIMIT) & (gradient < 0)
    is_free = ~(pushed_down | pushed_up)
    gradient = gradient * is_free
    curvature, axes = np.linalg.eigh(_second_derivative(arms, residuals, is_free))
    # The absolute value turns a saddle's way up into a way down.
    strength = np.maximum(np.abs(curvature), LEAST_CURVATURE) + damping[:, np.newaxis]
    along = np.matmul(gradient.T[:, np.newaxis], axes)[:, 0] / strength
    turn = -np.matmul(axes, along[:, :, np.newaxis])[..., 0].T
    return turn * is_free, np.abs(gradient).max(axis=0)


def _second_derivative(arms: Array, residuals: Array, is_free: Mask) -> Array:
    """The second derivative of half the squared distance by the free angles, `(P, n, n)`."""
    count = arms.shape[1]
    farther = np.maximum.outer(np.arange(count), np.arange(count))
    along = (arms * residuals[:, np.newaxis]).sum(axis=0).T
    arm_u, arm_v = arms[0].T, arms[1].T
    products = arm_u[:, :, np.newaxis] * arm_u[:, np.newaxis] + (arm_v[:, :, np.newaxis] * arm_v[:, np.newaxis])
    both_free = is_free.T[:, :, np.newaxis] & is_free.T[:, np.newaxis]
    return (products + along[:, farther]) * both_free
