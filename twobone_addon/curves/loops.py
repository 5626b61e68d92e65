"""Motion that goes on from its end to its start: whether it does, and the slope with which it passes the seam."""

import numpy as np

from ..array_types import Array
from .reducing.still import STILL
from .turns import nearest_turn

SAME_POSE = 1e-3
"""Poses whose channels differ by less than this (radians) are the same: 0.06 degrees, which nobody sees."""

SAME_MOTION = 0.1
"""Slopes at both ends that differ by less than this share of the larger one pass for one motion that goes on."""


def meets(values: Array) -> bool:
    """Whether channels `(F, K)` end where they begin, up to whole turns."""
    return bool(np.all(np.abs(nearest_turn(values[-1] - values[0])) <= SAME_POSE))


def goes_on(times: Array, values: Array) -> bool:
    """Whether channels `(F, K)` leave their start as they come to their end."""
    start, end = end_slopes(times, values)
    largest = np.maximum(np.abs(start), np.abs(end)).max(initial=0.0)
    return bool(np.abs(start - end).max(initial=0.0) <= SAME_MOTION * largest)


def end_slopes(times: Array, values: Array) -> tuple[Array, Array]:
    """Slopes `(K,)`, per frame, of channels `(F, K)` at their first and last sample, each from the two samples there."""
    return (values[1] - values[0]) / (times[1] - times[0]), (values[-1] - values[-2]) / (times[-1] - times[-2])


def seam_slopes(times: Array, values: Array) -> Array:
    """The slope `(K,)`, per frame, of channels `(F, K)` across the seam: the mean of those at either side.

    0 where all channels stand still at either side, so that a rest stays flat.
    """
    if any(np.abs(values[row + 1] - values[row]).max(initial=0.0) <= STILL for row in (0, -2)):
        return np.zeros(values.shape[1])
    return np.mean(end_slopes(times, values), axis=0)
