"""Euler angles and matrices, for Blender's six orders.

Blender names an order by the axis applied first: `XYZ` is `Rz @ Ry @ Rx`. Angles are `(..., 3)` by axis: x, y, z.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
EVEN = ("XYZ", "YZX", "ZXY")


def from_eulers(angles: Array, order: str) -> Array:
    """Rotation matrices `(..., 3, 3)` of Euler angles `(..., 3)`."""
    first, middle, last = ("XYZ".index(letter) for letter in order)
    return _about(last, angles[..., last]) @ _about(middle, angles[..., middle]) @ _about(first, angles[..., first])


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


def locked_frames(angles: Array, order: str, cosine: float = 1e-5) -> Mask:
    """Where the outer angles of `(..., 3)` are not told apart any more, `(...)`."""
    return np.abs(np.cos(angles[..., "XYZ".index(order[1])])) < cosine


def _about(axis: int, angle: Array) -> Array:
    """Rotation matrices `(..., 3, 3)` about a coordinate axis."""
    after, last = (axis + 1) % 3, (axis + 2) % 3
    matrices = np.zeros((*np.shape(angle), 3, 3))
    matrices[..., axis, axis] = 1.0
    matrices[..., after, after] = matrices[..., last, last] = np.cos(angle)
    matrices[..., last, after] = np.sin(angle)
    matrices[..., after, last] = -matrices[..., last, after]
    return matrices
