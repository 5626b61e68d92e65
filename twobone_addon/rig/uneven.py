"""Chains under uneven scale: links whose lengths depend on where they point, solved by search.

A link then runs around an ellipse instead of a circle, and the ellipse need not even be centred on its joint. There is
no closed form for two of them, but Blender's own bone arithmetic is at hand for whole arrays of tries at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..array_types import Array

SETTLED = 1e-9
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

LinksAt = Callable[[Array], Array]
"""In-plane link vectors `(..., F, n, 2)` for angles `(..., F, n)`."""


def search(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Angles `(..., F, count)` that bring the tip to `goals` `(..., F, 2)`, bent to the side `bend` `(..., F)` if possible.

    Starts from the nearest of a grid of bent poses: a straight chain has no slope along itself and would stay where it
    is. Where no pose reaches, the nearest one found. Ends when all frames are right.
    """
    misses, starts = _ranked_starts(goals, bend, count, links_at)
    best = starts[0]
    miss = misses[0]
    for start in starts:
        tried = _least_squares(start, goals, links_at)
        tried_miss = _miss(links_at(tried), goals, bend)
        better = tried_miss < miss
        best = np.where(better[..., None], tried, best)
        miss = np.where(better, tried_miss, miss)
        if np.all(miss <= SETTLED):
            break
    return best


def _ranked_starts(goals: Array, bend: Array, count: int, links_at: LinksAt) -> tuple[Array, Array]:
    """How far off `(MOST_STARTS, ..., F)` the nearest poses of the grid are, and their angles, nearest first."""
    spread = np.linspace(0.0, 1.0, count)
    around = np.arange(STARTING_TURNS) * (2.0 * np.pi / STARTING_TURNS)
    # Half a step off zero: no pose of the grid is straight or fully folded.
    bends = (np.arange(STARTING_BENDS) + 0.5) * (2.0 * np.pi / STARTING_BENDS)
    shape = (*goals.shape[:-1], count)
    grid = np.stack([np.broadcast_to(turn + fold * spread, shape) for turn, fold in product(around, bends)])
    misses = np.stack([_miss(links_at(start), goals, bend) for start in grid])
    ranked = np.argsort(_valleys(misses), axis=0, kind="stable")[:MOST_STARTS]
    return np.take_along_axis(misses, ranked, axis=0), np.take_along_axis(grid, ranked[..., None], axis=0)


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
    length = np.hypot(links[..., 0], links[..., 1]).sum(axis=-1)
    first, last = links[..., 0, :], links[..., -1, :]
    across = first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]
    off = np.divide(_distance(links.sum(axis=-2), goals), length, out=np.zeros_like(length), where=length > 0.0)
    return off + np.where(across * bend < -SETTLED * length * length, 1.0, 0.0)


def _least_squares(angles: Array, goals: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` that bring the tip nearest to `goals` `(..., F, 2)` from a near start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with the damping kept per frame.
    """
    count = angles.shape[-1]
    tips = links_at(angles).sum(axis=-2)
    damping = np.full(goals.shape[:-1], 1e-3)
    for _ in range(LEAST_SQUARES_ROUNDS):
        slopes = np.stack([(links_at(angles + NUDGE * row).sum(axis=-2) - tips) / NUDGE for row in np.eye(count)], axis=-1)
        transposed = np.swapaxes(slopes, -1, -2)
        normal = transposed @ slopes
        scale = np.trace(normal, axis1=-2, axis2=-1) + np.finfo(float).tiny
        normal = normal + (damping * scale)[..., None, None] * np.eye(count)
        step = np.linalg.solve(normal, transposed @ (goals - tips)[..., None])[..., 0]
        tried_tips = links_at(angles + step).sum(axis=-2)
        better = _distance(tried_tips, goals) < _distance(tips, goals)
        angles = np.where(better[..., None], angles + step, angles)
        tips = np.where(better[..., None], tried_tips, tips)
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all(damping == MOST_DAMPING):
            break
    return angles


def _distance(first: Array, second: Array) -> Array:
    difference = first - second
    return np.hypot(difference[..., 0], difference[..., 1])
