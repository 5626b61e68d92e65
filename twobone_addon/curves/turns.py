"""Whole turns of angles, and which frame to look back to: what all of the continuity functions share."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array

FULL_TURN = 2.0 * np.pi

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
