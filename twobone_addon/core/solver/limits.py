"""Solve two links within joint limits: the closest tip in a box of angles, chosen among ten candidate poses.

Over a box of (turn of link 1, angle 2) the distance of the tip from the target is smallest

- inside the box: at an unlimited solution, one for either bend;
- on an edge with angle 2 fixed: the chain turns as one rigid piece, aimed at the target;
- on an edge with link 1 fixed: link 2 turns alone, aimed at the target;
- in a corner. Along an arc the distance has one minimum and rises on both sides of it, so if an edge does not contain that
  minimum, one of its corners is best.

Inside the box nothing else can be a minimum: where the gradient of the distance vanishes but the tip is not on the target, the
chain is straight or folded along the line to the target, and unless that is the unlimited closest pose, bending brings the tip
nearer.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes, Mask
from .angles import hold, wrap
from .reach import BLOCK_SIZE, Reach, room_for_sums, target_distances
from .two_bone import solve_two_bone

TIE_SLACK = 1e-12
"""Difference of distances, relative to the chain length, below which candidates are equally good.

Well above the rounding error of a tip (some 1e-15), far below what can be seen.
"""

SAME_POSE = 1e-5
"""Difference in radians below which two equally good candidates are the same pose.

Next to straight, TIE_SLACK in distance is about its square root, 1e-6, in angle.
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """Targets, lengths and limits, relative to the rest direction of link 1."""

    goals: Array
    """`(..., F, 2)` points that the tip should reach."""
    heading: Array
    """`(..., F)` radians, direction of the goals, held where a goal is on the root joint."""
    lengths: Array
    """`(..., F, 2)`"""
    bend: Array
    """`(..., F)` of +1 and -1, the requested side."""
    limits: Array
    """`(..., F, 4)` radians: least and greatest turn of link 1, then of angle 2."""
    unlimited: Array
    """`(..., F, 2, 2)` radians: the solution of either bend without limits."""

    def flat(self) -> "Problem":
        """The problem with all leading dimensions flattened into one."""
        frames = self.heading.ndim
        values = (getattr(self, field.name) for field in fields(self))
        return Problem(*(value.reshape(-1, *value.shape[frames:]) for value in values))

    def take(self, frames: slice | Mask) -> "Problem":
        """Select frames of a flat problem."""
        return Problem(*(getattr(self, field.name)[frames] for field in fields(self)))


def choose(problem: Problem, readable: Mask) -> tuple[Array, Array]:
    """Choose the best pose within the limits.

    readable : (..., F) bool; other frames hold their pose

    Returns the angles `(..., F, 2)` and the distances from tip to goal `(..., F)`.
    """
    flat = problem.flat()
    turns = np.empty((flat.heading.size, 2))
    missing = np.empty(flat.heading.size)
    tied = np.empty(flat.heading.size, dtype=bool)
    for start in range(0, flat.heading.size, BLOCK_SIZE):
        block = slice(start, start + BLOCK_SIZE)
        candidates, gaps, allowed = _rank(flat.take(block))
        turns[block], missing[block] = _pick(candidates, gaps, allowed, gaps)
        same_pose = np.all(np.abs(wrap(candidates - turns[block][:, np.newaxis])) <= SAME_POSE, axis=-1)
        tied[block] = (allowed & ~same_pose).any(axis=-1)

    turns = turns.reshape(*readable.shape, 2)
    missing = missing.reshape(readable.shape)
    tied = tied.reshape(readable.shape) & readable
    if tied.any():
        reference = _hold_poses(turns, readable & ~tied)[tied]
        candidates, gaps, allowed = _rank(problem.take(tied))
        rotation = np.abs(wrap(candidates - reference[:, np.newaxis])).sum(axis=-1)
        turns[tied], missing[tied] = _pick(candidates, gaps, allowed, rotation)
    held = _hold_poses(turns, readable)
    return np.clip(held, problem.limits[..., 0::2], problem.limits[..., 1::2]), missing


