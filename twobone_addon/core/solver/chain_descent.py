"""Solve frames of chains independently: damped Gauss-Newton steps that never leave the box of limits.

The tip has two coordinates, so each step inverts a 2 x 2 matrix in closed form, whatever the number of links. `descend` brings
the tip to the target along the shortest path in angles (Levenberg 1944, Marquardt 1963; for inverse kinematics Wampler 1986 and
Nakamura & Hanafusa 1986, "damped least squares"). `relax` then slides the pose towards the preferred one while the tip stays
where it is: the null-space step of Liegeois 1977. A joint that would pass its limit is put on it and the others take over the
rest of its turn (Baerlocher & Boulic 2004).

The closest pose to a target out of reach is found by Newton's method. There the residual does not vanish, so the second
derivative of the tip matters and Gauss-Newton converges slowly. For a planar chain that derivative is as cheap as the first:
d2 tip / d i d j = -arm(max(i, j)), the arm of the farther of joints i and j. Limits are an active set (Bertsekas 1982, "Projected
Newton methods for optimization problems with simple constraints").

A descent gets stuck where limits block every small rotation that helps. It is then restarted from other poses: the corners of the
box of limits, and poses spread evenly in it (Roberts 2018, the R_d sequence), nearest tips first. Everything is deterministic, so
the same problem always has the same solution.
"""

import itertools

import numpy as np

from ..array_types import Array, Mask
from .chain_problem import ChainProblem, into_limits, norm

CONVERGED = 1e-13
"""Distance, relative to the chain length, at which a descent stops: some hundred rounding errors."""

DESCENT_STEPS = 60
STALLED_STEPS = 12
"""A descent ends after this many steps in a row that each gain less than `SLOW_GAIN`."""

SLOW_GAIN = 0.1

FIRST_DAMPING = 1e-2
"""Damping of the first step: squared lever arm, relative to the chain length, below which a direction has little weight."""

LEAST_DAMPING = 1e-14
"""Damping that keeps the 2 x 2 matrix regular where all joints and the target are collinear."""

DAMPING_AFTER_SUCCESS = 0.2
DAMPING_AFTER_FAILURE = 6.0

RELAXING_STEPS = 30
RELAXING_RATE = 0.3
"""Fraction of the deviation from the preferred pose removed per step. More would overshoot, because the set of poses that keep
the tip curves away from the step; as measured, 0.3 ends in a nearer pose than 0.5 and 1."""

RELAXING_DAMPING = 1e-9
LONGEST_RELAXING_STEP = 0.3
"""Radians; a longer linear step would leave the curve of poses that keep the tip."""

RELAXED = 1e-8
"""Radians; a pose that moves less in a step has converged."""


def bounded_step(arms: Array, residuals: Array, room: Array, damping: Array, wish: Array) -> Array:
    """Rotation of every joint that best moves the tip by `residuals`.

    arms : (2, n, P), see `ChainProblem.arms`
    residuals : (2, P), desired displacement of the tip
    room : (2, n, P), greatest decrease (<= 0) and increase (>= 0) of each angle
    damping : (P,) > 0, added to both diagonal entries of the 2 x 2 matrix
    wish : (n, P), rotation each joint would take if the tip did not matter

    Returns `(n, P)`, within `room`. Joints that hit a limit stay on it for the rest of the step.
    """
    steps = np.empty_like(wish)
    given = wish
    is_free = np.ones(wish.shape, dtype=bool)
    columns = np.arange(wish.shape[-1])
    for _ in range(wish.shape[0]):
        proposal = _damped_step(arms, residuals, damping, given, is_free)
        steps[:, columns] = proposal
        passes = is_free & ((proposal < room[0]) | (proposal > room[1]))
        again = np.flatnonzero(passes.any(axis=0))
        if again.size == 0:
            break
        stopped = np.clip(proposal[:, again], room[0][:, again], room[1][:, again])
        given = np.where(passes[:, again], stopped, given[:, again])
        is_free = is_free[:, again] & ~passes[:, again]
        arms, residuals, room = arms[..., again], residuals[:, again], room[..., again]
        damping, columns = damping[again], columns[again]
        steps[:, columns] = given
    return steps


def _damped_step(arms: Array, residuals: Array, damping: Array, given: Array, is_free: Mask) -> Array:
    """`given` `(n, P)` plus the least rotation of the free joints that corrects the tip."""
    arm_u, arm_v = arms
    free_u, free_v = arm_u * is_free, arm_v * is_free
    uu = (free_v * arm_v).sum(axis=0) + damping
    uv = -(free_u * arm_v).sum(axis=0)
    vv = (free_u * arm_u).sum(axis=0) + damping
    # What the given rotations leave of the way to the target; the free joints pull the tip by it.
    missing_u = residuals[0] + (arm_v * given).sum(axis=0)
    missing_v = residuals[1] - (arm_u * given).sum(axis=0)
    determinant = uu * vv - uv * uv
    pull_u = (vv * missing_u - uv * missing_v) / determinant
    pull_v = (uu * missing_v - uv * missing_u) / determinant
    return given + free_u * pull_v - free_v * pull_u


