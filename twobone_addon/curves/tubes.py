"""Tubes: what is left to one channel when the tip is to stay within its tolerance and the other channels are given.

To first order the tip's move is that of the other channels plus the channel's own error along the direction in which it
moves the tip. So at each moment the errors that keep the tolerance are one interval: the tube.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import Array

# A channel that the tip does not feel (a straight limb's, or one along the limb) still counts at least this share of
# that which it feels most, so that it stays near the motion.
LEAST_FEELING = 0.03

# Where the other channels leave nothing, the tube is this share of the width it would have without them.
NARROWEST = 0.02

# A point that a channel moves less than this share of what counts does not bound its tube.
UNFELT = 1e-6


@dataclass(frozen=True, slots=True)
class Tubes:
    """R rows, each one channel and the errors it may have."""

    times: Array
    """(N,) frames, rising."""
    values: Array
    """(R, N) the motion."""
    middle: Array
    """(R, N) the error in the tube's middle."""
    half: Array
    """(R, N) > 0: half its width."""


def free_widths(feeling: Array) -> Array:
    """How far each channel may be off, (N, K), if the others are right; `feeling` as `Motion.feeling` gives it."""
    felt = np.sqrt(np.einsum("npdk,npdk->npk", feeling, feeling)).max(axis=1)
    most = felt.max(axis=1, keepdims=True)
    # Where nothing moves the tip, every channel counts as if a unit of it were the tolerance.
    return 1.0 / np.where(most > 0.0, np.maximum(felt, LEAST_FEELING * most), 1.0)


def tube_beside(moves: Array, feeling: Array, widths: Array, radius: float) -> tuple[Array, Array]:
    """Middle and half width (N,) of one channel's tube, given the others' `moves : (N, P, D)`.

    feeling : (N, P, D), the channel's own; widths : (N,), its free ones
    radius : share of the tolerance that may be used
    """
    felt = np.einsum("npd,npd->np", feeling, feeling)
    square = np.maximum(felt, (UNFELT / widths[:, None]) ** 2)
    along = np.einsum("npd,npd->np", feeling, moves) / square
    beside = (np.einsum("npd,npd->np", moves, moves) - radius * radius) / square
    spread = along * along - beside
    reach = np.sqrt(np.maximum(spread, 0.0))
    most = radius * widths
    low, high = np.maximum((-along - reach).max(axis=1), -most), np.minimum((-along + reach).min(axis=1), most)
    closed = np.any(spread <= 0.0, axis=1) | (high <= low)
    best = np.clip(-np.average(along, axis=1, weights=square), -most, most)
    middle = np.where(closed, best, 0.5 * (low + high))
    half = np.maximum(np.where(closed, 0.0, 0.5 * (high - low)), NARROWEST * most)
    return middle, half
