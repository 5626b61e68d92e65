"""How far the tip strays when the channels do: measured at samples and between them, and linearised."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..array_types import Array
from .indices import Indices

Drift: TypeAlias = Callable[[Array, Indices], Array]
"""drift(values (M, K), indices (M,)) -> (M,): distance of the tip, in world units, between the pose of these channel
values and the motion's own pose at the samples of these indices. Must be 0 for the motion's own values."""

# Samples of `with_halves` for each one of the motion.
FINER = 2

# Weights of four samples for the value halfway between the middle two, and between the last two.
CENTRAL = np.array([-1.0, 9.0, 9.0, -1.0]) / 16.0
EARLIER = np.array([1.0, -5.0, 15.0, 5.0]) / 16.0
THIRD_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])

# Step (in channel units, radians or quaternion components) of the finite difference: its square is well above rounding.
DIFFERENCE = 1e-4

# A straight limb's tip does not feel some channel changes at first order. They count at least this share of the others.
LEAST_FEELING = 0.03


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion at full rate, and how it may be simplified."""

    times: Array
    """(N,) frames, rising; several per key frame."""
    values: Array
    """(N, K) channel values, continuous."""
    drift: Drift
    """Distance of the tip from where it should be."""
    tolerance: Array
    """(N,) > 0: how far the tip may drift at each sample, in world units."""
    feeling: Array
    """(N, K, K): `feeling @ change` of the channels is the tip's move as a share of the tolerance, at first order."""

    def worst(self, values: Array, first: int) -> float:
        """The largest drift of `values : (n, K)`, from sample `first` on, as a share of the tolerance."""
        indices = np.arange(first, first + len(values))
        return float((self.drift(values, indices) / self.tolerance[indices]).max())

    def stricter(self, share: float) -> "Motion":
        """The same motion with a share of the tolerance, in (0, 1]."""
        return replace(self, tolerance=share * self.tolerance, feeling=self.feeling / share)


def with_halves(times: Array, values: Array, drift: Drift) -> tuple[Array, Array, Drift]:
    """The motion with one more sample halfway between any two: times (2N - 1,), values (2N - 1, K) and their drift.

    So a curve cannot stray unseen between the samples it was fitted to. The drift at a new sample is taken to be that
    of the same channel error in the pose of the sample before it, which is off by the error times half a sample's move.
    """
    count = FINER * len(values) - 1
    fine = np.empty(count), np.empty((count, values.shape[1]))
    for finer, samples, halves in zip(fine, (times, values), (0.5 * (times[:-1] + times[1:]), halfway(values)), strict=True):
        finer[::FINER], finer[1::FINER] = samples, halves
    errors_from = fine[1]

    def drift_at_any(changed: Array, indices: Indices) -> Array:
        before = indices // FINER
        return drift(changed + (values[before] - errors_from[indices]), before)

    return *fine, drift_at_any


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


def feel(values: Array, drift: Drift, tolerance: Array) -> Array:
    """The tip's first-order answer to channel changes, `(N, K, K)` as in `Motion.feeling`, from distances alone.

    Distances squared are a quadratic form of the changes, so K (K + 1) / 2 of them give the form by polarisation; its
    square root stands for the unknown directions of the tip's moves. Where nothing moves the tip, the identity.
    """
    count, channels = values.shape
    indices = np.arange(count)
    steps = DIFFERENCE * np.eye(channels)
    form = np.empty((count, channels, channels))
    for channel in range(channels):
        form[:, channel, channel] = drift(values + steps[channel], indices) ** 2
    for row in range(channels):
        for column in range(row):
            both = drift(values + steps[row] + steps[column], indices) ** 2
            form[:, row, column] = form[:, column, row] = 0.5 * (both - form[:, row, row] - form[:, column, column])
    squares, directions = np.linalg.eigh(form / DIFFERENCE**2)
    lengths = np.sqrt(np.maximum(squares, 0.0))
    lengths = np.maximum(lengths, LEAST_FEELING * lengths[:, -1:])
    lengths[lengths[:, -1] == 0.0] = 1.0
    return (lengths / tolerance[:, None])[:, :, None] * np.swapaxes(directions, -1, -2)