def _rank(problem: Problem) -> tuple[Array, Array, Mask]:
    """The candidates `(N, K, 2)`, their tips' distances from the goal `(N, K)`, and a mask of the best `(N, K)`.

    The best are within TIE_SLACK of the least distance; if any of them is on the requested side, only those are kept.
    """
    length_1, length_2 = problem.lengths[:, 0, np.newaxis], problem.lengths[:, 1, np.newaxis]
    with np.errstate(invalid="ignore"):
        candidates = _candidates(problem)
        direction = candidates.sum(axis=-1)
        tip_u = length_1 * np.cos(candidates[..., 0]) + length_2 * np.cos(direction)
        tip_v = length_1 * np.sin(candidates[..., 0]) + length_2 * np.sin(direction)
        gaps = np.hypot(tip_u - problem.goals[:, :1], tip_v - problem.goals[:, 1:])
        gaps = np.where(np.isnan(gaps), np.inf, gaps)
        slack = TIE_SLACK * (length_1 + length_2)
        best = gaps <= gaps.min(axis=-1, keepdims=True) + slack
        # Straight and folded poses belong to both sides.
        on_side = np.sin(candidates[..., 1]) * problem.bend[:, np.newaxis] >= -SAME_POSE
    best_on_side = best & on_side
    return candidates, gaps, np.where(best_on_side.any(axis=-1)[:, np.newaxis], best_on_side, best)


def _candidates(problem: Problem) -> Array:
    """Candidate angles `(N, 10, 2)`; NaN where one is outside the box or infinite."""
    upper = problem.limits[:, 0:2]
    lower = problem.limits[:, 2:4]
    length_1, length_2 = problem.lengths[:, 0, np.newaxis], problem.lengths[:, 1, np.newaxis]
    inside = (_into(problem.unlimited[..., 0], upper), _into(problem.unlimited[..., 1], lower))
    # With angle 2 at a limit the chain is rigid: the direction of its tip as seen from link 1.
    chain = np.arctan2(length_2 * np.sin(lower), length_1 + length_2 * np.cos(lower))
    lower_edges = _into(problem.heading[:, np.newaxis] - chain, upper), lower
    aim_u = problem.goals[:, :1] - length_1 * np.cos(upper)
    aim_v = problem.goals[:, 1:] - length_1 * np.sin(upper)
    upper_edges = upper, _into(np.arctan2(aim_v, aim_u) - upper, lower)
    corners = np.repeat(upper, 2, axis=1), np.tile(lower, 2)
    places = (inside, lower_edges, upper_edges, corners)
    candidates = np.stack([np.concatenate(turns, axis=1) for turns in zip(*places, strict=True)], axis=-1)
    return np.where(np.isfinite(candidates), candidates, np.nan)


def _into(turns: Array, interval: Array) -> Array:
    """Move each angle by whole turns into the interval, as near to 0 as possible; NaN where none fits.

    turns : (N, K)
    interval : (N, 2), lowest and highest
    """
    wrapped = wrap(turns)
    low, high = interval[:, :1], interval[:, 1:]
    fewest = np.ceil((low - wrapped) / (2 * np.pi))
    most = np.floor((high - wrapped) / (2 * np.pi))
    moved = wrapped + 2 * np.pi * np.clip(0.0, fewest, most)
    return np.where(fewest <= most, np.clip(moved, low, high), np.nan)


def _pick(candidates: Array, gaps: Array, allowed: Mask, cost: Array) -> tuple[Array, Array]:
    """The cheapest allowed candidate `(N, 2)` and its distance from the goal `(N,)`."""
    rows = np.arange(len(candidates))
    index = np.where(allowed, cost, np.inf).argmin(axis=-1)
    return candidates[rows, index], gaps[rows, index]


def _hold_poses(turns: Array, valid: Mask) -> Array:
    """`hold` for both angles `(..., F, 2)`."""
    return np.stack([hold(turns[..., joint], valid) for joint in (0, 1)], axis=-1)


@dataclass(frozen=True, slots=True)
class LimitedSolution:
    """Poses within limits, their reach, and the remaining distances."""

    angles: Array
    """`(..., F, 2)` radians, as in `TwoBoneSolution` but not wrapped: within the given limits."""
    reach: Codes
    """`(..., F)` int8 of `Reach`; out of reach is TOO_NEAR where the tip stays farther out than the target, else TOO_FAR."""
    tip_distances: Array
    """`(..., F)` distance from tip to target; 0 where the target is not finite."""


