"""Lifts that keep feet in the air out of the ground."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..array_types import Array, Mask
from ..rows import in_parts


def lifts(needs: Array, free: Mask, window: int) -> Array:
    """Smooth lift `(S,)` of a foot: at least `needs` `(S,)` where it is `free` `(S,)`, zero elsewhere.

    window : samples to either side within which a lift eases in and out; less where a stance is nearer than that

    The lift is a running maximum of the needs, averaged over half its width with Hann weights: every value in the average is
    at least the need at its centre.
    """
    required = np.where(free, np.maximum(needs, 0.0), 0.0)
    if not required.any():
        return required
    rows = np.flatnonzero(free & (_distances(required > 0.0) <= window + window // 2))
    reaches = np.minimum(_distances(~free)[rows], window)
    offsets, by_reach = np.abs(np.arange(-window, window + 1)), np.arange(window + 1)[:, None]
    inside, half = offsets <= by_reach, by_reach // 2 + 1
    weights = np.where(offsets < half, 0.5 + 0.5 * np.cos(np.pi * offsets / half), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    highest, lifted = np.zeros(len(needs)), np.zeros(len(needs))
    near = sliding_window_view(np.pad(required, window), len(offsets))
    highest[rows] = in_parts(lambda part: np.where(inside[reaches[part]], near[rows[part]], 0.0).max(axis=1), len(rows))
    maxima = sliding_window_view(np.pad(highest, window, mode="edge"), len(offsets))
    lifted[rows] = in_parts(lambda part: (maxima[rows[part]] * weights[reaches[part]]).sum(axis=1), len(rows))
    return lifted


def far_from(standing: Mask, window: int) -> Array:
    """Ramp `(S,)` from 0 where a foot is `standing` `(S,)` to 1 at `window` samples or more from there, linear in between."""
    return np.minimum(1.0, _distances(standing) / window)


def _distances(marked: Mask) -> Array:
    """Samples `(S,)` from each to the nearest `marked` `(S,)` one; infinitely many if there is none."""
    rows, places = np.arange(len(marked)), np.flatnonzero(marked)
    if not len(places):
        return np.full(len(marked), np.iinfo(int).max)
    after = np.searchsorted(places, rows)
    before = places[np.maximum(after - 1, 0)]
    return np.minimum(np.abs(rows - places[np.minimum(after, len(places) - 1)]), np.abs(rows - before))
