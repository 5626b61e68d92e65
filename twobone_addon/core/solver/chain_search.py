"""Solve frames of chains independently: descend from a good start, and restart elsewhere where the descent gets stuck.

A descent gets stuck where limits block every small rotation that helps. It is then restarted from other poses: the corners of the
box of limits, and poses spread evenly in it (Roberts 2018, the R_d sequence), nearest tips first. Everything is deterministic, so
the same problem always has the same solution.
"""

import itertools

import numpy as np

from ..array_types import Array
from .chain_descent import descend, relax, settle
from .chain_problem import ChainProblem, into_limits, norm

REACHED = 1e-9
"""Distance, relative to the chain length, that ends the search for a better pose."""

RESTARTS = 16
"""Greatest number of restarts per problem. Measured on 7,842 unreachable targets for 3 links with random limits: one solution was
farther from its target than the closest pose, found by trying every set of active limits."""

SPREAD_POSES = 64
GREATEST_CORNER_JOINTS = 8
"""Greatest number of joints whose limits form corners: 2^8 poses are cheap to try, more are not."""

SEARCHED_AT_ONCE = 1024
"""Number of problems whose starting poses are compared at a time; it bounds the memory."""

CLEARLY_CLOSER = 1e-9
"""Gain, relative to the chain length, from which the pose of a restart replaces the earlier one."""


def solve_frames(problem: ChainProblem) -> tuple[Array, Array]:
    """Find, for each problem, a pose near the preferred one with the tip nearest to the target.

    Returns the angles `(n, P)`, inside the limits, and the remaining distances `(P,)`.
    """
    angles, distances = reach_out(problem, problem.preferred)
    return search_elsewhere(problem, angles, distances)


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
        angles[:, missed], distances[missed] = settle(problem.take(missed), angles[:, missed])
    return angles, distances


def search_elsewhere(problem: ChainProblem, angles: Array, distances: Array) -> tuple[Array, Array]:
    """Restart every problem whose distance may not be the least; in place."""
    stuck = np.flatnonzero(distances > least_distances(problem) + REACHED)
    for first in range(0, stuck.size, SEARCHED_AT_ONCE):
        columns = stuck[first : first + SEARCHED_AT_ONCE]
        angles[:, columns], distances[columns] = _restart(problem.take(columns), angles[:, columns], distances[columns])
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
    corners = _nearest(problem, box_corners(joints))
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


def box_corners(joints: int) -> Array:
    """Corners `(S, n)` of the unit cube; joints beyond `GREATEST_CORNER_JOINTS` stay in the middle."""
    cornered = min(joints, GREATEST_CORNER_JOINTS)
    corners = np.full((2**cornered, joints), 0.5)
    corners[:, :cornered] = list(itertools.product((0.0, 1.0), repeat=cornered))
    return corners


def evenly_spread(count: int, joints: int) -> Array:
    """Points `(count, joints)` of the R_d sequence in the unit cube."""
    # The steps are powers of the root of x^(d + 1) = x + 1, to which the iteration converges.
    root = 1.5
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (joints + 1))
    steps = root ** -np.arange(1.0, joints + 1)
    return np.fmod(0.5 + np.outer(np.arange(1, count + 1), steps), 1.0)
