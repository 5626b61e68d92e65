"""Measure how much feet visibly skate, independently of any contacts found."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude

LOW, LOWEST = 0.056, 0.02
"""Leg lengths over the floor (5 cm for a leg of 0.9 m) below which people expect a ball to stand; and the quantile of heights
that counts as the floor."""
FAST = 0.56
"""Leg lengths per second (0.5 m for a leg of 0.9 m) above which everybody sees a foot slide."""


def skating_frames(balls: Array, leg_length: float, rate: float) -> tuple[Mask, Mask]:
    """Masks `(..., F)` of frames at which `balls` `(..., F, 3)` are low, and at which they are low and skate.

    Positions are over their ground, Z up, in the world or relative to a belt, at `rate` frames per second; speeds are
    horizontal central differences. A single frame does not move.
    """
    low = balls[..., 2] <= np.quantile(balls[..., 2], LOWEST, axis=-1, keepdims=True) + LOW * leg_length
    if balls.shape[-2] == 1:
        return low, np.zeros_like(low)
    speeds = magnitude(np.gradient(balls[..., :2], 1.0 / rate, axis=-2))
    return low, low & (speeds > FAST * leg_length)


def skate_share(balls: Array, leg_length: float, rate: float) -> float:
    """Share, 0 to 1, of the low frames of all `balls` `(..., F, 3)` at which they skate, see `skating_frames`.

    A repaired walk has about 0.1, generated motion that skates 0.5. At least one frame of each ball is low.
    """
    low, skating = skating_frames(balls, leg_length, rate)
    return float(np.count_nonzero(skating) / np.count_nonzero(low))
