"""Key density of a planted leg: as few as the tolerance allows while its foot is free, more where a planted foot would move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....core.array_types import Array, Indices, Mask
from ....core.arrays import magnitude
from ....core.contacts.states import runs
from ....core.curves.reduction import Reduction, reduce_keys
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....pipeline.keys.posed_points import PosedByCurves
from ....pipeline.pose.solving import CurvedChain
from ....scene.keys.tables import ChannelKeys
from .keys import QUARTERS

LARGEST_MOVE = 2e-4
"""Largest move of a planted foot between two keys, relative to leg length."""

INSIDE_FRAME = QUARTERS[1:-1]
"""Sample offsets of a frame without a key; curves are exact at keys."""


@dataclass(frozen=True, slots=True)
class _Cubics:
    """Cubic segments of all curves within some frames, each frame from its key to that of the next frame."""

    step: int
    """Number of samples from key to key."""
    windows: Array
    """`(n, 5, K)` samples of the curves in each frame."""
    handles: Array
    """`(n, k, 2, K)` inner control points of the cubics in each frame."""

    def samples(self) -> Array:
        """Values `(n, 5, K)` of the cubics at the samples."""
        values = self.windows.copy()
        for part, start in enumerate(range(0, SAMPLES_PER_FRAME, self.step)):
            u = (np.arange(1, self.step) / self.step)[:, None]
            first, last = (self.windows[:, [at]] for at in (start, start + self.step))
            inner = self.handles[:, part, :, None]
            outer = (1.0 - u) ** 3 * first + u**3 * last
            values[:, start + 1 : start + self.step] = outer + 3.0 * u * (1.0 - u) * ((1.0 - u) * inner[:, 0] + u * inner[:, 1])
        return values


def reduced_keys(solved: CurvedChain, keys: Sequence[ChannelKeys], pinned: Mask, tolerance: float) -> list[ChannelKeys]:
    """Reduce the keys of a leg, given on every frame, where its foot is free.

    pinned : (S,) where the foot stands
    tolerance : largest deviation of knee, ankle and the foot's end, world units
    """
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    kept = pinned[::SAMPLES_PER_FRAME].copy()
    reduced = list(keys)
    for first, last in runs(~kept):
        start, end = max(first - 1, 0), min(last + 1, len(kept) - 1)
        if start == end:
            kept[first] = True
            continue
        rows = np.arange(start * SAMPLES_PER_FRAME, end * SAMPLES_PER_FRAME + 1)
        reduction = _reduced(solved, values[rows], rows, tolerance)
        places = np.searchsorted(reduced[0].frames, reduction.frames)
        if not np.array_equal(reduced[0].frames[np.minimum(places, len(kept) - 1)], reduction.frames):
            kept[start : end + 1] = True  # The tolerance would need keys between frames; keys on every frame come closer.
            continue
        kept[places] = True
        reduced = [_with_handles(key, reduction, places, column) for column, key in enumerate(reduced)]
    return [_selected_keys(key, kept) for key in reduced]


def _reduced(solved: CurvedChain, values: Array, rows: Indices, tolerance: float) -> Reduction:
    posed = PosedByCurves.of(solved)
    exact = posed.points(values, rows)

    def drift(tried: Array, indices: Indices) -> Array:
        return magnitude(posed.points(tried, rows[indices]) - exact[indices])

    frames = solved.plan.frames[rows]
    return reduce_keys(frames, values, drift, tolerance, key_frames=frames[::SAMPLES_PER_FRAME])


def _with_handles(key: ChannelKeys, reduction: Reduction, places: Indices, column: int) -> ChannelKeys:
    """The keys with the handles of a reduced stretch; at its two ends, only the handle towards its inside."""
    left, right = np.array(key.left), np.array(key.right)
    left[places[1:]] = reduction.left[1:, column]
    right[places[:-1]] = reduction.right[:-1, column]
    return replace(key, left=left, right=right)


def _selected_keys(key: ChannelKeys, kept: Mask) -> ChannelKeys:
    left, right = np.array(key.left), np.array(key.right)
    return replace(key, frames=key.frames[kept], values=key.values[kept], left=left[kept], right=right[kept])


def with_keys_between(
    solved: CurvedChain, keys: Sequence[ChannelKeys], pinned: Mask, length: float, starts: Indices
) -> list[ChannelKeys]:
    """Add keys at half or quarter frames to the keys of a leg, given at frames, where its planted foot would move.

    pinned : (S,) where the foot stands, with keys on every frame
    length : length of the leg, world units
    starts : (n,) sample rows of the frames that another frame follows
    """
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    starts = starts[pinned[starts[:, None] + QUARTERS].all(axis=1)]
    denser, posed = list(keys), PosedByCurves.of(solved)
    windows = values[starts[:, None] + QUARTERS]
    exact = _ends_between(posed, windows, starts)
    for step in (SAMPLES_PER_FRAME, SAMPLES_PER_FRAME // 2, 1):
        if not len(starts):
            break
        cubics = _cubics(windows, step)
        still = magnitude(_ends_between(posed, cubics.samples(), starts) - exact).max(axis=1) <= LARGEST_MOVE * length
        if step < SAMPLES_PER_FRAME:
            denser = _inserted(denser, solved.plan.frames[starts[still]], _selected(cubics, still))
        starts, windows, exact = starts[~still], windows[~still], exact[~still]
    return denser


def _selected(cubics: _Cubics, wanted: Mask) -> _Cubics:
    return replace(cubics, windows=cubics.windows[wanted], handles=cubics.handles[wanted])


def _cubics(windows: Array, step: int) -> _Cubics:
    """Least-squares cubics with a key every `step` samples; where undetermined, with the samples' slopes at the keys."""
    slopes = np.gradient(windows, axis=1, edge_order=2) if len(windows) else windows
    u = np.arange(1, step) / step
    weights = np.stack([3.0 * u * (1.0 - u) ** 2, 3.0 * u**2 * (1.0 - u)], axis=-1)
    inner = []
    for start in range(0, SAMPLES_PER_FRAME, step):
        end = start + step
        first, last = windows[:, start], windows[:, end]
        guess = np.stack([first + slopes[:, start] * step / 3.0, last - slopes[:, end] * step / 3.0], axis=1)
        outer = (1.0 - u[:, None]) ** 3 * first[:, None] + u[:, None] ** 3 * last[:, None]
        missing = windows[:, start + 1 : end] - outer - weights @ guess
        inner.append(guess + np.linalg.pinv(weights) @ missing if step > 1 else guess)
    return _Cubics(step, windows, np.stack(inner, axis=1))


