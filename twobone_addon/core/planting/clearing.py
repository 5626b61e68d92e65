"""Lifts that keep feet in the air out of the ground."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..array_types import Array, Mask
from ..contacts.states import runs


def lifts(needs: Array, free: Mask, window: int) -> Array:
    """Smooth lift `(S,)` of a foot: at least `needs` `(S,)` where it is `free` `(S,)`, zero elsewhere.

    window : samples to either side within which a lift eases in and out; less where a stance is nearer than that

    The lift is a running maximum of the needs, averaged over half its width with Hann weights: every value in the average is
    at least the need at its centre.
    """
    lifted = np.zeros(len(needs))
    required = np.where(free, np.maximum(needs, 0.0), 0.0)
    width = 2 * (window + window // 2)
    touched = free & (np.convolve(required > 0.0, np.ones(width + 1), mode="full")[width // 2 :][: len(free)] > 0.0)
    for first, last in runs(free):
        count, near = last - first + 1, np.flatnonzero(touched[first : last + 1])
        if not len(near):
            continue
        rows = np.arange(count)
        left = rows + 1 if first else np.full(count, window)
        right = count - rows if last + 1 < len(needs) else np.full(count, window)
        room = np.minimum(window, np.minimum(left, right))[near]
        by_reach = [(reach, near[room == reach]) for reach in np.unique(room).tolist()]
        padded, highest = np.pad(required[first : last + 1], window), np.zeros(count)
        for reach, at in by_reach:
            highest[at] = sliding_window_view(padded, 2 * reach + 1)[at + window - reach].max(axis=1)
        maxima = np.pad(highest, window, mode="edge")
        for reach, at in by_reach:
            weights = np.hanning(2 * (reach // 2) + 3)[1:-1]
            lifted[first + at] = sliding_window_view(maxima, len(weights))[at + window - reach // 2] @ weights / weights.sum()
    return lifted


def far_from(standing: Mask, window: int) -> Array:
    """Ramp `(S,)` from 0 where a foot is `standing` `(S,)` to 1 at `window` samples or more from there, linear in between."""
    rows, stands = np.arange(len(standing)), np.flatnonzero(standing)
    if not len(stands):
        return np.ones(len(standing))
    after = np.searchsorted(stands, rows)
    nearest = np.minimum(
        np.abs(rows - stands[np.minimum(after, len(stands) - 1)]), np.abs(rows - stands[np.maximum(after - 1, 0)])
    )
    return np.minimum(1.0, nearest / window)
