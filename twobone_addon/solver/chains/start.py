"""The pose that a chain of many links prefers: the given one, bent to the asked side."""

import numpy as np

from ...array_types import Array
from ..forward import forward
from .sides import bend_sides, bends_of

BEND_OF_STRAIGHT = 0.05
"""Radians per joint that a straight pose is bent by: enough to show a descent the side, and
little beside what any target inside the reach asks for."""


def preferred_pose(start: Array, lengths: Array, bend: Array, limits: Array) -> Array:
    """Poses `(..., F, n)`, inside the limits, that a chain is to stay near to.

    start : (..., F, n) radians
    lengths : (..., F, n)
    bend : (..., F) of +1 and -1
    limits : (..., F, n, 2)

    POSITIVE is where the first bend is counter-clockwise, which for two links is angle 2 >= 0 (see
    `chain_sides`). A pose on the other side is mirrored on the line from root to tip, with all its bends, so
    that a zigzag stays one; a straight one is bent a little.
    """
    crosses, products = bends_of(start, lengths)
    mirrored = bend_sides(crosses, products) * bend < 0
    asked = np.where(mirrored[..., np.newaxis], mirror(start, lengths), start)
    arc = np.zeros(start.shape)
    arc[..., 1:] = BEND_OF_STRAIGHT
    # Fades out with the pose's own bend, so that an animated pose never makes it jump.
    full = np.maximum(products.sum(axis=-1) * np.sin(BEND_OF_STRAIGHT), np.finfo(np.float64).tiny)
    strength = bend * np.clip(1.0 - np.abs(crosses).sum(axis=-1) / full, 0.0, 1.0)
    return np.clip(asked + strength[..., np.newaxis] * arc, limits[..., 0], limits[..., 1])


def mirror(angles: Array, lengths: Array) -> Array:
    """Poses `(..., F, n)` mirrored on the line from root to tip."""
    tip = forward(angles, lengths)[..., -1, :]
    mirrored = -angles
    mirrored[..., 0] += 2 * np.arctan2(tip[..., 1], tip[..., 0])
    return mirrored
