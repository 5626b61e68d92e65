"""Moves of a root that let limbs reach their goals: the smallest at every frame, then smoothed over time."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude, shortening

PROJECTIONS, PROJECTED = 500, 1e-10
"""Most iterations of the alternating projections, and the change, relative to the largest reach, that counts as converged."""


def needed_moves(to_goals: Array, reaches: Array, counts: Mask, direction: Array, *, least: float, most: float) -> Array:
    """The smallest moves `(F,)` of the root along the unit vector `direction` `(3,)` with which all limbs reach.

    Where no move suffices, they reach as nearly as possible.

    to_goals : (C, F, 3) from each limb's root joint to its goal
    reaches : (C, F) largest distance of a goal from the root joint
    counts : (C, F) where a limb has a goal that counts
    least, most : bounds of the moves; `least` <= 0 <= `most`
    """
    along = to_goals @ direction
    across = np.sum(to_goals**2, axis=-1) - along**2
    room = reaches**2 - across
    # Half of the chord that the line of the moves cuts out of the ball in which the limb reaches its goal.
    half = np.sqrt(np.maximum(room, 0.0))
    # A goal too far away sideways is most nearly reached at its own height; that alone is no reason to move there.
    low = np.where(counts & (room >= 0.0), along - half, -np.inf).max(axis=0)
    high = np.where(counts & (room >= 0.0), along + half, np.inf).min(axis=0)
    return np.clip(np.where(low <= high, np.clip(0.0, low, np.maximum(low, high)), low), least, most)


def shortest_moves(to_goals: Array, reaches: Array, counts: Mask) -> Array:
    """The shortest moves `(F, 3)` of the root with which all limbs reach, 0 where they do already. Arguments: `needed_moves`.

    Where no move lets all limbs reach, some of them do. Found by Dykstra's alternating projections (Boyle and Dykstra 1986):
    the moves with which one limb reaches form a ball.
    """
    moves = np.zeros(to_goals.shape[1:])
    given_back = np.zeros_like(to_goals)
    for _ in range(PROJECTIONS):
        before = moves
        for limb, (to_goal, reach, is_goal) in enumerate(zip(to_goals, reaches, counts, strict=True)):
            start = moves + given_back[limb]
            remaining = to_goal - start
            missing = 1.0 - shortening(magnitude(remaining), reach)
            moves = start + remaining * np.where(is_goal, missing, 0.0)[:, None]
            # What this limb has taken away is given back to it in the next round: without that, the moves would end at any point
            # where all limbs reach instead of at the nearest one.
            given_back[limb] = start - moves
        if np.abs(moves - before).max(initial=0.0) <= PROJECTED * float(reaches.max(initial=0.0)):
            break
    return moves


def smooth_ways(moves: Array, window: int) -> Array:
    """Moves `(F, 3)` with each axis smoothed by `smooth_moves`."""
    return np.stack([smooth_moves(moves[:, axis], window) for axis in range(3)], axis=-1)


def smooth_moves(moves: Array, window: int) -> Array:
    """Smooth moves `(F,)`, nowhere smaller in size than `moves` `(F,)`, nowhere larger than the largest within the window.

    window : samples, odd

    A running maximum within half a window to either side, averaged over the window with Hann weights: every value in the
    average is at least the need at its centre. Positive and negative moves are smoothed separately.
    """
    if window <= 1 or not np.any(moves):
        return moves
    return _envelope(np.maximum(moves, 0.0), window) - _envelope(np.maximum(-moves, 0.0), window)


def _envelope(needs: Array, window: int) -> Array:
    if not needs.any():
        return needs
    half = window // 2
    padded = np.pad(needs, 2 * half, mode="edge")
    highest = _running_maxima(padded, 2 * half + 1)
    # Without its two zeros: they would widen the window by samples that do not count.
    weights = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(highest, weights / weights.sum(), mode="valid")


def _running_maxima(values: Array, width: int) -> Array:
    """Maxima `(n - width + 1,)` of each `width` consecutive ones of values `(n,)`, from those of half as many."""
    reach = 1
    while 2 * reach <= width:
        values, reach = np.maximum(values[:-reach], values[reach:]), 2 * reach
    return np.maximum(values[: len(values) - (width - reach)], values[width - reach :])
