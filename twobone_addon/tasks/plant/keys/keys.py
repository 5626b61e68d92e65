"""Keys of planted legs and the root: only on frames that change, with handles that fit the motion between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....core.array_types import Array, Indices, Mask
from ....core.arrays import frame_rows
from ....core.contacts.states import runs
from ....core.curves.frames import NEAR_FRAME
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.rows import at_frames
from ....pipeline.keys.holding import with_held_keys
from ....pipeline.motion.plan_motion import AimedMotion
from ....pipeline.pose.solving import CurveSamples
from ....scene.keys.tables import NO_KEYS, ChannelKeys, Keyed, KeyTable

STRAIGHT_HANDLES = 1e-4
"""Sine of the angle between two handles, in frames and radians, up to which they count as collinear."""

QUARTERS = np.arange(SAMPLES_PER_FRAME + 1)
"""Sample offsets from one frame to the next, both included."""

Piece = tuple[int, int]
"""First and last row of a run of frames that change."""


def changed_pieces(changed: Mask, *, whole_range: bool) -> list[Piece]:
    """Pieces of frames to key, from a mask `(S,)` of the samples that change; all frames if any changes and `whole_range`.

    A frame counts as changed if its own sample is, so the frames just outside a piece are unchanged.
    """
    at_frames = changed[::SAMPLES_PER_FRAME]
    if not at_frames.any():
        return []
    return [(0, len(at_frames) - 1)] if whole_range else runs(at_frames)


def piece_samples(piece: Piece) -> slice:
    """Slice of the samples of a piece."""
    return slice(piece[0] * SAMPLES_PER_FRAME, piece[1] * SAMPLES_PER_FRAME + 1)


def motion_at(motion: AimedMotion, indices: Indices) -> AimedMotion:
    """A plan's motion at some of its samples."""

    def at(values: Array | None) -> Array | None:
        return None if values is None else frame_rows(values, indices)

    return replace(
        motion,
        frames=motion.frames[indices],
        chain=at_frames(motion.chain, indices),
        rotation_values=tuple(frame_rows(values, indices) for values in motion.rotation_values),
        world_from_armature=frame_rows(motion.world_from_armature, indices),
        armature_from_world=frame_rows(motion.armature_from_world, indices),
        target_world=frame_rows(motion.target_world, indices),
        influence=np.ones(1),
        end_pose=at(motion.end_pose),
        end_rotation_values=at(motion.end_rotation_values),
    )


@dataclass(frozen=True, slots=True)
class PieceRows:
    """Rows of the frames of several pieces within their concatenated samples."""

    whole: Indices
    """`(F,)` rows of the frames."""
    goes_on: Mask
    """`(F,)` whether another frame of the same piece follows."""

    @classmethod
    def of(cls, counts: Sequence[int]) -> PieceRows:
        """Rows for pieces with these numbers of frames."""
        ends = np.cumsum(counts)
        number = np.repeat(np.arange(len(counts)), counts)
        goes_on = np.ones(ends[-1], dtype=bool)
        goes_on[ends - 1] = False
        return cls(np.arange(ends[-1]) * SAMPLES_PER_FRAME - number * (SAMPLES_PER_FRAME - 1), goes_on)

    @property
    def starts(self) -> Indices:
        """`(n,)` rows of the frames that another frame of the same piece follows."""
        return self.whole[self.goes_on]


def fitted_keys(curves: Sequence[CurveSamples], frames: Array, rows: PieceRows) -> list[ChannelKeys]:
    """Keys for each curve `(S,)` at every frame `(F,)` of the pieces, with handles of the least-squares cubics between them."""
    values = np.stack([curve.values for curve in curves], axis=-1)
    at, goes_on, came_on = values[rows.whole], rows.goes_on, np.roll(rows.goes_on, 1)
    leaving, arriving = _cubic(values[rows.starts[:, None] + QUARTERS].swapaxes(0, 1))
    left, right = at.copy(), at.copy()
    right[goes_on], left[came_on] = leaving, arriving
    # At the end of a piece the outer handle continues the inner one; a single key has flat handles.
    right[~goes_on], left[~came_on] = 2.0 * at[~goes_on] - left[~goes_on], 2.0 * at[~came_on] - right[~came_on]
    third = np.ones(len(frames)) / 3.0
    third[goes_on] = np.diff(frames)[goes_on[:-1]] / 3.0
    before = np.where(came_on, np.roll(third, 1), third)
    third = np.where(goes_on, third, before)
    return [
        ChannelKeys(
            *(curve.path, curve.index, curve.group, frames, at[:, column], "BEZIER"),
            left=np.stack([frames - before, left[:, column]], axis=-1),
            right=np.stack([frames + third, right[:, column]], axis=-1),
        )
        for column, curve in enumerate(curves)
    ]