def solve_two_bone_limited(
    targets: ArrayLike,
    lengths: ArrayLike,
    bend: ArrayLike,
    limits: ArrayLike,
    rest_direction: ArrayLike,
    *,
    tolerance: ArrayLike = TIE_SLACK,
    distances: ArrayLike | None = None,
) -> LimitedSolution:
    """Bring the tips as near to the targets as joint limits allow, globally.

    The solution is the global minimum of the tip's distance from the target over the whole box, found among ten closed forms
    (see the top of this file), so it cannot get stuck. Cyclic coordinate descent with clamped angles (Juckett, "Cyclic Coordinate
    Descent in 2D") stops where no single joint can improve, even where both together would reach the target.

    targets, lengths, bend, distances : as in `solve_two_bone`
    limits : (4,) or broadcast against (..., F, 4): upper_min, upper_max (turn of link 1 from its rest direction), lower_min,
        lower_max (angle 2); radians, may be infinite, wider than a turn, or off by whole turns
    rest_direction : scalar or (..., F), direction of link 1 at rest
    tolerance : scalar or broadcast against (..., F), distance of the tip, relative to the chain length, that counts as reached

    Among equally good poses (TIE_SLACK) those on the side of `bend` are preferred. If several poses still remain, as for an
    unreachable target on the line of symmetry, the one nearest to the pose of the last frame without such a tie is taken, so
    that no loop over frames is needed. Of angles that are whole turns apart, the one nearest to rest is taken. Undetermined
    angles are held as in `solve_two_bone`, within the limits. Never NaN, never outside the limits. No minimum may be above its
    maximum.
    """
    targets = np.asarray(targets, dtype=np.float64)
    shape = targets.shape[:-1]
    lengths, bend, rest, boxes = (
        np.broadcast_to(np.asarray(values, dtype=np.float64), (*shape, *row))
        for values, row in ((lengths, (2,)), (bend, ()), (rest_direction, ()), (limits, (4,)))
    )
    room = room_for_sums(targets, lengths)
    room = np.ones((*shape, 1)) if room is None else room
    targets, lengths = targets * room, lengths * room
    distances = target_distances(targets) if distances is None else np.asarray(distances, dtype=np.float64) * room[..., 0]
    requested, other = (solve_two_bone(targets, lengths, side * bend, distances=distances) for side in (1.0, -1.0))
    readable = np.isfinite(distances) & np.isfinite(targets).all(-1) & np.isfinite(lengths).all(-1)
    aimed = readable & (targets != 0).any(axis=-1)
    heading = hold(np.arctan2(targets[..., 1], targets[..., 0]), aimed) - rest
    goals = np.where(readable, distances, 0.0) * np.stack([np.cos(heading), np.sin(heading)])
    unlimited = np.stack([requested.angles, other.angles], axis=-2)
    unlimited[..., 0] -= rest[..., np.newaxis]

    problem = Problem(np.moveaxis(goals, 0, -1), heading, lengths, bend, boxes, unlimited)
    angles, missing = choose(problem, readable)
    reach = _judge(angles, missing, distances, lengths, np.maximum(tolerance, TIE_SLACK))
    reach = np.where(requested.reach == Reach.DEGENERATE, requested.reach, reach)
    angles[..., 0] += rest
    return LimitedSolution(angles, reach, np.where(readable, missing / room[..., 0], 0.0))


def _judge(angles: Array, missing: Array, distances: Array, lengths: Array, tolerance: Array) -> Codes:
    """`(..., F)` int8 of `Reach`, never DEGENERATE."""
    tip_x = lengths[..., 0] + lengths[..., 1] * np.cos(angles[..., 1])
    tip_y = lengths[..., 1] * np.sin(angles[..., 1])
    outside = np.where(np.hypot(tip_x, tip_y) > distances, Reach.TOO_NEAR, Reach.TOO_FAR)
    reached = missing <= tolerance * lengths.sum(axis=-1)
    return np.where(reached, Reach.REACHED, outside).astype(np.int8)
