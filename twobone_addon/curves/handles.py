"""Handles that follow the motion: the slope at each key is the motion's own, not guessed from the other keys."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array

THIRD = 1.0 / 3.0

# A cubic between two keys is monotone if its end slopes are at most this many times the secant (Fritsch and Carlson 1980).
STEEPEST = 3.0


def motion_slopes(times: ArrayLike, values: ArrayLike) -> Array:
    """Slopes `(..., F, K)`, per frame, of `values : (..., F, K)` sampled at `times : (F,)`, rising.

    Of the two derivatives, that of the parabola through the samples before and that of the one after, the flatter is
    taken, and 0 where they disagree in sign. On smooth motion both agree to second order. At a corner the slope is
    that of the flatter side, so the curve does not overshoot; where the motion comes to rest or leaves it, the slope is
    0 and the rest stays flat. (The limiter known as minmod.) Between samples that climb the curve climbs, too.

    With fewer than three samples: the slope of the line through two, 0 for one.
    """
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if len(times) <= 1:
        return np.zeros(values.shape)
    spans = np.diff(times)[:, None]
    secants = np.diff(values, axis=-2) / spans
    bends = np.diff(secants, axis=-2) / (spans[:-1] + spans[1:]) if len(spans) > 1 else np.zeros_like(secants)
    bends = np.concatenate([bends[..., :1, :], bends, bends[..., -1:, :]], axis=-2)
    before = secants + bends[..., : len(spans), :] * spans
    after = secants - bends[..., -len(spans) :, :] * spans
    # The ends have a parabola on one side only.
    before = np.concatenate([after[..., :1, :], before], axis=-2)
    after = np.concatenate([after, before[..., -1:, :]], axis=-2)
    slopes = _flatter(before, after)
    climb_before = np.concatenate([secants[..., :1, :], secants], axis=-2)
    climb_after = np.concatenate([secants, secants[..., -1:, :]], axis=-2)
    extreme = climb_before * climb_after < 0.0
    return np.where(extreme, slopes, _flatter(slopes, STEEPEST * _flatter(climb_before, climb_after)))


def _flatter(first: Array, second: Array) -> Array:
    """Of two slopes the one nearer to 0, and 0 where they disagree in sign."""
    return np.where(first * second > 0.0, np.where(np.abs(first) < np.abs(second), first, second), 0.0)


def smooth_handles(frames: ArrayLike, values: ArrayLike, slopes: ArrayLike) -> tuple[Array, Array]:
    """Left and right handles `(..., F, K, 2)` (frame, value) of keys that have the given slopes.

    frames : (F,) rising; values, slopes : (..., F, K), slopes per frame. The handles are a third of the way to the
    neighbouring keys, so that each segment is the cubic (Hermite) polynomial in time. Before the first key and after
    the last they are as long as on the other side; a single key's handles reach a third of a frame.
    """
    frames, values, slopes = (np.asarray(array, dtype=float) for array in (frames, values, slopes))
    spans = np.diff(frames) if len(frames) > 1 else np.ones(1)
    lengths = (THIRD * np.concatenate([spans[:1], spans, spans[-1:]]))[-(len(frames) + 1) :, None]

    def reaching(offsets: Array) -> Array:
        return np.stack(np.broadcast_arrays(frames[:, None] + offsets, values + slopes * offsets), axis=-1)

    return reaching(-lengths[:-1]), reaching(lengths[1:])
