"""How far a root is to move so that limbs reach: as little as needed at every frame, and smoothly over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude, shortening

PROJECTIONS, PROJECTED = 500, 1e-10
"""Rounds, and the part of the reach by which the last one may still change a move."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Moves of a root along one direction."""

    moves: Array
    """`(F,)` the smallest that lets all limbs reach, or most nearly so; 0 where they do."""
    met: Mask
    """`(F,)` where all limbs reach then."""


def needed_moves(ways: Array, reaches: Array, wanted: Mask, direction: Array, *, least: float, most: float) -> Needs:
    """The smallest moves of the root along `direction` `(3,)` with which limbs reach.

    ways : (C, F, 3) from each limb's root joint to its goal
    reaches : (C, F) farthest that a goal may be
    wanted : (C, F) where a limb has a goal that counts
    least, most : moves are in between; `least` <= 0 <= `most`
    """
    along = ways @ direction
    across = np.sum(ways**2, axis=-1) - along**2
    room = reaches**2 - across
    half = np.sqrt(np.maximum(room, 0.0))
    # What is too far away sideways is most nearly reached at its own height; that alone is no reason to go there.
    low = np.where(wanted & (room >= 0.0), along - half, -np.inf).max(axis=0)
    high = np.where(wanted & (room >= 0.0), along + half, np.inf).min(axis=0)
    moves = np.clip(np.where(low <= high, np.clip(0.0, low, np.maximum(low, high)), low), least, most)
    left = ways - moves[:, None] * direction
    met = np.all(~wanted | (magnitude(left) <= reaches), axis=0)
    return Needs(moves, met)


def shortest_moves(ways: Array, reaches: Array, wanted: Mask) -> Array:
    """The shortest moves `(F, 3)` of the root with which limbs reach, 0 where they do; arguments as of `needed_moves`.

    Where no move lets all of them reach, some do. Found by Dykstra's alternating projections (Boyle and Dykstra 1986): what
    a limb reaches is a ball.
    """
    moves = np.zeros(ways.shape[1:])
    given_back = np.zeros_like(ways)
    for _ in range(PROJECTIONS):
        before = moves
        for limb, (way, reach, counts) in enumerate(zip(ways, reaches, wanted, strict=True)):
            start = moves + given_back[limb]
            left = way - start
            part = 1.0 - shortening(magnitude(left), reach)
            moves = start + left * np.where(counts, part, 0.0)[:, None]
            given_back[limb] = start - moves
        if np.abs(moves - before).max(initial=0.0) <= PROJECTED * float(reaches.max(initial=0.0)):
            break
    return moves


def smooth_ways(moves: Array, window: int) -> Array:
    """Moves `(F, 3)`, each axis of which is smoothed as `smooth_moves` does."""
    return np.stack([smooth_moves(moves[:, axis], window) for axis in range(3)], axis=-1)


def smooth_moves(moves: Array, window: int) -> Array:
    """Moves `(F,)` that are nowhere smaller than `moves` to their side, nowhere larger than the largest around, and smooth.

    window : samples, odd

    The largest need within half a window to either side, averaged over the window with Hann's weights: what every average
    takes in is at least the need in its middle. Needs to both sides are smoothed each for itself.
    """
    if window <= 1 or not np.any(moves):
        return moves
    return _envelope(np.maximum(moves, 0.0), window) - _envelope(np.maximum(-moves, 0.0), window)


def _envelope(needs: Array, window: int) -> Array:
    if not needs.any():
        return needs
    half = window // 2
    padded = np.pad(needs, 2 * half, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=-1)
    weights = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(highest, weights / weights.sum(), mode="valid")
