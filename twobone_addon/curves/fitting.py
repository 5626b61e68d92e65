"""Bezier segments laid through a motion so that the tip drifts least.

A segment runs from pose to pose: at its two keys the channels have exactly the motion's values. What is fitted are the
handles, four numbers for each channel: the slope at either end, and how far in time either handle reaches. The reach is
worth fitting: with handles at thirds (a cubic in time) the same motion needs half as many keys again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .descent import Run
from .drift import Motion
from .shapes import THIRD, shape_of_thirds


@dataclass(frozen=True, slots=True)
class Segment:
    """The handles of all channels from one key to the next, and how well they do."""

    first: int
    """Sample at which the segment starts."""
    last: int
    """Sample at which it ends."""
    shape: Array
    """(4, K): slope at the start (value per frame), reach of the handle there (share of the segment's time); at the end."""
    worst: float
    """Largest drift as a share of the tolerance; the segment is good if this is at most 1."""

    @property
    def good(self) -> bool:
        """Whether the tip stays within the tolerance all along the segment."""
        return self.worst <= 1.0


def fit_segment(motion: Motion, first: int, last: int, *, slopes: Sequence[Array | None] = (None, None)) -> Segment:
    """The first segment found that keeps the tolerance between two samples, or the best one found.

    `slopes` prescribes the slopes (K,) at the start and at the end. Where there is no sample between the two, a
    straight line.
    """
    run = Run(motion, (first, last), free=np.array([[slopes[0] is None, True, slopes[1] is None, True]]))
    shapes, worst = run.fitted(shape_of_thirds(motion, first, last, slopes)[None])
    return Segment(first, last, shapes[0], worst[0])


def fit_through(motion: Motion, left: Segment, right: Segment, *, held: tuple[bool, bool]) -> tuple[Segment, Segment]:
    """The two segments fitted anew with one common slope at the key between them.

    `held` says whether the slopes at the start of `left` and at the end of `right` must stay, because they are shared
    with a segment beyond.
    """
    free = np.ones((2, 4), dtype=bool)
    free[0, 0], free[1, 2] = not held[0], not held[1]
    run = Run(motion, (left.first, left.last, right.last), free=free)
    shapes = np.stack([left.shape, right.shape])
    durations = np.diff(motion.times[[left.first, left.last, right.last]])
    # The shorter segment knows the slope at the key better.
    common = (shapes[0, 2] * durations[1] + shapes[1, 0] * durations[0]) / durations.sum()
    shapes[0, 2] = shapes[1, 0] = common
    shapes, worst = run.fitted(shapes)
    return Segment(left.first, left.last, shapes[0], worst[0]), Segment(right.first, right.last, shapes[1], worst[1])


def still_segment(motion: Motion, first: int, last: int) -> Segment:
    """The flat segment between two samples that have the same values."""
    channels = motion.values.shape[1]
    shape = np.tile([[0.0], [THIRD]], (2, channels))
    return Segment(first, last, shape, motion.worst(np.repeat(motion.values[[first]], last + 1 - first, axis=0), first))
