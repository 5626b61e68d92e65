"""Joint limits: the closest tip that a box of angles allows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes
from .angles import hold
from .limit_candidates import TIE_SLACK, Problem, choose
from .reach import Reach
from .ring import target_distances
from .two_bone import solve_two_bone


@dataclass(frozen=True, slots=True)
class LimitedSolution:
    """Poses within limits, their reach, and what is missing."""

    angles: Array
    """`(..., F, 2)` radians, as in `TwoBoneSolution` but not wrapped: within the limits as given."""
    reach: Codes
    """`(..., F)` int8 of `Reach`; out of reach is TOO_NEAR where the tip stays farther out than
    the target, else TOO_FAR."""
    tip_distances: Array
    """`(..., F)`, from the tip to the target; 0 where the target is no finite point."""


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

    The answer is the global minimum of the tip's distance from the target over the whole box,
    found among ten closed forms (see `limit_candidates`), so there is nothing to get stuck in.
    Cyclic coordinate descent with clamped angles (Juckett, "Cyclic Coordinate Descent in 2D")
    stops where no single joint can improve, also where both together reach the target.

    targets, lengths, bend, distances : as in `solve_two_bone`
    limits : (4,) or broadcast against (..., F, 4): upper_min, upper_max (turn of link 1 from
        its rest direction), lower_min, lower_max (angle 2); radians, may be infinite, wider
        than a turn, or off by whole turns
    rest_direction : scalar or (..., F), direction of link 1 at rest
    tolerance : scalar or broadcast against (..., F), distance of the tip, relative to the chain length, that counts as reached

    Among poses that are equally good (TIE_SLACK) those on the side of `bend` come first. What
    then still differs is one pose in two places, such as an unreachable target on the line of
    symmetry: there the pose nearest to that of the last frame without such a choice is taken,
    so that the choice needs no walk over the frames. Of angles that are whole turns apart, the
    one nearest to rest is taken. What a frame leaves free is held as in `solve_two_bone`,
    within the limits. Never NaN, never outside the limits. No minimum may be above its maximum.
    """
    boxes = np.asarray(limits, dtype=np.float64)
    targets, lengths, bend, rest, boxes = _broadcast(targets, lengths, bend, rest_direction, boxes)
    distances = target_distances(targets) if distances is None else np.asarray(distances, dtype=np.float64)
    asked, other = (solve_two_bone(targets, lengths, side * bend, distances=distances) for side in (1.0, -1.0))
    readable = np.isfinite(distances) & np.isfinite(targets).all(-1) & np.isfinite(lengths).all(-1)
    aimed = readable & (targets != 0).any(axis=-1)
    heading = hold(np.arctan2(targets[..., 1], targets[..., 0]), aimed) - rest
    goals = np.where(readable, distances, 0.0) * np.stack([np.cos(heading), np.sin(heading)])
    unlimited = np.stack([asked.angles, other.angles], axis=-2)
    unlimited[..., 0] -= rest[..., np.newaxis]

    problem = Problem(np.moveaxis(goals, 0, -1), heading, lengths, bend, boxes, unlimited)
    angles, missing = choose(problem, readable)
    reach = _judge(angles, missing, distances, lengths, np.maximum(tolerance, TIE_SLACK))
    reach = np.where(asked.reach == Reach.DEGENERATE, asked.reach, reach)
    angles[..., 0] += rest
    return LimitedSolution(angles, reach, np.where(readable, missing, 0.0))


def _broadcast(
    targets: ArrayLike,
    lengths: ArrayLike,
    bend: ArrayLike,
    rest: ArrayLike,
    limits: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    """Every input as an array that has all the frames."""
    targets = np.asarray(targets, dtype=np.float64)
    shape = targets.shape[:-1]
    return (
        targets,
        np.broadcast_to(np.asarray(lengths, dtype=np.float64), targets.shape),
        np.broadcast_to(np.asarray(bend, dtype=np.float64), shape),
        np.broadcast_to(np.asarray(rest, dtype=np.float64), shape),
        np.broadcast_to(limits, (*shape, 4)),
    )


def _judge(
    angles: Array,
    missing: Array,
    distances: Array,
    lengths: Array,
    tolerance: Array,
) -> Codes:
    """`(..., F)` int8 of `Reach`, never DEGENERATE."""
    tip_x = lengths[..., 0] + lengths[..., 1] * np.cos(angles[..., 1])
    tip_y = lengths[..., 1] * np.sin(angles[..., 1])
    outside = np.where(np.hypot(tip_x, tip_y) > distances, Reach.TOO_NEAR, Reach.TOO_FAR)
    reached = missing <= tolerance * lengths.sum(axis=-1)
    return np.where(reached, Reach.REACHED, outside).astype(np.int8)
