"""The handles of a segment as numbers that can be fitted: a slope and a reach at either end, for each channel."""

import numpy as np

from ...array_types import Array, Indices
from ..bezier import bernstein, parameters_at
from .drift import FINER, Motion

SLOPES, REACHES = (0, 2), (1, 3)
"""A shape is `(4, K)`: slope at the start (value per frame), reach of the handle there (share of the segment's time), and
the same at the end."""
THIRD = 1.0 / 3.0

STEP_PRECISION = 1e-8
"""The curve parameter is needed to a share of the segment well below any tolerance."""


LONG = 64
"""A segment of more samples than this is judged at those that were given: between them it is too smooth to stray unseen."""


def worst_drifts(motion: Motion, first: Indices, last: Indices, shapes: Array) -> Array:
    """The largest drift `(B,)` of each segment from sample `first` to `last : (B,)`, as a share of the tolerance.

    shapes : (B, 4, K)
    """
    if not len(first):
        return np.empty(0)
    stride = np.where(last - first > LONG, FINER, 1)
    begin = first + np.where(stride == 1, 0, -first % FINER)
    counts = (last - begin) // stride + 1
    starts = np.cumsum(counts) - counts
    segment = np.repeat(np.arange(len(counts)), counts)
    indices = begin[segment] + (np.arange(len(segment)) - starts[segment]) * stride[segment]
    keys = motion.times[first], motion.times[last]
    share = ((motion.times[indices] - keys[0][segment]) / (keys[1] - keys[0])[segment])[:, None]
    control = controls(motion.values[first], motion.values[last], (keys[1] - keys[0])[:, None], shapes)
    reaches = shapes[:, REACHES][segment]
    basis = bernstein(parameters_at(share, reaches[:, 0], 1.0 - reaches[:, 1], precision=STEP_PRECISION))
    shares = motion.shares(np.einsum("nkb,nbk->nk", basis, control[segment]), indices)
    return np.maximum.reduceat(shares, starts)


def controls(start: Array, end: Array, duration: Array, shapes: Array) -> Array:
    """Values `(..., 4, K)` of a segment's two keys and, between them, its two handles."""
    out, back = (shapes[..., slope, :] * shapes[..., reach, :] * duration for slope, reach in zip(SLOPES, REACHES, strict=True))
    return np.stack([start, start + out, end - back, end], axis=-2)
