"""The handles of one segment as numbers that can be fitted: a slope and a reach at either end, for each channel."""

from collections.abc import Sequence

import numpy as np

from ..array_types import Array
from .bezier import bernstein, parameters_at
from .drift import Motion

# A shape is (4, K): slope at the start (value per frame), reach of the handle there (share of the segment's time), and
# the same at the end.
SLOPES, REACHES = (0, 2), (1, 3)
THIRD = 1.0 / 3.0

# The curve parameter is needed to a share of the segment well below any tolerance.
STEP_PRECISION = 1e-8


def shape_values(motion: Motion, first: int, last: int, shape: Array) -> Array:
    """The values (n, K) of a segment at all samples from its first to its last."""
    times, start, end = motion.times[first : last + 1, None], motion.values[first], motion.values[last]
    duration = times[-1] - times[0]
    basis = bernstein(parameters_at((times - times[0]) / duration, shape[1], 1.0 - shape[3], precision=STEP_PRECISION))
    control = np.stack([start, start + shape[0] * shape[1] * duration, end - shape[2] * shape[3] * duration, end])
    return np.einsum("nkb,bk->nk", basis, control)


def shape_of_thirds(motion: Motion, first: int, last: int, slopes: Sequence[Array | None]) -> Array:
    """A shape (4, K) with handles at thirds, the free slopes by plain least squares in the channels: linear, so at once."""
    times, values = motion.times[first : last + 1], motion.values[first : last + 1]
    duration = times[-1] - times[0]
    basis = bernstein((times - times[0]) / duration)
    rest = values - basis[:, :2].sum(axis=1)[:, None] * values[0] - basis[:, 2:].sum(axis=1)[:, None] * values[-1]
    columns = np.stack([basis[:, 1], -basis[:, 2]], axis=-1) * (THIRD * duration)
    shape = np.full((4, values.shape[1]), THIRD)
    for place, column, slope in zip(SLOPES, columns.T, slopes, strict=True):
        if slope is not None:
            shape[place] = slope
            rest = rest - column[:, None] * slope
    free = [index for index, slope in enumerate(slopes) if slope is None]
    if last - first == 1:
        shape[[SLOPES[index] for index in free]] = (values[-1] - values[0]) / duration
    elif free:
        solution = np.linalg.lstsq(columns[:, free], rest, rcond=None)[0]
        shape[[SLOPES[index] for index in free]] = solution
    return shape
