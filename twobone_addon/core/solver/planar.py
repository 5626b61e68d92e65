"""Entry points of a bake: solve chains for targets with the chosen reach options.

A chain of n links reaches a ring as two links do. Its outer radius is the sum of all lengths; its inner radius is the excess of
the longest link over all others together, for most chains 0. Two links with the same ring, of lengths (far + near) / 2 and
(far - near) / 2, stand in for the chain wherever only the ring matters: distance bounds, softness and stretch. Then `solve_chain`
poses the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes
from ..arrays import span
from .angles import FULL_TURN, forward, hold
from .chain import REACH_TOLERANCE, ChainMethod, ChainSolution, solve_chain
from .limits import TIE_SLACK, solve_two_bone_limited
from .reach import Reach, ReachMode, ReachOptions, classify, ring_limits, room_for_sums, target_distances
from .softness import soften, stretch_ratio
from .two_bone import solve_two_bone


@dataclass(frozen=True, slots=True)
class PlanarSolution:
    """Pose and outcome of every frame."""

    angles: Array
    """`(..., F, 2)` radians, as in `TwoBoneSolution`; within the limits, if any. `(..., F, n)` for chains."""
    ratio: Array
    """`(..., F)` scale of all links; 1 unless stretched."""
    reach: Codes
    """`(..., F)` int8 of `Reach`: whether the raw target can be reached at all.

    Softness is ignored; stretch, distance bounds and joint limits are taken into account.
    """
    goals: Array
    """`(..., F, 2)` points that the tip should be at; the target itself where nothing keeps the tip away."""


def solve_planar(
    targets: ArrayLike,
    lengths: ArrayLike,
    bend: ArrayLike,
    options: ReachOptions = ReachOptions(),  # noqa: B008 - frozen, so it can be shared
    *,
    rest_direction: ArrayLike = 0.0,
) -> PlanarSolution:
    """Solve planar two-link chains for targets according to `options`.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (..., F, 2) or (2,), both >= 0
    bend : scalar or (..., F) of +1 and -1; +1 (POSITIVE) means angle 2 >= 0
    rest_direction : scalar or (..., F), direction of link 1 at rest; matters for limits only

    The distance bounds move the target along its line from the root joint, then softness does; within joint limits the pose
    closest to the moved target is taken, and a target counts as reached if the tip is on it, or would be without softness.
    Undetermined angles are held, as in `solve_two_bone`. Nothing returned is NaN.
    """
    targets = np.asarray(targets, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    ratio, distances = plan_distances(targets, lengths, options)
    if options.limits is not None:
        limited = partial(
            solve_two_bone_limited, targets, lengths, bend, options.limits, rest_direction, tolerance=options.tolerance
        )
        solution = limited(distances=distances)
        reach, goals = solution.reach, scaled_tips(solution.angles, lengths, ratio)
        if distances is not None:
            slack = np.maximum(options.tolerance, TIE_SLACK) * lengths.sum(axis=-1)
            ring = ring_reach(targets, lengths, options)
            reach = _limited_reach(targets, goals, slack, ring=ring, unmoved=limited().reach)
    else:
        solution = solve_two_bone(targets, lengths, bend, tolerance=options.tolerance, distances=distances)
        reach, goals = solution.reach, _goals(targets, lengths, solution.angles, ratio, distances)
        if distances is not None:
            reach = np.where(reach == Reach.DEGENERATE, reach, ring_reach(targets, lengths, options))
    return PlanarSolution(solution.angles, ratio, reach.astype(np.int8), goals)


def plan_distances(targets: Array, lengths: Array, options: ReachOptions) -> tuple[Array, Array | None]:
    """Stretch ratio `(..., F)`, and the distances `(..., F)` of the unscaled tips; None if these are the targets' own."""
    ones = np.ones(targets.shape[:-1])
    bounded = options.min_distance > 0 or options.max_distance > 0
    if options.mode == ReachMode.CLAMP and not bounded:
        return ones, None
    distances = target_distances(targets)
    readable = np.isfinite(distances)
    distances = np.clip(distances, options.min_distance, options.max_distance or np.inf)
    if options.mode == ReachMode.SOFTEN:
        distances = soften(distances, lengths, options.softness, options.softness_near)
    elif options.mode == ReachMode.STRETCH:
        ratio, distances = stretch_ratio(
            distances,
            lengths,
            start=options.stretch_start,
            maximum=options.stretch_max,
            compress_min=options.compress_min,
            softness=options.softness,
            softness_near=options.softness_near,
        )
        # Held like the angles where the target is not finite; 1 if there is nothing to hold.
        return ones + hold(ratio - ones, readable), distances
    return ones, distances


def ring_reach(targets: Array, lengths: Array, options: ReachOptions) -> Codes:
    """`Reach` of the raw targets with respect to the ring, widened by stretch and narrowed by the distance bounds."""
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    if options.mode == ReachMode.STRETCH:
        near = near * options.compress_min
        # A chain of length 0 keeps radius 0: 0 times infinity would be NaN.
        far = np.multiply(far, options.stretch_max, out=np.zeros_like(far), where=far > 0)
    near = np.maximum(near, options.min_distance)
    far = np.minimum(far, options.max_distance or np.inf)
    slack: Array = np.multiply(options.tolerance, lengths.sum(axis=-1))
    return classify(target_distances(targets), near, far, slack)


