"""Convert rotation channels of any mode to matrices, and represent local rotations over time in several forms.

Blender names Euler orders by the axis applied first: `XYZ` is `Rz @ Ry @ Rx`. Angles are `(..., 3)` by axis: x, y, z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..array_types import Array, Indices
from .rotations import about_axis, from_quaternion, times_still, to_quaternion, unit

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
EVEN_ORDERS = ("XYZ", "YZX", "ZXY")

STILL_ZERO = 1e-6
"""Euler angle in radians below which a channel counts as zero."""


def from_eulers(angles: Array, order: str) -> Array:
    """Rotation matrices `(..., 3, 3)` of Euler angles `(..., 3)`."""
    first, middle, last = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if order in EVEN_ORDERS else -1.0
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
    """Euler angles `(..., 3)` of rotation matrices `(..., 3, 3)`; the middle angle is within a quarter turn.

    At gimbal lock, where only the sum or difference of the outer angles is determined, the last angle is zero.
    """
    first, middle, last = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if order in EVEN_ORDERS else -1.0
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


def channel_rotations(mode: str, values: Array) -> Array:
    """Rotation matrices `(F, 3, 3)` of rotation channel values `(F, 4)`; a zero axis or quaternion is the identity."""
    if mode == "QUATERNION":
        return from_quaternion(values)
    if mode == "AXIS_ANGLE":
        axis = unit(values[..., 1:])
        return about_axis(axis, np.where(np.any(axis != 0.0, axis=-1), values[..., 0], 0.0))
    return from_eulers(values[..., :3], mode)


@dataclass(frozen=True)
class Matrices:
    """Rotations stored as matrices."""

    matrices: Array
    """`(..., F, 3, 3)`"""

    @cached_property
    def quaternions(self) -> Array:
        """Unit quaternions `(..., F, 4)`."""
        return to_quaternion(self.matrices)


@dataclass(frozen=True, slots=True)
class Quaternions:
    """Rotations stored as quaternions only, for takes too long to keep matrices as well."""

    quaternions: Array
    """Unit quaternions `(F, 4)`."""

    @property
    def matrices(self) -> Array:
        """Rotation matrices `(F, 3, 3)`."""
        return from_quaternion(self.quaternions)


@dataclass(frozen=True)
class HingeTurns:
    """Rotations about one constant axis, from one initial rotation."""

    axis: Array
    """`(..., 3)` unit axis"""
    angles: Array
    """`(..., F)` radians"""
    start: Array
    """`(..., 3, 3)` rotation before the turn"""

    @cached_property
    def matrices(self) -> Array:
        """Rotation matrices `(..., F, 3, 3)`."""
        return times_still(about_axis(self.axis[..., None, :], self.angles), self.start[..., None, :, :])

    @cached_property
    def quaternions(self) -> Array:
        """Unit quaternions `(..., F, 4)`, from half the angles directly, without matrices."""
        start = to_quaternion(self.start)
        w, x, y, z = np.moveaxis(start, -1, 0)
        # Products of i, j and k with the start: those of the axis are a sum of them.
        products = np.moveaxis(np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]), (0, 1), (-2, -1))
        turned = (self.axis[..., None, :] @ products)[..., 0, :]
        half = 0.5 * self.angles
        return np.stack([np.cos(half), np.sin(half)], axis=-1) @ np.stack([start, turned], axis=-2)


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """Rotations of one bone out of a stack, or of some frames; either form is computed for the whole stack once."""

    several: LocalRotations
    at: int | Indices

    @property
    def matrices(self) -> Array:
        """Rotation matrices `(F, 3, 3)`."""
        return self.several.matrices[self.at]

    @property
    def quaternions(self) -> Array:
        """Unit quaternions `(F, 4)`."""
        return self.several.quaternions[self.at]


LocalRotations = Matrices | Quaternions | HingeTurns | OneOfSeveral
"""Local rotations of one bone. All forms have `matrices` `(..., F, 3, 3)` and unit `quaternions` `(..., F, 4)` of either sign."""