def descend(problem: ChainProblem, angles: Array, steps: int = DESCENT_STEPS) -> tuple[Array, Array]:
    """Bring the tips as near to their targets as a descent from `angles` gets.

    angles : (n, P), inside the limits

    Returns the poses `(n, P)`, inside the limits, and the remaining distances `(P,)`. The distance never grows. A pose may get
    stuck where no small rotation helps; `solve_frames` restarts it.
    """
    angles = angles.copy()
    arms = problem.arms(angles)
    distances = norm(problem.residuals(arms))
    damping = np.full(problem.size, FIRST_DAMPING)
    stalled = np.zeros(problem.size, dtype=int)
    active = np.flatnonzero(distances > CONVERGED)
    for _ in range(steps):
        if active.size == 0:
            break
        part, here, before = problem.take(active), angles[:, active], distances[active]
        part_arms = arms[..., active]
        room = np.stack([part.lower - here, part.upper - here])
        # Damping shrinks with the distance, so that the last steps are undamped Gauss-Newton.
        turn = bounded_step(
            part_arms,
            part.residuals(part_arms),
            room,
            np.maximum(damping[active] * np.minimum(before, 1.0), LEAST_DAMPING),
            np.zeros_like(here),
        )
        there = part.clip(here + turn)
        there_arms = part.arms(there)
        after = norm(part.residuals(there_arms))
        better = after < before
        slow = after > (1.0 - SLOW_GAIN) * before
        stalled[active] = np.where(slow, stalled[active] + 1, 0)
        damping[active] *= np.where(better, np.where(slow, 1.0, DAMPING_AFTER_SUCCESS), DAMPING_AFTER_FAILURE)
        moved = active[better]
        angles[:, moved], arms[..., moved] = there[:, better], there_arms[..., better]
        distances[moved] = after[better]
        active = active[(distances[active] > CONVERGED) & (stalled[active] < STALLED_STEPS)]
    return angles, distances


def relax(problem: ChainProblem, angles: Array) -> Array:
    """Slide poses towards the preferred shape while their tips stay on their targets.

    angles : (n, P), inside the limits, tips on their targets

    Returns `(n, P)`, a local minimum of the deviation of the angles after the first from the preferred ones. The first joint has
    no preference: it only aims, so that the shape of an unlimited chain depends on the distance of the target and not on its
    direction. Poses that lose their target on the way are returned unchanged.
    """
    slid = angles.copy()
    active = np.arange(problem.size)
    for _ in range(RELAXING_STEPS):
        part, here = problem.take(active), slid[:, active]
        wish = np.clip(RELAXING_RATE * (part.preferred - here), -LONGEST_RELAXING_STEP, LONGEST_RELAXING_STEP)
        wish[0] = 0.0
        arms, room = part.arms(here), np.stack([part.lower - here, part.upper - here])
        turn = bounded_step(arms, part.residuals(arms), room, np.full(part.size, RELAXING_DAMPING), wish)
        turn *= LONGEST_RELAXING_STEP / np.maximum(np.abs(turn).max(axis=0), LONGEST_RELAXING_STEP)
        slid[:, active] = part.clip(here + turn)
        active = active[np.abs(turn).max(axis=0) > RELAXED]
        if active.size == 0:
            break
    slid, slid_distances = descend(problem, slid)
    kept = slid_distances <= np.maximum(problem.distances(angles), 10 * CONVERGED)
    return np.where(kept, slid, angles)


NEWTON_STEPS = 30
FLAT = 1e-12
"""Gradient of half the squared distance, per radian, that counts as zero."""

ON_LIMIT = 1e-9
"""Radians from a limit within which a joint that is pushed outward counts as on it."""

LEAST_CURVATURE = 1e-6
"""Lower bound of the curvature in any direction, so that a step stays finite."""

FIRST_NEWTON_DAMPING = 1e-3
LEAST_RAISED_DAMPING = 1e-4
DAMPING_FACTOR = 10.0
GREATEST_DAMPING = 1e8
"""Damping at which a step is below rounding error: the descent has ended."""