def _goals(targets: Array, lengths: Array, angles: Array, ratio: Array, distances: Array | None) -> Array:
    """The targets moved to where the tips can be; the pose's own tip where a target has no direction."""
    spans = target_distances(targets)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        reduced = np.clip(spans if distances is None else distances, near, far)
        goals = targets * (ratio * reduced / spans)[..., np.newaxis]
    undirected = ~np.isfinite(goals).all(axis=-1) | ~np.isfinite(spans)
    if undirected.any():
        goals[undirected] = scaled_tips(angles, lengths, ratio)[undirected]
    return goals


def _limited_reach(targets: Array, tips: Array, slack: Array, *, ring: Codes, unmoved: Codes) -> Codes:
    """`Reach` of the raw targets where limits may keep tips from reaching all of the ring."""
    reach = np.where(ring == Reach.REACHED, unmoved, ring)
    reach = np.where(span(tips - targets) <= slack, Reach.REACHED, reach)
    return np.where(unmoved == Reach.DEGENERATE, unmoved, reach)


def scaled_tips(angles: Array, lengths: Array, ratio: Array) -> Array:
    """Tips `(..., F, 2)` of poses `(..., F, n)` with all links scaled by `ratio` `(..., F)`."""
    return ratio[..., np.newaxis] * forward(angles, lengths)[..., -1, :]


def solve_planar_chain(
    targets: ArrayLike,
    lengths: ArrayLike,
    bend: float | Array,
    options: ReachOptions = ReachOptions(),  # noqa: B008 - frozen, so it can be shared
    *,
    start: ArrayLike,
    limits: ArrayLike | None = None,
    method: ChainMethod | str = ChainMethod.AUTO,
) -> PlanarSolution:
    """Solve planar chains of n links for targets according to `options`; angles are `(..., F, n)`.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (..., F, n) or (n,), all >= 0
    bend : scalar or (..., F) of +1 and -1, as in `solve_chain`
    options : without `limits`, which are for two joints
    start : (..., F, n) or (n,), angles of the pose to stay near
    limits : (n, 2) or broadcast against (..., F, n, 2), least and greatest value of each angle, the first being the direction of
        link 1; a range of a whole turn or more is no limit
    method : as in `solve_chain`

    Without limits the default method brings the tip to its goal wherever the ring allows. With limits, or with `CCD`, the goal
    returned is the tip's actual position, and a target counts as reached if the tip is on it, or would be without softness
    (`REACH_TOLERANCE`). Undetermined frames hold their pose. Nothing returned is NaN.
    """
    targets, lengths, start = (np.asarray(values, dtype=np.float64) for values in (targets, lengths, start))
    stand_in = links_with_same_ring(lengths)
    ratio, distances = plan_distances(targets, stand_in, options)
    goals = _chain_goals(targets, stand_in, distances)
    free = limits is None and method != ChainMethod.CCD
    if limits is not None:
        limits = np.asarray(limits, dtype=np.float64)
        # A range of a whole turn or more forbids nothing, not even to keep turning.
        wide = limits[..., 1] - limits[..., 0] >= FULL_TURN
        limits = np.where(wide[..., np.newaxis], np.array([-np.inf, np.inf]), limits)

    def solved(aims: Array) -> ChainSolution:
        return solve_chain(aims, lengths, bend=bend, limits=limits, start=start, method=method, tolerance=REACH_TOLERANCE)

    posed = solved(goals)
    tips = scaled_tips(posed.angles, lengths, ratio)
    ring = ring_reach(targets, stand_in, options)
    degenerate = posed.reach == Reach.DEGENERATE
    if free:
        reach = np.where(degenerate, Reach.DEGENERATE, ring)
        goals = np.where(degenerate[..., np.newaxis], tips, goals * ratio[..., np.newaxis])
        return PlanarSolution(posed.angles, ratio, reach.astype(np.int8), goals)
    unmoved = posed if distances is None else solved(targets)
    reach = _limited_reach(targets, tips, REACH_TOLERANCE * lengths.sum(axis=-1), ring=ring, unmoved=unmoved.reach)
    return PlanarSolution(posed.angles, ratio, reach.astype(np.int8), tips)


def links_with_same_ring(lengths: Array) -> Array:
    """Lengths `(..., 2)` of two links with the same reachable ring as links `(..., n)`.

    The outer radius is the sum of the lengths; the inner radius is the excess of the longest link over all others together, or 0
    (polygon inequality).
    """
    far = lengths.sum(axis=-1)
    near = np.maximum(2.0 * lengths.max(axis=-1) - far, 0.0)
    return np.stack([0.5 * (far + near), 0.5 * (far - near)], axis=-1)


def _chain_goals(targets: Array, stand_in: Array, distances: Array | None) -> Array:
    """Goals of the unscaled tips, `(..., F, 2)`: in the ring, in the target's direction.

    A target on the root joint keeps the last direction; non-finite targets are unchanged.
    """
    spans = target_distances(targets)
    near, far = ring_limits(stand_in[..., 0], stand_in[..., 1])
    reduced = np.clip(spans if distances is None else distances, near, far)
    room = room_for_sums(targets, stand_in)
    aims = targets if room is None else targets * room  # some NumPy's `arctan2` rounds huge numbers otherwise
    heading = hold(np.arctan2(aims[..., 1], aims[..., 0]), np.isfinite(targets).all(axis=-1) & (spans > 0))
    goals = reduced[..., np.newaxis] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    # Where nothing keeps the tip away, the target itself is exact; going through its direction would round.
    unmoved = ~np.isfinite(targets).all(axis=-1) | (reduced == spans)
    return np.where(unmoved[..., np.newaxis], targets, goals)
