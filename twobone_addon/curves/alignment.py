"""Smooth keys: one slope on both sides of a key wherever the tolerance allows it.

Segments chosen one by one meet at a small angle. Key by key, the least broken first, both neighbours are fitted anew
with a common slope; if both still keep the tolerance the key is smooth, its handles aligned, and its slope is settled.
Where not, as at a corner of the motion, the handles stay broken. No key is added for smoothness.
"""

import numpy as np

from ..array_types import Array, Mask
from .drift import Motion
from .fitting import Segment, fit_segment, fit_through


def align(motion: Motion, segments: list[Segment], still: Mask) -> tuple[list[Segment], Mask]:
    """The segments with common slopes where that keeps the tolerance, and which of the S + 1 keys have them, `(S + 1,)`.

    `still : (S,)` marks segments in which nothing moves: they are not touched, and their neighbours come to rest at
    them where that keeps the tolerance. The first and the last key have one slope and count as smooth.
    """
    segments = list(segments)
    smooth = np.zeros(len(segments) + 1, dtype=bool)
    smooth[[0, -1]] = True
    inner = np.arange(1, len(segments))
    for key in inner[np.argsort([_break(motion, segments[key - 1], segments[key]) for key in inner], kind="stable")]:
        held = (bool(smooth[key - 1] and key > 1), bool(smooth[key + 1] and key < len(segments) - 1))
        joined = _joined(motion, (segments[key - 1], segments[key]), still[key - 1 : key + 1], held)
        if all(segment.good for segment in joined):
            segments[key - 1 : key + 1] = joined
            smooth[key] = True
    return segments, smooth


def _joined(motion: Motion, pair: tuple[Segment, Segment], still: Mask, held: tuple[bool, bool]) -> tuple[Segment, Segment]:
    """Both segments with one slope at the key between them; a segment at rest gives the slope, 0."""
    left, right = pair
    if still.all():
        return pair
    rest = np.zeros(left.shape.shape[1])
    if still[0]:
        return left, fit_segment(motion, right.first, right.last, slopes=(rest, right.shape[2] if held[1] else None))
    if still[1]:
        return fit_segment(motion, left.first, left.last, slopes=(left.shape[0] if held[0] else None, rest)), right
    return fit_through(motion, left, right, held=held)


def _break(motion: Motion, left: Segment, right: Segment) -> float:
    """How far the tip's path breaks at a key, as a share of the tolerance over the shorter of the two segments."""
    change: Array = right.shape[0] - left.shape[2]
    ends = motion.times[[left.first, left.last, right.last]]
    return float(np.linalg.norm(motion.feeling[left.last] @ change) * np.diff(ends).min())
