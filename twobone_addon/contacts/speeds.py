"""How fast points move, from noisy positions at frames.

A foot that is put down stops within a frame or two. Speeds that look at both sides of a frame blur that; here a frame
has one speed from the moments before it and one from the moments after it, each the slope of a line through all
positions in a window of fixed time (Savitzky and Golay's filter of degree 1), and a point stands where it stands on
either side.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array
from ..arrays import magnitude

WINDOW_IN_SECONDS = 1.0 / 50.0
"""Of one slope: 2 mm of noise at 120 frames a second become 0.1 m/s, and the shortest contacts have room for three."""


def window_frames(rate: float) -> int:
    """Steps from frame to frame in one window, at `rate` frames a second; at least one."""
    return max(1, round(WINDOW_IN_SECONDS * rate))


def slopes(positions: Array, rate: float) -> Array:
    """Velocities `(..., F - n, k)` of `positions` `(..., F, k)` over each window of `n` steps, a second.

    A motion that is shorter than a window is one window. Of a single frame there are none.
    """
    steps = min(window_frames(rate), positions.shape[-2] - 1)
    if steps < 1:
        return np.zeros((*positions.shape[:-2], 0, positions.shape[-1]))
    places = np.arange(steps + 1) - steps / 2.0
    weights = places / (places @ places)
    windows = np.lib.stride_tricks.sliding_window_view(positions, steps + 1, axis=-2)
    return windows @ weights * rate


def standing_speeds(positions: Array, rate: float) -> Array:
    """Speeds `(..., F)` of `positions` `(..., F, k)`: before or after each frame, whichever is less.

    The first frames have nothing before them and the last ones nothing after; a single frame stands still.
    """
    return _lesser_side(magnitude(slopes(positions, rate)), positions.shape[-2])


def smoothed(values: Array, rate: float) -> Array:
    """Values `(..., F)`, each the mean of those within one window around it; less at the ends."""
    reach = window_frames(rate)
    places = np.arange(values.shape[-1])
    first, last = np.maximum(places - reach, 0), np.minimum(places + reach + 1, values.shape[-1])
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    return (sums[..., last] - sums[..., first]) / (last - first)


def _lesser_side(speeds: Array, count: int) -> Array:
    """Of speeds `(..., W)` over windows, the lesser of the two windows that end and that begin at each of `count` frames."""
    if speeds.shape[-1] == 0:
        return np.zeros((*speeds.shape[:-1], count))
    missing = np.full((*speeds.shape[:-1], count - speeds.shape[-1]), np.inf)
    return np.minimum(np.concatenate([missing, speeds], axis=-1), np.concatenate([speeds, missing], axis=-1))
