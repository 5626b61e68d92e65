"""Making a hinge one of a bone's own axes: by the order of Euler angles, and by the bone's roll."""

from __future__ import annotations

import numpy as np

from ..array_types import Array
from .rotations import about_axis

QUARTER = 0.5 * np.pi

ORDERS = ("YZX", "ZXY", "XYZ")
"""For each axis the Euler order that applies it last: then its angle is a turn about that axis whatever the others are."""

Y_AXIS = np.array([0.0, 1.0, 0.0])


def roll_to_axis(axis: Array) -> float:
    """The smallest change of roll (radians) that makes a local axis `(3,)`, perpendicular to Y, one of +-X or +-Z.

    Rolling turns the bone about its own Y axis, so what was `v` in its space is then `rolled(change).T @ v`.
    """
    change = np.arctan2(-axis[2], axis[0])
    return float(change - QUARTER * np.round(change / QUARTER))


def rolled(change: float) -> Array:
    """Turn `(3, 3)` of the bone's own axes by a change of roll (radians), as seen from the unrolled bone."""
    return about_axis(Y_AXIS, np.asarray(change))
