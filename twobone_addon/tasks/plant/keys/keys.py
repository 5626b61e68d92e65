"""Keys of planted legs and of a moved root: on the frames that change only, with the motion between them held as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
"""Sine of the angle between two handles, in frames and radians, below which they count as one line."""

Piece = tuple[int, int]
"""First and last row of frames that change."""


def changed_pieces(changed: Mask, *, whole_range: bool) -> list[Piece]:
    """The pieces of frames to key, where something changes at samples `(S,)`.

    A frame changes if its own sample does, so at both ends of a piece the frame beside it is as before.
    """
    at_frames = changed[::SAMPLES_PER_FRAME]
    if not at_frames.any():
        return []
    return [(0, len(at_frames) - 1)] if whole_range else runs(at_frames)


def piece_samples(piece: Piece) -> slice:
    """The samples of a piece."""
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


def fitted_keys(curves: Sequence[CurveSamples], frames: Array) -> list[ChannelKeys]:
    """Of each curve `(S,)` a key at every frame `(F,)`, and between them the cubic nearest to the samples there."""
    return [_fitted(curve, frames) for curve in curves]


def _fitted(curve: CurveSamples, frames: Array) -> ChannelKeys:
    at = curve.values[::SAMPLES_PER_FRAME]
    if len(frames) == 1:
        flat = np.array([1.0 / 3.0, 0.0])
        place = np.stack([frames, at], axis=-1)
        return ChannelKeys(curve.path, curve.index, curve.group, frames, at, "BEZIER", place - flat, place + flat)
    leaving, arriving = _cubic(curve.values)
    third = np.diff(frames) / 3.0
    right = np.stack(
        [np.append(frames[:-1] + third, frames[-1] + third[-1]), np.append(leaving, 2.0 * at[-1] - arriving[-1])], -1
    )
    left = np.stack([np.append(frames[0] - third[0], frames[1:] - third), np.append(2.0 * at[0] - leaving[0], arriving)], -1)
    return ChannelKeys(curve.path, curve.index, curve.group, frames, at, "BEZIER", left, right)


def with_straight_handles(keys: ChannelKeys) -> ChannelKeys:
    """The keys with where their two handles are one line: each stretch between two keys is fitted by itself."""
    if keys.left is None or keys.right is None:
        return keys
    places = np.stack([keys.frames, keys.values], axis=-1)
    before, after = places - keys.left, keys.right - places
    across = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return replace(keys, smooth=np.abs(across) <= STRAIGHT_HANDLES * np.hypot(*before.T) * np.hypot(*after.T))


PARTS = np.arange(1, SAMPLES_PER_FRAME) / SAMPLES_PER_FRAME
INNER = np.stack([3.0 * PARTS * (1.0 - PARTS) ** 2, 3.0 * PARTS**2 * (1.0 - PARTS)], axis=-1)
"""What the two inner control points of a cubic weigh at the samples between its ends."""
NEAREST = np.linalg.pinv(INNER)
"""By least squares, the control points from what is left at the samples."""


def _cubic(values: Array) -> tuple[Array, Array]:
    """Inner control points `(F - 1,)`, first and second, of the cubics that come nearest to the samples `(S,)` of each frame."""
    at = values[::SAMPLES_PER_FRAME]
    between = np.stack([values[part::SAMPLES_PER_FRAME][: len(at) - 1] for part in range(1, SAMPLES_PER_FRAME)])
    outer = (1.0 - PARTS[:, None]) ** 3 * at[:-1] + PARTS[:, None] ** 3 * at[1:]
    leaving, arriving = NEAREST @ (between - outer)
    return leaving, arriving


def fitted_samples(values: Array) -> Array:
    """What the keys that are fitted to samples `(S,)` make of them: between the frames some of it is lost."""
    leaving, arriving = _cubic(values)
    found = values.copy()
    for number, part in enumerate(PARTS, start=1):
        outer = (1.0 - part) ** 3 * values[:-1:SAMPLES_PER_FRAME] + part**3 * values[SAMPLES_PER_FRAME::SAMPLES_PER_FRAME]
        found[number::SAMPLES_PER_FRAME] = outer + INNER[number - 1] @ np.stack([leaving, arriving])
    return found


def held_beside(
    keyed: Keyed, pieces: Sequence[ChannelKeys], ends: Sequence[tuple[float, float]], within: tuple[float, float]
) -> KeyTable | None:
    """What a channel is to have beside the pieces that are keyed anew: what it has, held by a key beside each piece.

    ends : what the channel holds in the frames before and after each piece
    within : first and last frame of the range

    Outside the range there is nothing to hold beyond its first and its last key. `None` where all stays as it is.
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
