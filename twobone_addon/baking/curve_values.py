"""From turned bones to the numbers of their rotation curves: which channels, and continuous ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..curves.continuity import continuous_angles, continuous_axis_angles, continuous_quaternions
from ..curves.euler_continuity import continuous_eulers
from ..rig.eulers import ORDERS, to_eulers
from ..rig.rotations import to_axis_angle, to_quaternion

HINGE_TOLERANCE = 1e-5
"""Radians between hinge and local axis below which the bone turns about that axis alone. A link of a metre then leaves
the plane by at most 10 micrometres, and its place in the plane is right to a ten-thousandth of that."""

STILL_ZERO = 1e-6
"""Radians below which another Euler channel counts as zero."""


@dataclass(frozen=True, slots=True)
class RotationCurves:
    """Values of some of the channels of one rotation property."""

    indices: tuple[int, ...]
    values: Array
    """`(F, len(indices))`"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the channels hold outside the range, `(k,)` each, where there are keys."""

    before: Array | None
    after: Array | None


def rotation_curves(
    mode: str, *, rotation: Array, axis: Array, turn: Array, present: Array, outside: Surroundings
) -> RotationCurves:
    """Values for the rotation channels of one bone.

    Parameters
    ----------
    mode
        The bone's rotation mode.
    rotation : (F, 3, 3)
        The rotation to key.
    axis, turn : (F, 3), (F,)
        Where the rotation is one turn from rest: its axis and angle.
    present : (F, 4)
        What the channels hold now.

    """
    if mode == "QUATERNION":
        values = continuous_quaternions(to_quaternion(rotation), before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), values)
    if mode == "AXIS_ANGLE":
        angle, axes = to_axis_angle(to_quaternion(rotation))
        angle, axes = continuous_axis_angles(angle, axes, before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), np.concatenate([angle[:, None], axes], axis=-1))
    assert mode in ORDERS
    hinge = hinge_channel(axis)
    if hinge is not None and _others_are_zero(hinge[0], present):
        channel, sign = hinge
        values = continuous_angles(
            sign * turn,
            before=None if outside.before is None else outside.before[channel],
            after=None if outside.after is None else outside.after[channel],
        )
        return RotationCurves((channel,), values[:, None])
    values = continuous_eulers(to_eulers(rotation, mode), order=mode, before=outside.before, after=outside.after)
    return RotationCurves((0, 1, 2), values)


def hinge_channel(axis: Array) -> tuple[int, float] | None:
    """The local axis that is the hinge at every frame, and its sign; `None` if there is none."""
    channel = int(np.argmax(np.abs(axis[0]))) if len(axis) else 0
    sign = -1.0 if len(axis) and axis[0, channel] < 0.0 else 1.0
    away = axis - sign * np.eye(3)[channel]
    return (channel, sign) if np.all(np.sum(away * away, axis=-1) <= HINGE_TOLERANCE**2) else None


def _others_are_zero(channel: int, present: Array) -> bool:
    others = [other for other in range(3) if other != channel]
    return bool(np.all(np.abs(present[:, others]) <= STILL_ZERO))
