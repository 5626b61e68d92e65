"""Choose the frames to key and sample, list frames as [first, last] ranges, examine the seam of a cycle, and find cuts.

Frames are sorted float64 arrays of scene frames, which may be fractional or negative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import SettingError
from ...said import Sentence
from ..array_types import Array, Indices
from ..arrays import magnitude
from .continuity import nearest_turn
from .reduction import STILL

NEAR_FRAME = 0.01
"""Distance in frames below which Blender merges two keys, keeping the later one."""

FRAME_DECIMALS = 6
"""Decimals kept of a frame, which removes rounding errors: 1e-13 in start + i * step, 1e-5 in single-precision keys."""


def frame_grid(start: float, end: float, step: float = 1.0) -> Array:
    """Frames `(F,)`: `start`, `start + step`, ... and always `end`, so that the last pose of the range is keyed.

    Each frame is computed from `start`, so that errors do not add up, and rounded to `FRAME_DECIMALS`: steps like
    0.1 hit whole frames exactly. If the grid does not hit `end`, the last interval is shorter; a grid frame so near to `end` that
    Blender would merge the two is dropped. A range no longer than that distance is just `start`.

    Raises `SettingError` for numbers that are not finite, `end` before `start`, or a step too small for Blender.
    """
    for name, value in (("Start", start), ("End", end), ("Step", step)):
        if not np.isfinite(value):
            raise SettingError(
                "{name} of the frame range must be a finite number, got {value}.", name=Sentence(name), value=value
            )
    if end < start:
        raise SettingError(
            "The frame range ends before it starts: {start:g} to {end:g}. Swap start and end.", start=start, end=end
        )
    if step <= NEAR_FRAME:
        raise SettingError(
            "Step must be above {least} frames, got {step:g}: Blender merges closer keys.", least=NEAR_FRAME, step=step
        )
    if end - start <= NEAR_FRAME:
        return np.round([float(start)], FRAME_DECIMALS)
    inside = start + step * np.arange(1.0, np.ceil((end - start) / step))
    inside = inside[end - inside > NEAR_FRAME]
    return np.round(np.concatenate([[start], inside, [end]]), FRAME_DECIMALS)


def merge_frames(*lists: ArrayLike, distance: float = NEAR_FRAME) -> Array:
    """Sorted union `(F,)` of frame lists; among frames within `distance` that of the earlier list is kept, of one list the first.

    So `merge_frames(existing_keys, grid)` never moves an existing key by a rounding error, and never gives Blender two keys that
    it would merge, such as those of two curves at 19.995 and 20.
    """
    merged = np.empty(0)
    for more in lists:
        frames = _apart(np.unique(np.round(np.asarray(more, dtype=float), FRAME_DECIMALS)), distance)
        around = np.concatenate([[-np.inf], merged, [np.inf]])
        after = np.searchsorted(around, frames)
        away = np.minimum(around[after] - frames, frames - around[after - 1])
        merged = np.sort(np.concatenate([merged, frames[away > distance]]))
    return merged


def _apart(frames: Array, distance: float) -> Array:
    """Ascending `frames` without those that are within `distance` of one before."""
    if not np.any(np.diff(frames) <= distance):
        return frames
    kept = frames[:1].tolist()
    for frame in frames[1:].tolist():
        if frame - kept[-1] > distance:
            kept.append(frame)
    return np.array(kept)


def ranges(frames: ArrayLike, mask: ArrayLike) -> list[list[float]]:
    """[[first, last], ...] for each run of consecutive `frames : (F,)` at which `mask : (F,)` is true."""
    frames = np.asarray(frames, dtype=float)
    edges = np.diff(np.concatenate([[False], np.asarray(mask, dtype=bool), [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return np.stack([frames[first], frames[last]], axis=-1).tolist()


def turning_points(values: ArrayLike) -> Indices:
    """Rows of `values : (F, d)`, except the first and the last, at which one of the d columns has a local extremum."""
    directions = np.sign(np.diff(np.asarray(values, dtype=float), axis=0))
    return np.flatnonzero(np.any(directions[1:] * directions[:-1] < 0.0, axis=-1)) + 1


def subframe_grid(frames: ArrayLike, count: int) -> Array:
    """Frames `((F - 1) * count + 1,)` that divide every interval of `frames : (F,)` into `count` equal parts.

    `subframe_grid(frames, n)[::n]` equals `frames` exactly. One frame or none is returned unchanged.
    """
    frames = np.asarray(frames, dtype=float)
    if len(frames) <= 1:
        return frames.copy()
    parts = np.arange(count) / count
    inside = frames[:-1, None] + np.diff(frames)[:, None] * parts
    return np.append(inside.ravel(), frames[-1])


SAME_POSE = 1e-3
"""Greatest channel difference of equal poses, in radians: 0.06 degrees, which is invisible."""

SAME_MOTION = 0.1
"""Greatest difference between the slopes at both ends of a continuing motion, relative to the larger slope."""


def meets(values: Array) -> bool:
    """Whether channels `(F, K)` end at the values where they begin, up to whole turns."""
    return bool(np.all(np.abs(nearest_turn(values[-1] - values[0])) <= SAME_POSE))


def goes_on(times: Array, values: Array) -> bool:
    """Whether channels `(F, K)` have the same slopes at their start and end."""
    start, end = end_slopes(times, values)
    largest = np.maximum(np.abs(start), np.abs(end)).max(initial=0.0)
    return bool(np.abs(start - end).max(initial=0.0) <= SAME_MOTION * largest)


def end_slopes(times: Array, values: Array) -> tuple[Array, Array]:
    """Slopes `(K,)`, per frame, of channels `(F, K)` at the first and the last sample, from two samples each."""
    return (values[1] - values[0]) / (times[1] - times[0]), (values[-1] - values[-2]) / (times[-1] - times[-2])


def seam_slopes(times: Array, values: Array) -> Array:
    """Slopes `(K,)`, per frame, of channels `(F, K)` across the seam: the mean of both sides.

    0 where all channels stand still on either side, so that a rest stays flat.
    """
    if any(np.abs(values[row + 1] - values[row]).max(initial=0.0) <= STILL for row in (0, -2)):
        return np.zeros(values.shape[1])
    return np.mean(end_slopes(times, values), axis=0)


# A cut: from one frame to the next all of a body jumps, as where two takes were joined. Nothing may be eased across it.

JUMP = 0.25
"""Smallest jump of every point at a cut, relative to the size of the body, such as the length of a leg."""

SUDDEN = 4.0
"""How many times a cut is larger than any other step of any point near it: a fast motion has equals beside it."""

STEPS_BESIDE = 4
"""Number of steps to either side with which a step is compared: motion held on twos or threes jumps again within these."""


def cuts(points: Array, size: float) -> Indices:
    """Rows of `points` `(F, P, 3)`, one a frame, at which another take begins; `size` is that of the body.

    Neither the first two nor the last row begin a take: a take has two frames at least.
    """
    steps = magnitude(np.diff(points, axis=0))
    least, most = steps.min(axis=1), steps.max(axis=1)
    first_rows = []
    for row in np.flatnonzero(least > JUMP * size).tolist():
        beside = np.concatenate([most[max(row - STEPS_BESIDE, 0) : row], most[row + 1 : row + 1 + STEPS_BESIDE]])
        if 0 < row < len(steps) - 1 and least[row] > SUDDEN * beside.max(initial=0.0):
            first_rows.append(row + 1)
    return np.array(first_rows, dtype=int)