def settled_angles(problem: ChainProblem, angles: Array) -> tuple[Array, Array]:
    """Descend to the nearest local minimum of the distance from tip to target.

    angles : (n, P), inside the limits; tips not on their targets

    Returns the poses `(n, P)`, inside the limits, and the remaining distances `(P,)`, never greater than before. Without limits
    the minimum is the straight or the folded chain.
    """
    angles = angles.copy()
    arms = problem.arms(angles)
    distances = norm(problem.residuals(arms))
    damping = np.full(problem.size, FIRST_NEWTON_DAMPING)
    active = np.arange(problem.size)
    for _ in range(NEWTON_STEPS):
        if active.size == 0:
            break
        part, here, before = problem.take(active), angles[:, active], distances[active]
        turn, slope = _newton_step(part, here, arms[..., active], damping[active] * before)
        there = part.clip(here + turn)
        there_arms = part.arms(there)
        # The difference of the squared distances, factored: comparing the distances themselves would lose small moves of the tip
        # to rounding where the target is far away.
        move, both = there_arms[:, 0] - arms[:, 0, active], part.residuals(arms[..., active]) + part.residuals(there_arms)
        better = (move * both).sum(axis=0) > 0
        raised = np.maximum(damping[active], LEAST_RAISED_DAMPING) * DAMPING_FACTOR
        damping[active] = np.where(better, damping[active] / DAMPING_FACTOR, raised)
        moved = active[better]
        angles[:, moved], arms[..., moved] = there[:, better], there_arms[..., better]
        distances[moved] = norm(part.residuals(there_arms))[better]
        active = active[(slope > FLAT * np.maximum(before, 1.0)) & (damping[active] < GREATEST_DAMPING)]
    return angles, distances


def _newton_step(part: ChainProblem, here: Array, arms: Array, damping: Array) -> tuple[Array, Array]:
    """One Newton step `(n, P)` downhill, and the greatest gradient component `(P,)` before it."""
    arm_u, arm_v = arms
    missing_u, missing_v = residuals = part.residuals(arms)
    gradient = arm_v * missing_u - arm_u * missing_v
    pushed_down = (here <= part.lower + ON_LIMIT) & (gradient > 0)
    pushed_up = (here >= part.upper - ON_LIMIT) & (gradient < 0)
    is_free = ~(pushed_down | pushed_up)
    gradient = gradient * is_free
    curvature, axes = np.linalg.eigh(_second_derivative(arms, residuals, is_free))
    # The absolute value makes a saddle's ascent direction a descent direction.
    strength = np.maximum(np.abs(curvature), LEAST_CURVATURE) + damping[:, np.newaxis]
    along = np.matmul(gradient.T[:, np.newaxis], axes)[:, 0] / strength
    turn = -np.matmul(axes, along[:, :, np.newaxis])[..., 0].T
    return turn * is_free, np.abs(gradient).max(axis=0)


def _second_derivative(arms: Array, residuals: Array, is_free: Mask) -> Array:
    """Hessian `(P, n, n)` of half the squared distance with respect to the free angles."""
    count = arms.shape[1]
    farther = np.maximum.outer(np.arange(count), np.arange(count))
    along = (arms * residuals[:, np.newaxis]).sum(axis=0).T
    arm_u, arm_v = arms[0].T, arms[1].T
    products = arm_u[:, :, np.newaxis] * arm_u[:, np.newaxis] + (arm_v[:, :, np.newaxis] * arm_v[:, np.newaxis])
    both_free = is_free.T[:, :, np.newaxis] & is_free.T[:, np.newaxis]
    return (products + along[:, farther]) * both_free


REACHED = 1e-9
"""Distance, relative to the chain length, that ends the search for a better pose."""

RESTARTS = 16
"""Greatest number of restarts per problem. Measured on 7,842 unreachable targets for 3 links with random limits: one solution was
farther from its target than the closest pose, found by trying every set of active limits."""

SPREAD_POSES = 64
GREATEST_CORNER_JOINTS = 8
"""Greatest number of joints whose limits form corners: 2^8 poses are cheap to try, more are not. Joints beyond stay halfway."""

SEARCHED_AT_ONCE = 1024
"""Number of problems whose starting poses are compared at a time; it bounds the memory."""

CLEARLY_CLOSER = 1e-9
"""Gain, relative to the chain length, from which the pose of a restart replaces the earlier one."""


def solve_frames(problem: ChainProblem) -> tuple[Array, Array]:
    """Find, for each problem, a pose near the preferred one with the tip nearest to the target.

    Returns the angles `(n, P)`, inside the limits, and the remaining distances `(P,)`.
    """
    angles, distances = reach_out(problem, problem.preferred)
    # Every problem whose distance may not be the least is started again elsewhere.
    stuck = np.flatnonzero(distances > least_distances(problem) + REACHED)
    for first in range(0, stuck.size, SEARCHED_AT_ONCE):
        columns = stuck[first : first + SEARCHED_AT_ONCE]
        angles[:, columns], distances[columns] = _restart(problem.take(columns), angles[:, columns], distances[columns])
    return angles, distances


