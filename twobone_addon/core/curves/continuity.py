"""Choose rotation channel values that are continuous over a range of frames and with the keys around it.

A rotation has many equivalent channel values: angles a turn apart, two signs of a quaternion, two branches of Euler angles.
Blender interpolates the numbers, so every function here picks, for a whole range at once, the values closest from frame to frame,
and then shifts the range as a whole towards the key before it and the key after it.

Arrays are `(..., F)` or `(..., F, k)`: any leading dimensions, then frames. Angles are radians. `before` and `after` are the
channel values just outside the range, without the frame axis; `None` where there is no key. Finite input gives finite output for
any F, including 0 and 1.

The two branches of Euler angles have outer angles half a turn apart and the middle angle mirrored about a right angle. Which one
continues the previous frame depends on the choice made there, frame after frame. But each step maps two branches to two branches,
and such maps compose, so the whole range is decided without a loop.

At gimbal lock (middle angle at +-90 degrees) the two outer angles turn about one axis and only their sum, or their difference, is
determined. The *other* combination is undetermined; it is interpolated linearly from its value at the last frame before the lock
to its value at the first frame after it (or held, at the ends of the range). A rotation that passes straight through the lock is
therefore smooth, and one that rests in it and leaves in another direction turns evenly in between.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Indices, Mask
from ..arrays import held_rows
from ..rig.channels import EVEN_ORDERS
from ..solver.angles import FULL_TURN

JOIN_TIE = 1e-9
"""Difference in radians below which the jumps of two alternatives are equal: rounding must not choose between them."""


def nearest_turn(angles: ArrayLike) -> Array:
    """Move angles (any shape) by whole turns into [-pi, pi]."""
    angles = np.asarray(angles, dtype=float)
    return angles - FULL_TURN * np.round(angles / FULL_TURN)


def continuous_angles(angles: ArrayLike, *, before: ArrayLike | None = None, after: ArrayLike | None = None) -> Array:
    """Unwrap `angles : (..., F)` so that neighbours differ by at most pi, and join them to the surrounding keys.

    Angles that are already continuous are returned bit for bit, apart from whole turns. `before` and `after` (scalars or `(...)`)
    shift the whole curve: a shift that brings both jumps under pi is taken if there is one; if not (the curve makes turns that
    the keys do not), the side with the smaller sum of jumps is joined, on a tie the side before.
    """
    angles = np.asarray(angles, dtype=float)
    if angles.shape[-1] == 0:
        return angles.copy()
    turns = np.zeros(angles.shape)
    turns[..., 1:] = -np.cumsum(np.round(np.diff(angles, axis=-1) / FULL_TURN), axis=-1)
    shift = _joining_turns(angles[..., 0], angles[..., -1] + FULL_TURN * turns[..., -1], before, after)
    return angles + FULL_TURN * (turns + np.expand_dims(shift, -1))


def _joining_turns(first: Array, last: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """Whole turns `(...)` to add to a curve from `first` to `last` so that it joins the surrounding keys."""
    if before is None and after is None:
        return np.zeros(np.shape(first))
    if after is None:
        return np.round((np.asarray(before, dtype=float) - first) / FULL_TURN)
    if before is None:
        return np.round((np.asarray(after, dtype=float) - last) / FULL_TURN)
    before, after = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    to_before = np.round((before - first) / FULL_TURN)
    to_after = np.round((after - last) / FULL_TURN)

    def jumps(turns: Array) -> Array:
        return np.abs(first + FULL_TURN * turns - before) + np.abs(last + FULL_TURN * turns - after)

    return np.where(jumps(to_after) < jumps(to_before) - JOIN_TIE, to_after, to_before)


BRANCH_TIE = 1e-9
"""Least gain in radians for which the branch is changed: rounding must not change it."""

GIMBAL_COSINE = 1e-6
"""|cos(middle angle)| below which only rounding distinguishes the outer angles (1e-7 in Blender's single precision)."""


def other_branch(eulers: ArrayLike, order: str = "XYZ") -> Array:
    """The other branch `(..., 3)` of Euler angles with the same rotations as `eulers : (..., 3)` (channels x, y, z)."""
    middle = "XYZ".index(order[1])
    other = np.asarray(eulers, dtype=float) + np.pi
    other[..., middle] = np.pi - np.asarray(eulers, dtype=float)[..., middle]
    return other


def continuous_eulers(
    first: ArrayLike,
    second: ArrayLike | None = None,
    gimbal: Mask | None = None,
    *,
    order: str = "XYZ",
    before: ArrayLike | None = None,
    after: ArrayLike | None = None,
) -> Array:
    """Make Euler angles `(..., F, 3)` (channels x, y, z) continuous by choice of branch and turns, and join them to the keys.

    `first` and `second` are the two branches (`second` is computed if not given); `order` is Blender's rotation mode.
    `gimbal : (..., F)` marks the frames at gimbal lock; if not given, those with |cos(middle angle)| below `GIMBAL_COSINE`. Each
    frame takes the branch nearer to the previous frame (by the sum of the three differences, as in Blender's own "compatible"
    Euler angles), then each angle is unwrapped.

    The first frame's branch and every angle's whole turns are chosen for the smallest jumps to `before : (..., 3)` and
    `after : (..., 3)`; on a tie the side before decides, and without either key the branch is `first`.
    """
    first = np.asarray(first, dtype=float)
    if first.shape[-2] == 0:
        return first.copy()
    if gimbal is None:
        gimbal = np.abs(np.cos(first[..., "XYZ".index(order[1])])) < GIMBAL_COSINE
    released = _interpolate_gimbal_lock(first, gimbal, order)
    if second is None:
        second = other_branch(released, order)
    else:
        second = np.where(gimbal[..., None], other_branch(released, order), second)
    choices = _branch_paths(released, second)
    branches = [np.moveaxis(np.where(choice[..., None], second, released), -1, -2) for choice in choices]
    paths = [np.moveaxis(continuous_angles(angles, before=before, after=after), -2, -1) for angles in branches]
    jumps = [_join_jumps(path, before, after) for path in paths]
    return np.where((jumps[1] < jumps[0] - JOIN_TIE)[..., None, None], paths[1], paths[0])


def _branch_paths(first: Array, second: Array) -> tuple[Mask, Mask]:
    """Two masks `(..., F)`, true where `second` is taken: for a start in the first branch and in the second.

    Each step maps two branches to two: constant, identity or swap. The branch at a frame is the value of the last constant step,
    swapped once for each swap since; frame 0 is a constant step to the start.
    """
    to_second = []
    for stay, change in ((first, second), (second, first)):
        near = np.abs(nearest_turn(stay[..., 1:, :] - stay[..., :-1, :])).sum(axis=-1)
        far = np.abs(nearest_turn(change[..., 1:, :] - stay[..., :-1, :])).sum(axis=-1)
        to_second.append((far < near - BRANCH_TIE) ^ (stay is second))
    from_first, from_second = to_second
    shape = first.shape[:-1]
    constant, swaps, value = np.ones(shape, dtype=bool), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    constant[..., 1:] = from_first == from_second
    value[..., 1:] = from_first
    swaps[..., 1:] = np.cumsum(from_first & ~from_second, axis=-1)
    last = held_rows(constant)
    since = (swaps - np.take_along_axis(swaps, last, axis=-1)) % 2 == 1
    base = np.take_along_axis(value, last, axis=-1)
    return base ^ since, (base | (last == 0)) ^ since


def _interpolate_gimbal_lock(eulers: Array, gimbal: Mask, order: str) -> Array:
    """Interpolate the undetermined combination of outer angles over `gimbal` frames; returns angles `(..., F, 3)`."""
    if not gimbal.any():
        return eulers
    outer, inner, middle = "XYZ".index(order[0]), "XYZ".index(order[2]), "XYZ".index(order[1])
    even = 1.0 if order in EVEN_ORDERS else -1.0
    # At +90 degrees order XYZ determines x - z, at -90 degrees x + z; odd orders the other way round.
    sign = np.where(np.sin(eulers[..., middle]) >= 0.0, -even, even)
    previous = held_rows(~gimbal)
    following = (gimbal.shape[-1] - 1) - held_rows(~gimbal[..., ::-1])[..., ::-1]
    frames = np.arange(gimbal.shape[-1])
    all_locked = gimbal.all(axis=-1, keepdims=True)
    # Without a frame outside the lock there is nothing to interpolate: the first frame's value is held.
    previous, following = np.where(all_locked, 0, previous), np.where(all_locked, 0, following)

    def undetermined_at(where: Indices) -> Array:
        angles = np.take_along_axis(eulers, where[..., None], axis=-2)
        return angles[..., outer] - sign * angles[..., inner]

    start = undetermined_at(previous)
    share = np.clip((frames - previous) / np.maximum(following - previous, 1), 0.0, 1.0)
    undetermined = start + share * nearest_turn(undetermined_at(following) - start)
    determined = eulers[..., outer] + sign * eulers[..., inner]
    released = eulers.copy()
    released[..., outer] = np.where(gimbal, 0.5 * (determined + undetermined), eulers[..., outer])
    released[..., inner] = np.where(gimbal, 0.5 * sign * (determined - undetermined), eulers[..., inner])
    return released


def _join_jumps(path: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """Sum `(...)` of the jumps between a path and the keys around it, where there are any."""
    jump = np.zeros(path.shape[:-2])
    if before is not None:
        jump = jump + np.abs(path[..., 0, :] - np.asarray(before, dtype=float)).sum(axis=-1)
    if after is not None:
        jump = jump + np.abs(path[..., -1, :] - np.asarray(after, dtype=float)).sum(axis=-1)
    return jump


AXIS_UNDEFINED = 1e-6
"""|sin(angle / 2)| below which an axis is only rounding error (1e-7 in Blender's single precision)."""


def continuous_quaternions(quaternions: ArrayLike, *, before: ArrayLike | None = None, after: ArrayLike | None = None) -> Array:
    """Choose the signs of `quaternions : (..., F, 4)` so that neighbours have a dot product >= 0.

    The sign of the whole curve follows `before : (..., 4)`, else `after : (..., 4)`, else w >= 0 at the first frame. Nothing is
    normalised; a quaternion of length 0 keeps the sign of its predecessor.
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
    `(..., 4)` in the order of Blender's channels: angle, x, y, z. The sign of the whole curve follows the axis of `before`, else
    of `after`, else the angle is >= 0 at the first frame; whole turns are chosen as in `continuous_angles`.

    Where the rotation is zero (or whole turns) its axis is undefined: there the axis of the last defined frame is held (at the
    start, of the first defined frame), so that a hinge passing through zero keeps its axis.
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
    if vectors.shape[-2] > 1:
        signs[..., 1:] = np.cumprod(_sign(_dot(vectors[..., 1:, :], vectors[..., :-1, :])), axis=-1)
    return signs


def _sign(values: ArrayLike) -> Array:
    """-1 where negative, else +1; unlike `np.sign`, never 0."""
    return np.where(np.asarray(values) < 0.0, -1.0, 1.0)


def _dot(first: Array, second: ArrayLike) -> Array:
    return np.einsum("...k,...k->...", first, np.asarray(second, dtype=float))
