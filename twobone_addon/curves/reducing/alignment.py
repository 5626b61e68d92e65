"""Smooth keys: one slope on both sides of a key wherever the tolerance allows it.

Segments chosen one by one meet at a small angle. Key by key, the least broken first, both neighbours are fitted anew
with a common slope; if both still keep the tolerance the key is smooth, its handles aligned, and its slope is settled.
Where not, as at a corner of the motion, the handles stay broken. No key is added for smoothness. Keys that are not
neighbours do not concern each other, so all that come before their neighbours have their turn at once.
"""

import numpy as np

from ...array_types import Array, Indices, Mask
from .drift import Motion
from .fitting import Segment, Wanted, fit_segments, fit_through


def align(motion: Motion, segments: list[Segment], still: Mask) -> list[Segment]:
    """The segments with common slopes where that keeps the tolerance.

    `still : (S,)` marks segments in which nothing moves: they are not touched, and their neighbours come to rest at
    them where that keeps the tolerance.
    """
    segments = list(segments)
    smooth = np.zeros(len(segments) + 1, dtype=bool)
    smooth[[0, -1]] = True
    for keys in _turns(_breaks(motion, segments)):
        for key, joined in zip(keys, _joined(motion, segments, keys, still, smooth), strict=True):
            if all(segment.good for segment in joined):
                segments[key - 1 : key + 1] = joined
                smooth[key] = True
    return segments


def _turns(breaks: Array) -> list[list[int]]:
    """Inner keys, those of `breaks : (S - 1,)`, in groups of which none has neighbours: as if one by one, the least first."""
    rank = np.full(len(breaks) + 2, len(breaks))
    rank[1:-1][np.argsort(breaks, kind="stable")] = np.arange(len(breaks))
    turns = []
    while np.any(rank < len(breaks)):
        ready = np.flatnonzero((rank[1:-1] < rank[:-2]) & (rank[1:-1] < rank[2:])) + 1
        turns.append(ready.tolist())
        rank[ready] = len(breaks)
    return turns


def _joined(motion: Motion, segments: list[Segment], keys: list[int], still: Mask, smooth: Mask) -> list[tuple[Segment, Segment]]:
    """Both segments at each of some keys with one slope at the key between them; a segment at rest gives the slope, 0."""
    rest = np.zeros(motion.values.shape[1])
    joined = {key: (segments[key - 1], segments[key]) for key in keys}
    held = {key: _held(motion, segments, key, smooth) for key in keys}
    free = [key for key in keys if not still[key - 1] and not still[key]]
    if free:
        joined.update(zip(free, fit_through(motion, [joined[key] for key in free], [held[key] for key in free]), strict=True))
    from_rest = [key for key in keys if still[key - 1] and not still[key]]
    to_rest = [key for key in keys if still[key] and not still[key - 1]]
    wanted = []
    for key in from_rest:
        right = segments[key]
        wanted.append(Wanted(right.first, right.last, rest, right.shape[2] if held[key][1] else None))
    for key in to_rest:
        left = segments[key - 1]
        wanted.append(Wanted(left.first, left.last, left.shape[0] if held[key][0] else None, rest))
    found = iter(fit_segments(motion, wanted) if wanted else [])
    joined.update({key: (segments[key - 1], next(found)) for key in from_rest})
    joined.update({key: (next(found), segments[key]) for key in to_rest})
    return [joined[key] for key in keys]


def _held(motion: Motion, segments: list[Segment], key: int, smooth: Mask) -> tuple[bool, bool]:
    """Whether the slopes at the keys before and after are settled."""
    before = bool(smooth[key - 1]) if key > 1 else motion.ends[0] is not None
    after = bool(smooth[key + 1]) if key < len(segments) - 1 else motion.ends[1] is not None
    return before, after


def _breaks(motion: Motion, segments: list[Segment]) -> Array:
    """How far the path of a point breaks at each inner key, as a share of the tolerance over the shorter of the two segments."""
    shapes = np.stack([segment.shape for segment in segments])
    keys: Indices = np.array([segments[0].first, *(segment.last for segment in segments)])
    change = shapes[1:, 0] - shapes[:-1, 2]
    squares = np.einsum("sk,spkl,sl->sp", change, motion.felt(keys[1:-1]), change)
    durations = np.diff(motion.times[keys])
    return np.sqrt(np.maximum(squares, 0.0)).max(axis=-1, initial=0.0) * np.minimum(durations[:-1], durations[1:])
