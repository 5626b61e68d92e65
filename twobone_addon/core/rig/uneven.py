"""Solve chains under non-uniform scale, whose link lengths depend on their directions, by search.

Such a link turns on an ellipse instead of a circle, which need not even be centred on its joint. There is no closed form for two
of them, but Blender's bone arithmetic is available for whole arrays of trials at once. Targets out of reach are left to
`closest`, which uses the curvature of the tip's path.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..array_types import Array
from ..arrays import span

SEARCH_SETTLED = 1e-9
"""Tip error, relative to the chain's length, at which a search ends: a hundredth of Blender's single precision."""

STARTING_TURNS = 24
"""Number of evenly spaced turns of the first bone in the grid of starting poses."""

STARTING_BENDS = 24
"""Number of evenly spaced turns between first and last bone in the grid of starting poses."""

MOST_STARTS = 8
"""Number of nearest starting poses that are tried."""

NON_MINIMUM_PENALTY = 10.0
"""Penalty greater than any miss, which is at most twice a chain's length plus one."""

LEAST_SQUARES_ROUNDS = 40

LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e6
"""Damping relative to the squared slopes: practically none, and so much that no step is left, which ends the iteration."""

NUDGE = 1e-6
"""Finite-difference step in radians for slopes; balances rounding against curvature in float64."""

CLOSEST_STARTS = 4
"""Number of ranked starts whose closest poses are compared."""

CLOSEST_ROUNDS = 20
"""Rounds for each of the `STIFFNESSES`."""

CURVATURE_NUDGE = 1e-4
"""Finite-difference step in radians for curvature; balances rounding against higher orders."""

LONGEST_TURN = 0.5
"""Greatest turn of a joint in a round, in radians; the curvature is not valid farther away."""

STIFFNESSES = (1.0, 10.0, 100.0, 1e3, 1e4)
"""Penalty weights of a bend to the wrong side relative to a miss, applied one after another: the stiffest allows only a
hundred-millionth of a wrong bend, but from far away it would make steps tiny."""

NO_SIDE = 1e-6
"""Cross product of first and last link, relative to the chain's length squared, that looks straight or folded."""

LinksAt = Callable[[Array], Array]
"""In-plane link vectors `(..., F, n, 2)` for angles `(..., F, n)`."""