def reach_out(problem: ChainProblem, starts: Array) -> tuple[Array, Array]:
    """Solve from `starts` `(n, P)`: aim the first joint, descend, relax or settle.

    Returns poses `(n, P)` and distances `(P,)`, each a local minimum.
    """
    return _finish(problem, *descend(problem, aim(problem, starts)))


def aim(problem: ChainProblem, angles: Array) -> Array:
    """Turn the first joint so that the chain points at the target, as far as its limits allow."""
    tips = problem.arms(angles)[:, 0]
    target_u, target_v = problem.targets
    turn = np.arctan2(tips[0] * target_v - tips[1] * target_u, tips[0] * target_u + tips[1] * target_v)
    aimed = angles.copy()
    aimed[0] = into_limits(angles[0] + turn, problem.lower[0], problem.upper[0])
    return aimed


def _finish(problem: ChainProblem, angles: Array, distances: Array) -> tuple[Array, Array]:
    """Relax the poses that reach their targets, settle the others; in place."""
    reached = np.flatnonzero(distances <= REACHED)
    if reached.size:
        part = problem.take(reached)
        angles[:, reached] = relax(part, angles[:, reached])
        distances[reached] = part.distances(angles[:, reached])
    missed = np.flatnonzero(distances > REACHED)
    if missed.size:
        angles[:, missed], distances[missed] = settled_angles(problem.take(missed), angles[:, missed])
    return angles, distances


def least_distances(problem: ChainProblem) -> Array:
    """Remaining distances `(P,)` if there were no limits."""
    from_root = norm(problem.targets)
    inner_radius = 2 * problem.lengths.max(axis=0) - 1.0
    return np.maximum(np.maximum(from_root - 1.0, inner_radius - from_root), 0.0)


def _restart(problem: ChainProblem, angles: Array, distances: Array) -> tuple[Array, Array]:
    starts = starting_poses(problem)
    goal = least_distances(problem) + REACHED
    active = np.arange(problem.size)
    for start in starts:
        if active.size == 0:
            break
        part = problem.take(active)
        there, after = _finish(part, *descend(part, start[:, active]))
        closer = after < distances[active] - CLEARLY_CLOSER
        moved = active[closer]
        angles[:, moved], distances[moved] = there[:, closer], after[closer]
        active = active[distances[active] > goal[active]]
    return angles, distances


def starting_poses(problem: ChainProblem) -> Array:
    """Starting poses `(S, n, P)`, alternately from inside the box and from its corners, nearest tips first."""
    joints = problem.lengths.shape[0]
    inside = _nearest(problem, evenly_spread(SPREAD_POSES, joints))
    cornered = min(joints, GREATEST_CORNER_JOINTS)
    fractions = np.full((2**cornered, joints), 0.5)
    fractions[:, :cornered] = list(itertools.product((0.0, 1.0), repeat=cornered))
    corners = _nearest(problem, fractions)
    count = min(len(inside), len(corners))
    in_turn = np.stack([inside[:count], corners[:count]], axis=1)
    return in_turn.reshape(2 * count, *inside.shape[1:])


def _nearest(problem: ChainProblem, fractions: Array) -> Array:
    """The `RESTARTS` / 2 poses of the box with the tip nearest to the target, `(S, n, P)`."""
    poses = spread_poses(problem, fractions)
    count, joints, size = poses.shape
    columns = np.broadcast_to(np.arange(size), (count, size)).reshape(-1)
    side_by_side = poses.transpose(1, 0, 2).reshape(joints, count * size)
    distances = problem.take(columns).distances(side_by_side).reshape(count, size)
    # A stable sort resolves ties, such as mirrored starts, the same way every time.
    nearest = distances.argsort(axis=0, kind="stable")[: RESTARTS // 2]
    return np.take_along_axis(poses, nearest[:, np.newaxis], axis=0)


def spread_poses(problem: ChainProblem, fractions: Array) -> Array:
    """Poses `(S, n, P)` at `fractions` `(S, n)` between lower and upper limits.

    Limits farther apart than a turn, or infinite, are replaced by one turn around the preferred angle.
    """
    low = np.maximum(problem.lower, np.minimum(problem.preferred - np.pi, problem.upper - 2 * np.pi))
    high = np.minimum(problem.upper, np.maximum(problem.preferred + np.pi, problem.lower + 2 * np.pi))
    return low + fractions[:, :, np.newaxis] * (high - low)


def evenly_spread(count: int, joints: int) -> Array:
    """Points `(count, joints)` of the R_d sequence in the unit cube."""
    # The steps are powers of the root of x^(d + 1) = x + 1, to which the iteration converges.
    root = 1.5
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (joints + 1))
    steps = root ** -np.arange(1.0, joints + 1)
    return np.fmod(0.5 + np.outer(np.arange(1, count + 1), steps), 1.0)
