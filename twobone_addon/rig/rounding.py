"""Places in single precision, as keys and Blender's matrices hold them, rounded so that a chain notices it least."""

from __future__ import annotations

import itertools

import numpy as np

from ..array_types import Array
from ..arrays import magnitude

STEPS = sorted(itertools.product((-2, -1, 0, 1, 2), repeat=3), key=lambda steps: sum(map(abs, steps)))
"""Steps of single precision on each axis, the points around the nearest one, nearer ones first."""


def rounded_at_distance(values: Array, matrices: Array, center: Array) -> Array:
    """Coordinates `(F, 3)` rounded to single precision such that their points stay as far from a centre as they are.

    matrices : (F, 4, 4), from the coordinates' space into that of the centre
    center : (F, 3)

    The middle joint of a nearly straight chain magnifies the rounding of the distance between its ends some hundred
    times. Rounding each coordinate to the nearest number leaves half a step of it; of the 125 points at most two steps
    away on each axis, all too near to be told apart, the best leaves about a hundredth of a step.
    """
    nearest = values.astype(np.float32)
    step = np.spacing(np.abs(nearest))
    wanted = _distances(values, matrices, center)
    best, least = nearest.astype(float), np.full(len(values), np.inf)
    for steps in STEPS:
        tried = (nearest + step * np.array(steps, dtype=np.float32)).astype(float)
        error = np.abs(_distances(tried, matrices, center) - wanted)
        better = error < least
        best[better], least[better] = tried[better], error[better]
    return best


def _distances(values: Array, matrices: Array, center: Array) -> Array:
    away = (matrices[:, :3, :3] @ values[..., None])[..., 0] + matrices[:, :3, 3] - center
    return magnitude(away)
