"""The same ways to reach as `planar`, for chains of more than two links.

A chain of n links reaches a ring like two links do: as far as all of them together, and as near as the longest one is
longer than the others together, which for most chains is the root joint itself. The two links with that very ring,
(far + near) / 2 and (far - near) / 2, stand in for the chain wherever only the ring counts: distance bounds, softness
and stretch. Then `solve_chain` poses the chain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes
from .angles import hold
from .chains.chain import REACH_TOLERANCE, ChainMethod, ChainSolution, solve_chain
from .planar import PlanarSolution, plan_distances, ring_reach, scaled_tips
from .reach import Reach, ReachOptions
from .ring import ring_limits, target_distances

WHOLE_TURN = 2.0 * np.pi


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
    """Solve planar chains of n links for targets in the way `options` say; angles are `(..., F, n)`.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (..., F, n) or (n,), all >= 0
    bend : scalar or (..., F) of +1 and -1, as in `solve_chain`
    options : without `limits`; those of two joints do not fit here
    start : (..., F, n) or (n,), angles of the pose to stay near to
    limits : (n, 2) or broadcast against (..., F, n, 2), least and greatest value of each angle, the first of them the
        direction of link 1; a joint that may turn all the way round has no limit
    method : as in `solve_chain`

    Without limits the default method brings the tip to its goal wherever the ring allows. With limits, or by `CCD`,
    the goal is where the tip got, and a target counts as reached if the tip is, or without softness would be, on it
    (`REACH_TOLERANCE`). Frames that leave the pose free hold it. Nothing returned is NaN.
    """
    targets, lengths, start = (np.asarray(values, dtype=np.float64) for values in (targets, lengths, start))
    stand_in = links_with_same_ring(lengths)
    ratio, distances = plan_distances(targets, stand_in, options)
    goals = _goals(targets, stand_in, distances)
    free = limits is None and method != ChainMethod.CCD
    if limits is not None:
        limits = _without_whole_turns(np.asarray(limits, dtype=np.float64))

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
    reach = _limited_reach(targets, tips, lengths, ring=ring, unmoved=unmoved.reach)
    return PlanarSolution(posed.angles, ratio, reach, tips)


def links_with_same_ring(lengths: Array) -> Array:
    """The lengths `(..., 2)` of two links that reach the same ring as links `(..., n)` do.

    Joint by joint the reachable disc or ring grows by the next link; in the end its inner radius is what the longest
    link has over all others together, or none (the polygon inequality).
    """
    far = lengths.sum(axis=-1)
    near = np.maximum(2.0 * lengths.max(axis=-1) - far, 0.0)
    return np.stack([0.5 * (far + near), 0.5 * (far - near)], axis=-1)


def _goals(targets: Array, stand_in: Array, distances: Array | None) -> Array:
    """Where unscaled tips are to be, `(..., F, 2)`: in the ring, in the target's direction.

    A target on the root joint keeps the last direction; targets that are no points stay as they are.
    """
    spans = target_distances(targets)
    near, far = ring_limits(stand_in[..., 0], stand_in[..., 1])
    reduced = np.clip(spans if distances is None else distances, near, far)
    heading = hold(np.arctan2(targets[..., 1], targets[..., 0]), np.isfinite(targets).all(axis=-1) & (spans > 0))
    goals = reduced[..., np.newaxis] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    # Where nothing keeps the tip away, the target itself is exact, without a detour over its direction.
    unmoved = ~np.isfinite(targets).all(axis=-1) | (reduced == spans)
    return np.where(unmoved[..., np.newaxis], targets, goals)


def _without_whole_turns(limits: Array) -> Array:
    """Limits with those of a whole turn or more opened: they forbid nothing, also not to turn on."""
    wide = limits[..., 1] - limits[..., 0] >= WHOLE_TURN
    return np.where(wide[..., np.newaxis], np.array([-np.inf, np.inf]), limits)


def _limited_reach(targets: Array, tips: Array, lengths: Array, *, ring: Codes, unmoved: Codes) -> Codes:
    """`Reach` of the raw targets, for tips that may not get as far as the ring allows."""
    gaps = np.hypot(tips[..., 0] - targets[..., 0], tips[..., 1] - targets[..., 1])
    reach = np.where(ring == Reach.REACHED, unmoved, ring)
    reach = np.where(gaps <= REACH_TOLERANCE * lengths.sum(axis=-1), Reach.REACHED, reach)
    return np.where(unmoved == Reach.DEGENERATE, unmoved, reach).astype(np.int8)