def with_straight_handles(keys: Sequence[ChannelKeys]) -> list[ChannelKeys]:
    """The keys with `smooth` set where both handles are collinear; each segment between two keys was fitted separately."""
    return [_with_straight_handles(each) for each in keys]


def _with_straight_handles(keys: ChannelKeys) -> ChannelKeys:
    if keys.left is None or keys.right is None:
        return keys
    places = np.stack([keys.frames, keys.values], axis=-1)
    before, after = places - keys.left, keys.right - places
    across = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return replace(keys, smooth=np.abs(across) <= STRAIGHT_HANDLES * np.hypot(*before.T) * np.hypot(*after.T))


FRACTIONS = np.arange(1, SAMPLES_PER_FRAME) / SAMPLES_PER_FRAME
INNER_WEIGHTS = np.stack([3.0 * FRACTIONS * (1.0 - FRACTIONS) ** 2, 3.0 * FRACTIONS**2 * (1.0 - FRACTIONS)], axis=-1)
"""Weights of the two inner control points of a cubic at the samples between its ends."""
LEAST_SQUARES = np.linalg.pinv(INNER_WEIGHTS)
"""Least-squares map from the residuals at these samples to the inner control points."""


def _cubic(windows: Array) -> Array:
    """Inner control points `(2, n, ...)`, first and second, of the least-squares cubics for frame samples `(5, n, ...)`."""
    weights = FRACTIONS.reshape(-1, *(1,) * (windows.ndim - 1))
    outer = (1.0 - weights) ** 3 * windows[0] + weights**3 * windows[-1]
    return np.tensordot(LEAST_SQUARES, windows[1:-1] - outer, axes=1)


def fitted_samples(values: Array) -> Array:
    """Values `(S,)` of the keys fitted to samples `(S,)`: approximate between frames."""
    inner = _cubic(values[np.arange(0, len(values) - 1, SAMPLES_PER_FRAME) + QUARTERS[:, None]])
    fitted = values.copy()
    for number, part in enumerate(FRACTIONS, start=1):
        outer = (1.0 - part) ** 3 * values[:-1:SAMPLES_PER_FRAME] + part**3 * values[SAMPLES_PER_FRAME::SAMPLES_PER_FRAME]
        fitted[number::SAMPLES_PER_FRAME] = outer + INNER_WEIGHTS[number - 1] @ inner
    return fitted


def held_beside(
    keyed: Keyed, pieces: Sequence[ChannelKeys], ends: Sequence[tuple[float, float]], within: tuple[float, float]
) -> KeyTable | None:
    """Keys of a channel outside the new pieces: the present ones, held by a key to either side of each piece.

    ends : present values of the channel in the frames before and after each piece
    within : first and last frame of the range

    Outside the range nothing is held beyond the channel's first and last key. `None` if nothing changes.
    """
    table = NO_KEYS if keyed.table is None else keyed.table
    if keyed.table is None:
        first, last = -np.inf, np.inf
    else:
        first, last = min(float(table["co"][0, 0]), within[0]), max(float(table["co"][-1, 0]), within[1])
    held = table
    for piece, (before, after) in zip(pieces, ends, strict=True):
        start, end = float(piece.frames[0]) - 1.0, float(piece.frames[-1]) + 1.0
        held = with_held_keys(
            held,
            (start, before) if start >= first - NEAR_FRAME else None,
            (end, after) if end <= last + NEAR_FRAME else None,
        )
    return None if held is keyed.table else held
