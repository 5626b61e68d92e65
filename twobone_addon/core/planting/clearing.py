"""Feet in the air that stay out of the ground."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..array_types import Array, Mask
from ..contacts.states import runs


def lifts(needs: Array, free: Mask, window: int) -> Array:
    """How far `(S,)` to lift a foot: at least what it `needs` `(S,)` where it is `free` `(S,)`, nothing elsewhere, smoothly.

    window : samples to either side within which a lift comes and goes; near the ground there is less room for that

    The largest need around, averaged over half as wide a stretch with Hann's weights: all that an average takes in is at
    least the need in its middle.
    """
    found = np.zeros(len(needs))
    wanted = np.where(free, np.maximum(needs, 0.0), 0.0)
    ends = 2 * (window + window // 2)
    touched = free & (np.convolve(wanted > 0.0, np.ones(ends + 1), mode="full")[ends // 2 :][: len(free)] > 0.0)
    for first, last in runs(free):
        count, near = last - first + 1, np.flatnonzero(touched[first : last + 1])
        if not len(near):
            continue
        rows = np.arange(count)
        left = rows + 1 if first else np.full(count, window)
        right = count - rows if last + 1 < len(needs) else np.full(count, window)
        room = np.minimum(window, np.minimum(left, right))[near]
        alike = [(reach, near[room == reach]) for reach in np.unique(room).tolist()]
        own, highest = np.pad(wanted[first : last + 1], window), np.zeros(count)
        for reach, at in alike:
            highest[at] = sliding_window_view(own, 2 * reach + 1)[at + window - reach].max(axis=1)
        around = np.pad(highest, window, mode="edge")
        for reach, at in alike:
            weights = np.hanning(2 * (reach // 2) + 3)[1:-1]
            found[first + at] = sliding_window_view(around, len(weights))[at + window - reach // 2] @ weights / weights.sum()
    return found


def far_from(standing: Mask, window: int) -> Array:
    """0 where a foot stands `(S,)`, 1 a `window` of samples away from that and farther, evenly in between."""
    rows, stands = np.arange(len(standing)), np.flatnonzero(standing)
    if not len(stands):
        return np.ones(len(standing))
    after = np.searchsorted(stands, rows)
    nearest = np.minimum(
        np.abs(rows - stands[np.minimum(after, len(stands) - 1)]), np.abs(rows - stands[np.maximum(after - 1, 0)])
    )
    return np.minimum(1.0, nearest / window)
