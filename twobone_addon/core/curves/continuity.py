"""One motion, many numbers: choose the channel values that continue one another, and the keys around them.

A rotation has many sets of channel values: angles a turn apart, two signs of a quaternion, two branches of Euler angles. Blender
interpolates the numbers, so every function here picks, for a whole range at once, the set in which neighbouring frames are near,
and moves the range as a whole to the key before it and the key after it.

Arrays are `(..., F)` or `(..., F, k)`: any leading dimensions, then frames. Angles are radians. `before` and `after` are the
values of the channels just outside the range, without the frame axis; `None` where there is no key. Finite input gives finite
output, for any F, also 0 and 1.

The two branches of Euler angles have outer angles half a turn apart and the middle angle mirrored about a right angle. Which of
them continues the frame before depends on what was chosen there, frame after frame; but each step only maps two branches to two
branches, and such maps compose, so the whole range is decided without a loop.

At gimbal lock (middle angle at +-90 degrees) the two outer angles turn about one line and only their sum, or their difference, is
determined. There the *other* combination is free: it is carried evenly from its value at the last free frame before to that at
the first one after (or held, at the ends of the range). A rotation that swings straight through the lock is therefore smooth, and
one that rests in it and leaves another way turns evenly in between.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Indices, Mask
from ..arrays import held_rows
from ..rig.channels import EVEN_ORDERS
from ..solver.angles import FULL_TURN

JOIN_TIE = 1e-9
"""Two joins whose jumps differ by less than this (radians) are equally good: rounding must not choose between them."""


def nearest_turn(angles: ArrayLike) -> Array:
    """The same angles (any shape) moved by whole turns into [-pi, pi]."""
    angles = np.asarray(angles, dtype=float)
    return angles - FULL_TURN * np.round(angles / FULL_TURN)


def continuous_angles(angles: ArrayLike, *, before: ArrayLike | None = None, after: ArrayLike | None = None) -> Array:
    """Unwrap `angles : (..., F)` so that neighbours differ by at most pi, and join them to the keys around.

    Angles that are continuous already come back bit for bit, shifted by whole turns at most. `before` and `after`
    (scalars or `(...)`) pull the whole curve: if one shift brings both joins under pi it is taken; if not (the curve
    turns on while the keys do not), one side is joined and the sum of both jumps is least, on a tie the side before.
    """
    angles = np.asarray(angles, dtype=float)
    if angles.shape[-1] == 0:
        return angles.copy()
    turns = np.zeros(angles.shape)
    turns[..., 1:] = -np.cumsum(np.round(np.diff(angles, axis=-1) / FULL_TURN), axis=-1)
    shift = _joining_turns(angles[..., 0], angles[..., -1] + FULL_TURN * turns[..., -1], before, after)
    return angles + FULL_TURN * (turns + np.expand_dims(shift, -1))


def _joining_turns(first: Array, last: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """Whole turns `(...)` to add to a curve from `first` to `last` so that it meets its surroundings."""
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
"""The branch is changed only if that is nearer by more than this (radians): within rounding of a tie, stay."""

GIMBAL_COSINE = 1e-6
"""|cos(middle angle)| under which the outer angles are told apart by rounding only (1e-7 in Blender's single precision)."""


def other_branch(eulers: ArrayLike, order: str = "XYZ") -> Array:
    """The second set of angles `(..., 3)` of the same rotations as `eulers : (..., 3)` (channels x, y, z)."""
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
    """Continue Euler angles `(..., F, 3)` (channels x, y, z): branch and turns per frame, joined to the keys around.

    `first` and `second` are the two branches (`second` is computed when not given); `order` is Blender's rotation
    mode. `gimbal : (..., F)` marks the frames where the outer angles are not told apart; when not given, those whose
    middle angle is within `GIMBAL_COSINE` of a right angle. Per frame the branch nearer to the frame before is taken
    (sum of the three differences, as in Blender's own "compatible" Euler angles), then each angle is unwrapped.

    The first frame's branch, and every angle's whole turns, are those that leave the smallest jumps to
    `before : (..., 3)` and `after : (..., 3)`; on a tie the side before decides, without either the branch is `first`.
    """
    first = np.asarray(first, dtype=float)
    if first.shape[-2] == 0:
        return first.copy()
    if gimbal is None:
        gimbal = np.abs(np.cos(first[..., "XYZ".index(order[1])])) < GIMBAL_COSINE
    released = _spread_free_turn(first, gimbal, order)
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
    """Two arrays `(..., F)`, true where `second` is taken: starting in the first branch, starting in the second.

    A step is a map of two branches to two: constant, identity or swap. The branch at a frame is the value of the
    last constant step, swapped as often as there were swaps since; frame 0 is a constant step to the start.
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


def _spread_free_turn(eulers: Array, gimbal: Mask, order: str) -> Array:
    """Angles `(..., F, 3)` whose undetermined combination at `gimbal` frames is carried from free frame to free frame."""
    if not gimbal.any():
        return eulers
    outer, inner, middle = "XYZ".index(order[0]), "XYZ".index(order[2]), "XYZ".index(order[1])
    even = 1.0 if order in EVEN_ORDERS else -1.0
    # The lock at +90 degrees leaves x - z of order XYZ, the one at -90 degrees x + z; odd orders the other way round.
    sign = np.where(np.sin(eulers[..., middle]) >= 0.0, -even, even)
    previous = held_rows(~gimbal)
    following = (gimbal.shape[-1] - 1) - held_rows(~gimbal[..., ::-1])[..., ::-1]
    frames = np.arange(gimbal.shape[-1])
    none_free = gimbal.all(axis=-1, keepdims=True)
    previous, following = np.where(none_free, 0, previous), np.where(none_free, 0, following)

    def free_at(where: Indices) -> Array:
        at = np.take_along_axis(eulers, where[..., None], axis=-2)
        return at[..., outer] - sign * at[..., inner]

    start = free_at(previous)
    share = np.clip((frames - previous) / np.maximum(following - previous, 1), 0.0, 1.0)
    free = start + share * nearest_turn(free_at(following) - start)
    kept = eulers[..., outer] + sign * eulers[..., inner]
    released = eulers.copy()
    released[..., outer] = np.where(gimbal, 0.5 * (kept + free), eulers[..., outer])
    released[..., inner] = np.where(gimbal, 0.5 * sign * (kept - free), eulers[..., inner])
    return released


def _join_jumps(path: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """How far `(...)` a path is from the keys around it: the sum of all jumps at the sides that have one."""
    jump = np.zeros(path.shape[:-2])
    if before is not None:
        jump = jump + np.abs(path[..., 0, :] - np.asarray(before, dtype=float)).sum(axis=-1)
    if after is not None:
        jump = jump + np.abs(path[..., -1, :] - np.asarray(after, dtype=float)).sum(axis=-1)
    return jump


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
