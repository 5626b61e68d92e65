"""How far the tip strays when the channels do: measured at samples and between them, and linearised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..array_types import Array
from .indices import Indices

Tips: TypeAlias = Callable[[Array, Indices], Array]
"""tips(values (M, K), indices (M,)) -> (M, P, D): where these channel values put the points that are seen, in world
units, with everything else as it is at the samples of these indices. One point, the tip, or a few."""

# Samples of `with_halves` for each one of the motion.
FINER = 2

# Weights of four samples for the value halfway between the middle two, and between the last two.
CENTRAL = np.array([-1.0, 9.0, 9.0, -1.0]) / 16.0
EARLIER = np.array([1.0, -5.0, 15.0, 5.0]) / 16.0
THIRD_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])

# Step (in channel units, radians or quaternion components) of the central difference: its error is the square of it.
DIFFERENCE = 1e-5


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion at full rate, and how it may be simplified."""

    times: Array
    """(N,) frames, rising; several per key frame."""
    values: Array
    """(N, K) channel values, continuous."""
    tips: Tips
    """Where channel values put the tip."""
    tolerance: Array
    """(N,) > 0: how far the tip may drift at each sample, in world units."""

    def moves(self, errors: Array) -> Array:
        """Where the points go, (N, P, D), as a share of the tolerance, when the channels are off by `errors : (N, K)`."""
        indices = np.arange(len(self.times))
        return (self.tips(self.values + errors, indices) - self.tips(self.values, indices)) / self.tolerance[:, None, None]

    def feeling(self) -> Array:
        """The moves' derivative by each channel, (N, P, D, K)."""
        steps = DIFFERENCE * np.eye(self.values.shape[1])
        columns = [self.moves(step) - self.moves(-step) for step in steps]
        return np.stack(columns, axis=-1) / (2.0 * DIFFERENCE)


def farthest(moves: Array) -> Array:
    """How far the point goes that goes farthest, (N,), of moves (N, P, D)."""
    return np.sqrt(np.einsum("npd,npd->np", moves, moves)).max(axis=1)


def with_halves(times: Array, values: Array, tips: Tips) -> tuple[Array, Array, Tips]:
    """The motion with one more sample halfway between any two: times (2N - 1,), values (2N - 1, K) and their tips.

    So a curve cannot stray unseen between the samples it was fitted to. A new sample's tip is that of the sample before
    it with the same channel error, whose move is off by the error times half a sample's move.
    """
    count = FINER * len(values) - 1
    fine = np.empty(count), np.empty((count, values.shape[1]))
    for finer, samples, halves in zip(fine, (times, values), (0.5 * (times[:-1] + times[1:]), halfway(values)), strict=True):
        finer[::FINER], finer[1::FINER] = samples, halves
    errors_from = fine[1]

    def tips_at_any(changed: Array, indices: Indices) -> Array:
        before = indices // FINER
        return tips(changed + (values[before] - errors_from[indices]), before)

    return *fine, tips_at_any


def halfway(samples: Array) -> Array:
    """Values (N - 1, K) halfway between neighbouring samples (N, K), by a cubic that does not look across corners.

    Of the cubics through the four samples around, the four before and the four after, that with the smallest third
    difference is taken, per channel (the choice of ENO schemes, Harten et al. 1987). With fewer than four samples,
    the mean of the two.
    """
    if len(samples) <= len(CENTRAL):
        return 0.5 * (samples[:-1] + samples[1:])
    windows = np.lib.stride_tricks.sliding_window_view(samples, len(CENTRAL), axis=0)
    roughness = np.abs(windows @ THIRD_DIFFERENCE)
    far = np.full((1, samples.shape[1]), np.inf)
    count = len(samples) - 1
    halves, rough = [], []
    for weights, offset in ((CENTRAL, 1), (EARLIER, 2), (EARLIER[::-1], 0)):
        # The stencil of interval i begins at sample i - offset: those that begin outside do not exist.
        half, missing = windows @ weights, np.repeat(far, offset, axis=0)
        halves.append(np.concatenate([missing, half, np.repeat(far, count - len(half), axis=0)])[:count])
        rough.append(np.concatenate([missing, roughness, np.repeat(far, count - len(half), axis=0)])[:count])
    smoothest = np.argmin(rough, axis=0)
    return np.take_along_axis(np.stack(halves), smoothest[None], axis=0)[0]
