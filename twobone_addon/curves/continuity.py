"""One motion, many numbers: choose the channel values that continue one another, and the keys around them.

A rotation has many sets of channel values: angles a turn apart, two signs of a quaternion, two branches of Euler
angles. Blender interpolates the numbers, so every function here picks, for a whole range at once, the set in which
neighbouring frames are near, and moves the range as a whole to the key before it and the key after it.

Arrays are `(..., F)` or `(..., F, k)`: any leading dimensions, then frames. Angles are radians. `before` and `after`
are the values of the channels just outside the range, without the frame axis; `None` where there is no key.
Finite input gives finite output, for any F, also 0 and 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array
from ..arrays import held_rows
from .euler_continuity import continuous_eulers, other_branch
from .turns import continuous_angles, nearest_turn

__all__ = [
    "continuous_angles",
    "continuous_axis_angles",
    "continuous_eulers",
    "continuous_quaternions",
    "nearest_turn",
    "other_branch",
]

AXIS_UNDEFINED = 1e-6
"""Below this |sin(angle / 2)| an axis is the quotient of two roundings (1e-7 in Blender's single precision) and says nothing."""


def continuous_quaternions(quaternions: ArrayLike, *, before: ArrayLike | None = None, after: ArrayLike | None = None) -> Array:
    """Choose the signs of `quaternions : (..., F, 4)` so that neighbours have a dot product >= 0.

    The sign of the whole curve is that of `before : (..., 4)`, else that of `after : (..., 4)`, else w >= 0 at the
    first frame. Nothing is normalised; a quaternion of zero length keeps the sign of its predecessor.
    """
    quaternions = np.asarray(quaternions, dtype=float)
    if quaternions.shape[-2] == 0:
        return quaternions.copy()
    signs = _continuing_signs(quaternions)
    if before is not None:
        whole = _dot(quaternions[..., 0, :] * signs[..., :1], before)
    elif after is not None:
        whole = _dot(quaternions[..., -1, :] * signs[..., -1:], after)
    else:
        whole = quaternions[..., 0, 0]
    signs = signs * _sign(whole)[..., None]
    return quaternions * signs[..., None]


def continuous_axis_angles(
    angle: ArrayLike, axis: ArrayLike, *, before: ArrayLike | None = None, after: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Choose sign and turns of `angle : (..., F)` about `axis : (..., F, 3)`; returns both, in the same shapes.

    Neighbouring axes have a dot product >= 0 and neighbouring angles differ by at most pi. `before` and `after` are
    `(..., 4)` as Blender's channels have them: angle, x, y, z. The sign of the whole curve is that of the axis of
    `before`, else of `after`, else the angle is >= 0 at the first frame; whole turns as in `continuous_angles`.

    Where the rotation is none (or whole turns) its axis is undefined: there the axis of the nearest defined frame
    before is held (of the first defined one at the start), so that a hinge passing through zero stays one hinge.
    """
    angle, axis = np.asarray(angle, dtype=float), np.asarray(axis, dtype=float)
    if angle.shape[-1] == 0:
        return angle.copy(), axis.copy()
    held = held_rows(np.abs(np.sin(0.5 * angle)) >= AXIS_UNDEFINED)
    axis = np.take_along_axis(axis, held[..., None], axis=-2)
    signs = _continuing_signs(axis)
    if before is not None:
        before = np.asarray(before, dtype=float)
        whole = _dot(axis[..., 0, :] * signs[..., :1], before[..., 1:])
    elif after is not None:
        after = np.asarray(after, dtype=float)
        whole = _dot(axis[..., -1, :] * signs[..., -1:], after[..., 1:])
    else:
        whole = angle[..., 0]
    signs = signs * _sign(whole)[..., None]
    angle = continuous_angles(
        angle * signs,
        before=None if before is None else before[..., 0],
        after=None if after is None else np.asarray(after, dtype=float)[..., 0],
    )
    return angle, axis * signs[..., None]


def _continuing_signs(vectors: Array) -> Array:
    """Signs `(..., F)` that make the dot products of neighbouring `vectors : (..., F, k)` non-negative, +1 first."""
    signs = np.ones(vectors.shape[:-1])
    signs[..., 1:] = np.cumprod(_sign(_dot(vectors[..., 1:, :], vectors[..., :-1, :])), axis=-1)
    return signs


def _sign(values: ArrayLike) -> Array:
    """-1 where negative, else +1: unlike `np.sign`, never 0."""
    return np.where(np.asarray(values) < 0.0, -1.0, 1.0)


def _dot(first: Array, second: ArrayLike) -> Array:
    return np.einsum("...k,...k->...", first, np.asarray(second, dtype=float))