def _ends_between(posed: PosedByCurves, windows: Array, starts: Indices) -> Array:
    """Positions `(n, p, 3)` of ankle and foot at the samples inside frames, for curve samples `(n, 5, K)`."""
    rows, middle = (starts[:, None] + INSIDE_FRAME).ravel(), len(posed.solved.plan.rest.turning) - 1
    if not len(rows):
        return np.zeros((0, 1, 3))
    ends = posed.points(windows[:, INSIDE_FRAME].reshape(len(rows), -1), rows)[:, middle:]
    return ends.reshape(len(starts), -1, 3)


def _inserted(keys: Sequence[ChannelKeys], frames: Array, cubics: _Cubics) -> list[ChannelKeys]:
    """Insert the keys of cubics that begin at `frames` `(n,)`; each of these frames and the next must have a key."""
    if not len(frames):
        return list(keys)
    return [_channel_inserted(key, frames, cubics, column) for column, key in enumerate(keys)]


def _channel_inserted(key: ChannelKeys, frames: Array, cubics: _Cubics, column: int) -> ChannelKeys:
    places = np.searchsorted(key.frames, frames)
    length = (key.frames[places + 1] - frames)[:, None] * cubics.step / SAMPLES_PER_FRAME
    starts = frames[:, None] + length * np.arange(SAMPLES_PER_FRAME // cubics.step)
    right = np.stack([starts + length / 3.0, cubics.handles[:, :, 0, column]], axis=-1)
    left = np.stack([starts + length * 2.0 / 3.0, cubics.handles[:, :, 1, column]], axis=-1)
    old_left, old_right = np.array(key.left), np.array(key.right)
    old_right[places], old_left[places + 1] = right[:, 0], left[:, -1]
    new = starts[:, 1:].ravel()
    order = np.argsort(np.concatenate([key.frames, new]), kind="stable")
    values = np.concatenate([key.values, cubics.windows[:, cubics.step : -1 : cubics.step, column].ravel()])
    return replace(
        key,
        frames=np.concatenate([key.frames, new])[order],
        values=values[order],
        left=np.concatenate([old_left, left[:, :-1].reshape(-1, 2)])[order],
        right=np.concatenate([old_right, right[:, 1:].reshape(-1, 2)])[order],
    )
