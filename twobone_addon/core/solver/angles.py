"""Angles over time (wrapping, holding, bend sides) and planar forward kinematics."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Mask
from ..arrays import held_rows

FULL_TURN = 2.0 * np.pi


def wrap(angles: ArrayLike) -> Array:
    """Wrap angles to (-pi, pi] by whole turns; angles already in it are unchanged."""
    # fmod is exact, so a whole number of float turns leaves nothing behind.
    turned = np.fmod(angles, FULL_TURN)
    turned = np.where(turned > np.pi, turned - FULL_TURN, turned)
    return np.where(turned <= -np.pi, turned + FULL_TURN, turned)


def hold(values: Array, valid: Mask) -> Array:
    """Replace invalid values by the last valid one before them.

    values : (..., F)
    valid : (..., F) bool, broadcast against values

    Returns `(..., F)`. Frames before the first valid one take that one; a row without any is 0.
    """
    values, valid = np.broadcast_arrays(values, valid)
    if valid.all():
        return values.copy()
    held = np.take_along_axis(values, held_rows(valid), axis=-1)
    return np.where(valid.any(axis=-1, keepdims=True), held, 0.0)


def sides_with_hysteresis(angles: ArrayLike, threshold: float) -> Array:
    """The bend side of each frame of a motion, without chatter near straight.

    angles : (..., F), bend (angle 2) of each frame's pose, radians
    threshold : radians; while |angle| is not above it, the previous frame's side is kept

    Returns `(..., F)` of +1.0 and -1.0. Frames before the first clear one take its side. A motion that is never clear has the
    side of its strongest bend throughout; a straight one has +1.
    """
    angles = np.asarray(angles, dtype=np.float64)
    if angles.shape[-1] == 0:
        return np.ones(angles.shape)
    sides = hold(np.sign(angles), np.abs(angles) > threshold)
    readable = np.nan_to_num(angles, nan=0.0)
    strongest = np.abs(readable).argmax(axis=-1)[..., np.newaxis]
    fallback = np.where(np.take_along_axis(readable, strongest, axis=-1) < 0, -1.0, 1.0)
    return np.where(sides == 0, fallback, sides)


def forward(angles: ArrayLike, lengths: ArrayLike) -> Array:
    """Joint positions of planar chains (forward kinematics).

    angles : (..., F, n), radians; the first is the direction of link 1 counter-clockwise from u, each other one is relative to
        the previous link
    lengths : (..., F, n) or (n,), joint-to-joint distances

    Returns `(..., F, n + 1, 2)`: the root joint (always the origin), the joints between, the tip.
    """
    angles = np.asarray(angles, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    links = angles.shape[-1]
    joints = np.zeros((*angles.shape[:-1], links + 1, 2))
    direction = np.zeros(angles.shape[:-1])
    # Links are few and frames are many, so each link is one step over all frames.
    for link in range(links):
        direction += angles[..., link]
        length = lengths[..., link]
        joints[..., link + 1, 0] = joints[..., link, 0] + length * np.cos(direction)
        joints[..., link + 1, 1] = joints[..., link, 1] + length * np.sin(direction)
    return joints