def search(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Find angles `(..., F, count)` that bring the tip to `goals` `(..., F, 2)`, bent to the side `bend` `(..., F)` if possible.

    Starts from the nearest of a grid of bent poses: a straight chain has no slope along itself and would not move. Where no pose
    reaches, the result is a near one; see `closest`. Ends when all frames have converged.
    """
    starts = _ranked_starts(goals, bend, count, links_at)
    best = starts[0]
    miss = _miss(links_at(best), goals, bend)
    for start in starts:
        tried = _least_squares(start, goals, links_at)
        tried_miss = _miss(links_at(tried), goals, bend)
        better = tried_miss < miss
        best = np.where(better[..., None], tried, best)
        miss = np.where(better, tried_miss, miss)
        if np.all(miss <= SEARCH_SETTLED):
            break
    return best


def closest(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Find angles `(..., F, count)` of the poses closest to unreachable `goals` `(..., F, 2)`, bent to `bend` or not at all.

    Newton's method from the nearest of a grid of poses. A bend to the wrong side is penalised like a stiff spring, because the
    closest pose often is straight or folded, where both sides meet.
    """
    tried = _ranked_starts(goals, bend, count, links_at)[:CLOSEST_STARTS]
    for stiffness in STIFFNESSES:
        tried = _descend_to_closest(tried, goals, stiffness * bend, links_at)
    links = links_at(tried)
    wrong = _side(links, bend) < -NO_SIDE
    best = np.argmin(np.where(wrong, np.inf, span(links.sum(axis=-2) - goals)), axis=0)
    return np.take_along_axis(tried, best[None, ..., None], axis=0)[0]


def _descend_to_closest(angles: Array, goals: Array, bend: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` at local minima of the distance to `goals` `(F, 2)`; `bend` is the side times its stiffness."""

    def residuals_at(angles: Array) -> Array:
        return _residuals(links_at(angles), goals, bend)

    damping = np.full(angles.shape[:-1], 1e-3)
    here = residuals_at(angles)
    for _ in range(CLOSEST_ROUNDS):
        gradient, curvature = _slope_and_curvature(angles, here, residuals_at)
        values, axes = np.linalg.eigh(curvature)
        # The absolute value makes a saddle's ascent direction a descent direction.
        strength = np.abs(values) + (damping * np.abs(values).max(axis=-1) + np.finfo(float).tiny)[..., None]
        step = -(axes @ ((np.swapaxes(axes, -1, -2) @ gradient[..., None]) / strength[..., None]))[..., 0]
        step = np.clip(step, -LONGEST_TURN, LONGEST_TURN)
        there = residuals_at(angles + step)
        # Factored: far from a goal, the difference of the squares would lose the gain to rounding.
        better = ((here - there) * (here + there)).sum(axis=-1) > 0.0
        angles, here = (np.where(better[..., None], *pair) for pair in ((angles + step, angles), (there, here)))
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all((damping == MOST_DAMPING) | (np.abs(step).max(axis=-1) < SEARCH_SETTLED)):
            break
    return angles


def _residuals(links: Array, goals: Array, bend: Array) -> Array:
    """Residuals `(..., F, 3)`: vector from goal to tip, and penalty for a bend to the wrong side."""
    length = span(links).sum(axis=-1)
    missed = links.sum(axis=-2) - goals
    # The penalty grows with the miss, so that a distant goal does not overpower it.
    weight = length + span(missed)
    return np.concatenate([missed, (weight * np.minimum(_side(links, bend), 0.0))[..., None]], axis=-1)


def _slope_and_curvature(angles: Array, here: Array, residuals_at: Callable[[Array], Array]) -> tuple[Array, Array]:
    """First `(..., F, n)` and second `(..., F, n, n)` derivative of half the squared residuals, whose current values are `here`.

    The curvature of the third residual, the penalty, is omitted, because it has a kink where the chain is straight.
    """
    count = angles.shape[-1]
    steps = CURVATURE_NUDGE * np.eye(count)
    pairs = [(first, second) for first, second in product(range(count), repeat=2) if second <= first]
    both = np.stack([steps[first] + steps[second] for first, second in pairs])
    tries = np.concatenate([steps, -steps, both, -both]).reshape(-1, *[1] * (angles.ndim - 1), count)
    up, down, further, back = np.split(residuals_at(angles + tries), [count, 2 * count, 2 * count + len(pairs)])
    slopes = np.moveaxis(0.5 * (up - down) / CURVATURE_NUDGE, 0, -1)
    transposed = np.swapaxes(slopes, -1, -2)
    curvature = transposed @ slopes
    for number, (first, second) in enumerate(pairs):
        around = up[first] + down[first] + up[second] + down[second]
        bent = 0.5 * (further[number] + back[number] - around + 2.0 * here) / CURVATURE_NUDGE**2
        pulled = (bent[..., :2] * here[..., :2]).sum(axis=-1)
        curvature[..., first, second] += pulled
        if first != second:
            curvature[..., second, first] += pulled
    return (transposed @ here[..., None])[..., 0], curvature


def _ranked_starts(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Angles `(MOST_STARTS, ..., F, count)` of the nearest poses of a grid, local minima first, nearest first."""
    spread = np.linspace(0.0, 1.0, count)
    around = np.arange(STARTING_TURNS) * (2.0 * np.pi / STARTING_TURNS)
    # Offset by half a step, so that no pose of the grid is straight or fully folded.
    bends = (np.arange(STARTING_BENDS) + 0.5) * (2.0 * np.pi / STARTING_BENDS)
    shape = (*goals.shape[:-1], count)
    grid = np.stack([np.broadcast_to(turn + fold * spread, shape) for turn, fold in product(around, bends)])
    misses = np.concatenate([_miss(links_at(part), goals, bend) for part in np.split(grid, STARTING_TURNS)])
    ranked = np.argsort(_penalise_non_minima(misses), axis=0, kind="stable")[:MOST_STARTS]
    return np.take_along_axis(grid, ranked[..., None], axis=0)


def _penalise_non_minima(misses: Array) -> Array:
    """The misses `(STARTING_TURNS * STARTING_BENDS, ..., F)` with a penalty on all that are not local minima of the grid.

    So the starts lie in different basins instead of all around the lowest minimum.
    """
    table = misses.reshape(STARTING_TURNS, STARTING_BENDS, *misses.shape[1:])
    lowest = np.ones(table.shape, dtype=bool)
    for step in product((-1, 0, 1), repeat=2):
        lowest &= table <= np.roll(table, step, axis=(0, 1))
    return np.where(lowest, table, table + NON_MINIMUM_PENALTY).reshape(misses.shape)


def _miss(links: Array, goals: Array, bend: Array) -> Array:
    """Distance `(..., F)` of posed links' tips from their goals, relative to the length, plus 1 for a bend to the wrong side."""
    length = span(links).sum(axis=-1)
    off = np.divide(span(links.sum(axis=-2) - goals), length, out=np.zeros_like(length), where=length > 0.0)
    return off + np.where(_side(links, bend) < -SEARCH_SETTLED, 1.0, 0.0)


def _side(links: Array, bend: Array) -> Array:
    """Bend `(..., F)` to the side `bend`: cross product of first and last link, relative to the chain's length squared."""
    length = span(links).sum(axis=-1)
    first, last = links[..., 0, :], links[..., -1, :]
    across = (first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]) * bend
    return np.divide(across, length * length, out=np.zeros_like(length), where=length > 0.0)


def _least_squares(angles: Array, goals: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` that bring the tip nearest to `goals` `(..., F, 2)` from a nearby start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with damping per frame.
    """
    count = angles.shape[-1]
    tips = links_at(angles).sum(axis=-2)
    damping = np.full(goals.shape[:-1], 1e-3)
    for _ in range(LEAST_SQUARES_ROUNDS):
        tries = angles + NUDGE * np.eye(count).reshape(count, *[1] * (angles.ndim - 1), count)
        slopes = np.moveaxis((links_at(tries).sum(axis=-2) - tips) / NUDGE, 0, -1)
        transposed = np.swapaxes(slopes, -1, -2)
        normal = transposed @ slopes
        scale = np.trace(normal, axis1=-2, axis2=-1) + np.finfo(float).tiny
        normal = normal + (damping * scale)[..., None, None] * np.eye(count)
        step = np.linalg.solve(normal, transposed @ (goals - tips)[..., None])[..., 0]
        tried_tips = links_at(angles + step).sum(axis=-2)
        better = span(tried_tips - goals) < span(tips - goals)
        angles = np.where(better[..., None], angles + step, angles)
        tips = np.where(better[..., None], tried_tips, tips)
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all((damping == MOST_DAMPING) | (np.abs(step).max(axis=-1) < SEARCH_SETTLED)):
            break
    return angles
