"""How far the tip strays when the channels do: measured at samples and between them, and linearised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..array_types import Array
from .indices import Indices

Drift: TypeAlias = Callable[[Array, Indices], Array]
"""drift(values (M, K), indices (M,)) -> (M,): distance of the tip, in world units, between the pose of these channel
values and the motion's own pose at the samples of these indices. Must be 0 for the motion's own values."""

# Samples needed to tell what is between them.
PARABOLA = 3

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
        """The largest drift of `values : (n, K)`, from sample `first` on, as a share of the tolerance.

        Also between samples: there the error of the channels is interpolated by a cubic and added to the nearest
        sample's pose. For any motion smooth at the scale of the samples that is the drift that full rate would show.
        """
        indices = np.arange(first, first + len(values))
        at_samples = self.drift(values, indices) / self.tolerance[indices]
        if len(values) < PARABOLA:
            return float(at_samples.max())
        errors = halfway(values - self.values[indices])
        between = self.drift(self.values[indices[:-1]] + errors, indices[:-1]) / self.tolerance[indices[:-1]]
        return float(max(at_samples.max(), between.max()))


def halfway(samples: Array) -> Array:
    """Values (n - 1, ...) halfway between neighbouring samples (n, ...), by the cubic through the four around.

    At either end, by the parabola through three; n must be at least 3.
    """
    ends = (3.0 * samples[[0, -1]] + 6.0 * samples[[1, -2]] - samples[[2, -3]]) / 8.0
    inside = (9.0 * (samples[1:-2] + samples[2:-1]) - samples[:-3] - samples[3:]) / 16.0
    return np.concatenate([ends[:1], inside, ends[1:]])


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
