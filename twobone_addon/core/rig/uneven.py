"""Chains under uneven scale: links whose lengths depend on where they point, solved by search.

A link then runs around an ellipse instead of a circle, and the ellipse need not even be centred on its joint. There is
no closed form for two of them, but Blender's own bone arithmetic is at hand for whole arrays of tries at a time. What
stays out of reach is left to `closest`, which takes the curvature of the tip's way into account.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..array_types import Array
from ..arrays import span

SEARCH_SETTLED = 1e-9
"""Tip error, relative to the chain's length, that ends every search: a hundredth of Blender's single precision."""

STARTING_TURNS = 24
"""Turns of the first bone, evenly around, in the poses from which the search starts."""

STARTING_BENDS = 24
"""Turns between first and last bone, likewise."""

MOST_STARTS = 8
"""Of these poses, how many of the nearest are tried."""

SET_BACK = 10.0
"""More than any miss, which is at most twice a chain's length plus one."""

LEAST_SQUARES_ROUNDS = 40

LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e6
"""Relative to the slopes: next to none, and so much that no step is left, which ends the rounds."""

NUDGE = 1e-6
"""Radians between the poses whose difference is the slope; balances rounding against curvature in float64."""

CLOSEST_STARTS = 4
"""Of the ranked starts, how many lead to closest poses that are compared."""

CLOSEST_ROUNDS = 20
"""For each of the `STIFFNESSES`."""

CURVATURE_NUDGE = 1e-4
"""Radians between poses whose second difference is the curvature: again rounding against what is neglected."""

LONGEST_TURN = 0.5
"""Radians a joint turns in a round; over this the curvature says little."""

STIFFNESSES = (1.0, 10.0, 100.0, 1e3, 1e4)
"""How much more a bend to the wrong side counts than as much of a miss, one after another: a stiff spring lets in a
hundred-millionth of it, but steps along it from afar would be tiny."""

NO_SIDE = 1e-6
"""Sine of a bend, relative to the chain's length squared, that is straight or folded to the eye."""

LinksAt = Callable[[Array], Array]
"""In-plane link vectors `(..., F, n, 2)` for angles `(..., F, n)`."""


