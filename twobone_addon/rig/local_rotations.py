"""Local rotations of a bone over time, in whichever form they were found; the other forms are made when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..array_types import Array
from .rotations import about_axis, times_still, to_quaternion


@dataclass(frozen=True)
class Matrices:
    """Rotations known as matrices."""

    matrices: Array
    """`(..., F, 3, 3)`"""

    @cached_property
    def quaternions(self) -> Array:
        """Unit quaternions `(..., F, 4)`."""
        return to_quaternion(self.matrices)


@dataclass(frozen=True)
class HingeTurns:
    """Turns about one axis that stands still, from one rotation."""

    axis: Array
    """`(..., 3)` unit length"""
    angles: Array
    """`(..., F)` radians"""
    start: Array
    """`(..., 3, 3)` the rotation before the turn"""

    @cached_property
    def matrices(self) -> Array:
        """Rotation matrices `(..., F, 3, 3)`."""
        return times_still(about_axis(self.axis[..., None, :], self.angles), self.start[..., None, :, :])

    @cached_property
    def quaternions(self) -> Array:
        """`(..., F, 4)`: by half the angle, without the way through matrices."""
        start = to_quaternion(self.start)
        w, x, y, z = np.moveaxis(start, -1, 0)
        products = np.moveaxis(np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]), (0, 1), (-2, -1))
        turned = (self.axis[..., None, :] @ products)[..., 0, :]
        half = 0.5 * self.angles
        return np.stack([np.cos(half), np.sin(half)], axis=-1) @ np.stack([start, turned], axis=-2)


@dataclass(frozen=True, slots=True)
class OneOfSeveral:
    """Rotations of one of several bones that were turned together; each form is made for all of them."""

    several: LocalRotations
    place: int

    @property
    def matrices(self) -> Array:
        """Rotation matrices `(F, 3, 3)`."""
        return self.several.matrices[self.place]

    @property
    def quaternions(self) -> Array:
        """Unit quaternions `(F, 4)`."""
        return self.several.quaternions[self.place]


LocalRotations = Matrices | HingeTurns | OneOfSeveral
"""Rotations of one bone. Both have `matrices`, `(..., F, 3, 3)`, and `quaternions`, `(..., F, 4)`, units of either sign."""
