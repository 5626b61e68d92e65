"""Euler angles and matrices, for Blender's six orders.

Blender names an order by the axis applied first: `XYZ` is `Rz @ Ry @ Rx`. Angles are `(..., 3)` by axis: x, y, z.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
EVEN = ("XYZ", "YZX", "ZXY")


def from_eulers(angles: Array, order: str) -> Array:
    """Rotation matrices `(..., 3, 3)` of Euler angles `(..., 3)`."""
    first, middle, last = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if order in EVEN else -1.0
    (s1, s2, s3), (c1, c2, c3) = (
        (turn(angles[..., first]), turn(angles[..., middle]), turn(angles[..., last])) for turn in (np.sin, np.cos)
    )
    s1, s2, s3 = sign * s1, sign * s2, sign * s3
    matrices = np.empty((*np.shape(angles)[:-1], 3, 3))
    matrices[..., first, first], matrices[..., middle, first], matrices[..., last, first] = c2 * c3, c2 * s3, -s2
    matrices[..., first, middle] = s1 * s2 * c3 - c1 * s3
    matrices[..., middle, middle] = s1 * s2 * s3 + c1 * c3
    matrices[..., last, middle] = s1 * c2
    matrices[..., first, last] = c1 * s2 * c3 + s1 * s3
    matrices[..., middle, last] = c1 * s2 * s3 - s1 * c3
    matrices[..., last, last] = c1 * c2
    return matrices


def to_eulers(matrices: Array, order: str) -> Array:
    """Euler angles `(..., 3)` of rotation matrices `(..., 3, 3)`, the middle angle within a quarter turn.

    At gimbal lock, where only the sum or difference of the outer angles is determined, the last one is zero.
    """
    first, middle, last = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if order in EVEN else -1.0
    m = matrices
    cosine = np.hypot(m[..., first, first], m[..., middle, first])
    angles = np.empty((*m.shape[:-2], 3))
    angles[..., middle] = np.arctan2(-sign * m[..., last, first], cosine)
    locked = cosine == 0.0
    angles[..., first] = np.where(
        locked,
        np.arctan2(-sign * m[..., middle, last], m[..., middle, middle]),
        np.arctan2(sign * m[..., last, middle], m[..., last, last]),
    )
    angles[..., last] = np.where(locked, 0.0, np.arctan2(sign * m[..., middle, first], m[..., first, first]))
    return angles