def search(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Angles `(..., F, count)` that bring the tip to `goals` `(..., F, 2)`, bent to the side `bend` `(..., F)` if possible.

    Starts from the nearest of a grid of bent poses: a straight chain has no slope along itself and would stay where it
    is. Where no pose reaches, a near one; see `closest`. Ends when all frames are right.
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
    """Angles `(..., F, count)` of the poses nearest to `goals` `(..., F, 2)` that none reaches, bent to `bend` or not at all.

    Newton's method from the nearest of a grid of poses. A bend to the wrong side is held off by a stiff spring, because
    the closest pose often is straight or folded, which is where the sides meet.
    """
    tried = _ranked_starts(goals, bend, count, links_at)[:CLOSEST_STARTS]
    for stiffness in STIFFNESSES:
        tried = _settle(tried, goals, stiffness * bend, links_at)
    links = links_at(tried)
    wrong = _side(links, bend) < -NO_SIDE
    best = np.argmin(np.where(wrong, np.inf, span(links.sum(axis=-2) - goals)), axis=0)
    return np.take_along_axis(tried, best[None, ..., None], axis=0)[0]


def _settle(angles: Array, goals: Array, bend: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` of local minima of the distance to `goals` `(F, 2)` on the side `bend`, times its stiffness."""

    def residuals_at(angles: Array) -> Array:
        return _residuals(links_at(angles), goals, bend)

    damping = np.full(angles.shape[:-1], 1e-3)
    here = residuals_at(angles)
    for _ in range(CLOSEST_ROUNDS):
        gradient, curvature = _slope_and_curvature(angles, here, residuals_at)
        values, axes = np.linalg.eigh(curvature)
        # The absolute value turns a saddle's way up into a way down.
        strength = np.abs(values) + (damping * np.abs(values).max(axis=-1) + np.finfo(float).tiny)[..., None]
        step = -(axes @ ((np.swapaxes(axes, -1, -2) @ gradient[..., None]) / strength[..., None]))[..., 0]
        step = np.clip(step, -LONGEST_TURN, LONGEST_TURN)
        there = residuals_at(angles + step)
        # Factored: far from a goal the squares themselves would hide what is gained.
        better = ((here - there) * (here + there)).sum(axis=-1) > 0.0
        angles, here = (np.where(better[..., None], *pair) for pair in ((angles + step, angles), (there, here)))
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all((damping == MOST_DAMPING) | (np.abs(step).max(axis=-1) < SEARCH_SETTLED)):
            break
    return angles


def _residuals(links: Array, goals: Array, bend: Array) -> Array:
    """What is to vanish `(..., F, 3)`: how far posed links miss their goals, and how much a bend to the wrong side counts."""
    length = span(links).sum(axis=-1)
    missed = links.sum(axis=-2) - goals
    # As stiff for a goal that pulls from afar.
    weight = length + span(missed)
    return np.concatenate([missed, (weight * np.minimum(_side(links, bend), 0.0))[..., None]], axis=-1)


def _slope_and_curvature(angles: Array, here: Array, residuals_at: Callable[[Array], Array]) -> tuple[Array, Array]:
    """First `(..., F, n)` and second `(..., F, n, n)` derivative of half the squared residuals, which are `here`.

    The curvature of the third, a wrong bend, is left out, since it begins at once where the chain is straight.
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
    """Angles `(MOST_STARTS, ..., F, count)` of the nearest poses of a grid, each in a valley of its own, nearest first."""
    spread = np.linspace(0.0, 1.0, count)
    around = np.arange(STARTING_TURNS) * (2.0 * np.pi / STARTING_TURNS)
    # Half a step off zero: no pose of the grid is straight or fully folded.
    bends = (np.arange(STARTING_BENDS) + 0.5) * (2.0 * np.pi / STARTING_BENDS)
    shape = (*goals.shape[:-1], count)
    grid = np.stack([np.broadcast_to(turn + fold * spread, shape) for turn, fold in product(around, bends)])
    misses = np.concatenate([_miss(links_at(part), goals, bend) for part in np.split(grid, STARTING_TURNS)])
    ranked = np.argsort(_valleys(misses), axis=0, kind="stable")[:MOST_STARTS]
    return np.take_along_axis(grid, ranked[..., None], axis=0)


def _valleys(misses: Array) -> Array:
    """The misses `(STARTING_TURNS * STARTING_BENDS, ..., F)` with all but the lowest of their neighbours set back.

    So the starts lie in different valleys, instead of all around the lowest one.
    """
    table = misses.reshape(STARTING_TURNS, STARTING_BENDS, *misses.shape[1:])
    lowest = np.ones(table.shape, dtype=bool)
    for step in product((-1, 0, 1), repeat=2):
        lowest &= table <= np.roll(table, step, axis=(0, 1))
    return np.where(lowest, table, table + SET_BACK).reshape(misses.shape)


def _miss(links: Array, goals: Array, bend: Array) -> Array:
    """How far off `(..., F)` posed links are, relative to their length; a bend to the wrong side counts as a whole length."""
    length = span(links).sum(axis=-1)
    off = np.divide(span(links.sum(axis=-2) - goals), length, out=np.zeros_like(length), where=length > 0.0)
    return off + np.where(_side(links, bend) < -SEARCH_SETTLED, 1.0, 0.0)


def _side(links: Array, bend: Array) -> Array:
    """How far `(..., F)` links are bent to the side `bend`: from first to last, relative to the chain's length squared."""
    length = span(links).sum(axis=-1)
    first, last = links[..., 0, :], links[..., -1, :]
    across = (first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]) * bend
    return np.divide(across, length * length, out=np.zeros_like(length), where=length > 0.0)


def _least_squares(angles: Array, goals: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` that bring the tip nearest to `goals` `(..., F, 2)` from a near start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with the damping kept per frame.
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
