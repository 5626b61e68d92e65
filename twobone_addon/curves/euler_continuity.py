"""Euler angles that go on from frame to frame: which of the two branches, how many turns, and what at gimbal lock.

Every rotation has two sets of Euler angles: outer angles half a turn apart and the middle angle mirrored about a
right angle. Which of them continues the frame before depends on what was chosen there, frame after frame; but each
step only maps two branches to two branches, and such maps compose, so the whole range is decided without a loop.

At gimbal lock (middle angle at +-90 degrees) the two outer angles turn about one line and only their sum, or their
difference, is determined. There the *other* combination is free: it is carried evenly from its value at the last
free frame before to that at the first one after (or held, at the ends of the range). A rotation that swings straight
through the lock is therefore smooth, and one that rests in it and leaves another way turns evenly in between.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Indices, Mask
from ..arrays import held_rows
from .turns import JOIN_TIE, continuous_angles, nearest_turn

BRANCH_TIE = 1e-9
"""The branch is changed only if that is nearer by more than this (radians): within rounding of a tie, stay."""

GIMBAL_COSINE = 1e-6
"""|cos(middle angle)| under which the outer angles are told apart by rounding only (1e-7 in Blender's single precision)."""

EVEN_ORDERS = ("XYZ", "YZX", "ZXY")


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
    paths = [_unwrapped(np.where(choice[..., None], second, released), before, after) for choice in choices]
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


def _unwrapped(eulers: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """Each channel of `eulers : (..., F, 3)` by `continuous_angles`, joined to its own value before and after."""
    return np.moveaxis(continuous_angles(np.moveaxis(eulers, -1, -2), before=before, after=after), -2, -1)


def _join_jumps(path: Array, before: ArrayLike | None, after: ArrayLike | None) -> Array:
    """How far `(...)` a path is from the keys around it: the sum of all jumps at the sides that have one."""
    jump = np.zeros(path.shape[:-2])
    if before is not None:
        jump = jump + np.abs(path[..., 0, :] - np.asarray(before, dtype=float)).sum(axis=-1)
    if after is not None:
        jump = jump + np.abs(path[..., -1, :] - np.asarray(after, dtype=float)).sum(axis=-1)
    return jump
