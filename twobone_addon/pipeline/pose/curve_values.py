"""Turn rotations of bones into values of their rotation curves: choose the channels, and make them continuous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.curves.continuity import continuous_angles, continuous_axis_angles, continuous_eulers, continuous_quaternions
from ...core.rig.channels import STILL_ZERO, LocalRotations, from_eulers, to_eulers
from ...core.rig.rotations import to_axis_angle

HINGE_TOLERANCE = 1e-5
"""Angle in radians between hinge and local axis below which the bone turns about that axis alone. A link of a metre then
leaves the plane by at most 10 micrometres, and its position in the plane is right to a ten-thousandth of that."""


@dataclass(frozen=True, slots=True)
class RotationCurves:
    """Values of some channels of one rotation property."""

    indices: tuple[int, ...]
    values: Array
    """`(F, len(indices))`"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Values of the channels before and after the range, `(k,)` each; `None` without keys there."""

    before: Array | None
    after: Array | None


def rotation_curves(
    mode: str, *, rotation: LocalRotations, present: Array, outside: Surroundings, baked: frozenset[int] = frozenset()
) -> RotationCurves:
    """Values for the rotation channels of one bone.

    mode : the bone's rotation mode
    rotation : the rotations to key
    present : (F, 4), present values of the channels
    baked : channels that an earlier bake has keyed; they are keyed again, so that none of its keys is left behind
    """
    if mode == "QUATERNION":
        values = continuous_quaternions(rotation.quaternions, before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), values)
    if mode == "AXIS_ANGLE":
        angle, axes = to_axis_angle(rotation.quaternions)
        angle, axes = continuous_axis_angles(angle, axes, before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), np.concatenate([angle[:, None], axes], axis=-1))
    for channel in range(3):
        turn = None if baked - {channel} else hinge_turn(mode, channel, rotation.matrices, present[:, :3])
        if turn is not None:
            before, after = (side if side is None else side[channel] for side in (outside.before, outside.after))
            return RotationCurves((channel,), continuous_angles(turn, before=before, after=after)[:, None])
    return RotationCurves((0, 1, 2), _eulers(mode, rotation.matrices, outside))


def _eulers(order: str, rotation: Array, outside: Surroundings) -> Array:
    """All three Euler angles `(F, 3)`; for a rotation about one axis the other two are exactly zero, not merely small."""
    for channel in range(3):
        turn = hinge_turn(order, channel, rotation, np.zeros((len(rotation), 3)))
        if turn is not None:
            angles = turn[:, None] * np.eye(3)[channel]
            return continuous_eulers(angles, order=order, before=outside.before, after=outside.after)
    return continuous_eulers(to_eulers(rotation, order), order=order, before=outside.before, after=outside.after)


def hinge_turn(order: str, channel: int, rotation: Array, present: Array) -> Array | None:
    """Angles `(F,)` of one Euler channel that give `rotation` `(F, 3, 3)` while the others stay as in `present` `(F, 3)`.

    Possible if the others are zero, or if the channel is applied last; `None` otherwise.
    """
    others = present.copy()
    others[:, channel] = 0.0
    if np.any(np.abs(others) > STILL_ZERO):
        if order[-1] != "XYZ"[channel]:
            return None
        rotation = rotation @ np.swapaxes(from_eulers(others, order), -1, -2)
    # A rotation about the channel's axis keeps that axis fixed; tilting it by e lowers the cosine by e^2 / 2.
    if np.any(1.0 - rotation[:, channel, channel] > 0.5 * HINGE_TOLERANCE**2):
        return None
    first, second = (channel + 1) % 3, (channel + 2) % 3
    return np.arctan2(rotation[:, second, first], rotation[:, first, first])
