"""Rotation channels of bones and objects as matrices, whatever the rotation mode."""

from __future__ import annotations

import numpy as np

from ..array_types import Array
from .eulers import from_eulers
from .rotations import about_axis, from_quaternion, unit


def channel_rotations(mode: str, values: Array) -> Array:
    """Rotation matrices `(F, 3, 3)` of what a rotation channel holds, `(F, 4)`; a zero axis or quaternion is no turn."""
    if mode == "QUATERNION":
        return from_quaternion(values)
    if mode == "AXIS_ANGLE":
        axis = unit(values[..., 1:])
        return about_axis(axis, np.where(np.any(axis != 0.0, axis=-1), values[..., 0], 0.0))
    return from_eulers(values[..., :3], mode)
