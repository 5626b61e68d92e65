"""The pose that a chain of many links prefers: the given one, bent to the asked side."""

import numpy as np

from ..array_types import Array
from .forward import forward

BEND_OF_STRAIGHT = 0.05
"""Radians per joint that a straight pose is bent by: enough to show a descent the side, and
little beside what any target inside the reach asks for."""


def preferred_pose(start: Array, lengths: Array, bend: Array, limits: Array) -> Array:
    """Return poses (..., F, n), inside the limits, that a chain is to stay near to.

    start : (..., F, n) radians
    lengths : (..., F, n)
    bend : (..., F) of +1 and -1
    limits : (..., F, n, 2)

    The side of a pose is that of its joints seen from the line from root to tip: POSITIVE is
    where the polygon root, joints, tip runs counter-clockwise, which for two links is angle 2
    >= 0. A pose on the other side is mirrored on that line, a straight one is bent a little.
    """
    area = bend * polygon_area(start, lengths)
    asked = np.where((area < 0)[..., np.newaxis], mirror(start, lengths), start)
    arc = np.zeros(start.shape)
    arc[..., 1:] = BEND_OF_STRAIGHT
    # Fades out with the pose's own bend, so that an animated pose never makes it jump.
    full = np.maximum(polygon_area(arc, lengths), np.finfo(np.float64).tiny)
    strength = bend * np.clip(1.0 - np.abs(area) / full, 0.0, 1.0)
    return np.clip(asked + strength[..., np.newaxis] * arc, limits[..., 0], limits[..., 1])


def polygon_area(angles: Array, lengths: Array) -> Array:
    """Return the signed area (..., F) of the polygon root, joints, tip; > 0 is counter-clockwise."""
    joints = forward(angles, lengths)
    here, there = joints[..., :-1, :], joints[..., 1:, :]
    return 0.5 * (here[..., 0] * there[..., 1] - here[..., 1] * there[..., 0]).sum(axis=-1)


def mirror(angles: Array, lengths: Array) -> Array:
    """Return poses (..., F, n) mirrored on the line from root to tip."""
    tip = forward(angles, lengths)[..., -1, :]
    mirrored = -angles
    mirrored[..., 0] += 2 * np.arctan2(tip[..., 1], tip[..., 0])
    return mirrored
