"""How much feet skate, whatever contacts anybody has found: what an eye sees of a clip."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude

LOW, LOWEST = 0.056, 0.02
"""Leg lengths, 5 cm of a leg of 0.9 m, over the quantile of heights that counts as the floor: there people expect a ball to
stand."""
FAST = 0.56
"""Leg lengths a second, half a metre for a leg of 0.9 m, above which everybody sees a foot slide."""


def low_frames(heights: Array, leg_length: float) -> Mask:
    """Where `(..., F)` balls at `heights` `(..., F)` are so low that they seem to stand."""
    return heights <= np.quantile(heights, LOWEST, axis=-1, keepdims=True) + LOW * leg_length


def skating_frames(balls: Array, leg_length: float, rate: float) -> tuple[Mask, Mask]:
    """Where `(..., F)` balls at `balls` `(..., F, 3)` are low, and where they are low and move along.

    Places are over their ground, Z up: as they are in the world, or beside a belt. At `rate` frames a second; speeds are
    horizontal and central differences. A single frame does not move.
    """
    low = low_frames(balls[..., 2], leg_length)
    if balls.shape[-2] == 1:
        return low, np.zeros_like(low)
    speeds = magnitude(np.gradient(balls[..., :2], 1.0 / rate, axis=-2))
    return low, low & (speeds > FAST * leg_length)


def skate_share(balls: Array, leg_length: float, rate: float) -> float:
    """Share of the low frames of all `balls` `(..., F, 3)` at which they move along, see `skating_frames`: 0 to 1.

    A repaired walk has about 0.1, generated motion that skates 0.5. At least one frame of each ball is low.
    """
    low, skating = skating_frames(balls, leg_length, rate)
    return float(np.count_nonzero(skating) / np.count_nonzero(low))
