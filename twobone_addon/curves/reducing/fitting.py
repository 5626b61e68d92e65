"""Bezier segments laid through a motion so that the joints drift least.

A segment runs from pose to pose: at its two keys the channels have exactly the motion's values. What is fitted are the
handles, four numbers for each channel: the slope at either end, and how far in time either handle reaches. The reach is
worth fitting: with handles at thirds (a cubic in time) the same motion needs half as many keys again.

Many segments are fitted at once: one by one, each would take longer to ask for than to fit.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...array_types import Array
from .descent import descended
from .drift import Motion
from .fits import Fits, looked_at
from .shapes import THIRD

MOST_NUMBERS, MOST_FITS = 1 << 20, 1024
"""So many numbers of the linearised drift are held at once, and so many fits are made together at most."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The handles of all channels from one key to the next, and how well they do."""

    first: int
    """Sample at which the segment starts."""
    last: int
    """Sample at which it ends."""
    shape: Array
    """`(4, K)`: slope at the start (value per frame), reach of the handle there (share of the segment's time); at the end."""
    worst: float
    """Largest drift as a share of the tolerance; the segment is good if this is at most 1."""

    @property
    def good(self) -> bool:
        """Whether all points stay within the tolerance all along the segment."""
        return self.worst <= 1.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A segment to be fitted, from sample to sample, and the slopes `(K,)` that it is to have."""

    first: int
    last: int
    start_slope: Array | None = None
    end_slope: Array | None = None


Search: TypeAlias = Generator[Wanted, Segment, list[Segment]]
"""Asks for segments, one after the other, and ends with those it has chosen."""


def together(motion: Motion, searches: Sequence[Search]) -> list[list[Segment]]:
    """What each of the searches chooses; what they ask for at the same time is fitted at once."""
    found: list[list[Segment]] = [[] for _ in searches]
    asked: dict[int, Wanted] = {}

    def go_on(number: int, segment: Segment | None) -> None:
        try:
            asked[number] = next(searches[number]) if segment is None else searches[number].send(segment)
        except StopIteration as end:
            found[number] = end.value
            asked.pop(number, None)

    for number in range(len(searches)):
        go_on(number, None)
    while asked:
        numbers = list(asked)
        for number, segment in zip(numbers, fit_segments(motion, [asked[number] for number in numbers]), strict=True):
            go_on(number, segment)
    return found


def fit_segments(motion: Motion, wanted: Sequence[Wanted]) -> list[Segment]:
    """For each the first segment found that keeps the tolerance between its two samples, or the best one found.

    Where there is no sample between the two, a straight line.
    """
    channels = motion.values.shape[1]
    free = np.ones((len(wanted), 1, 4), dtype=bool)
    slopes = np.zeros((len(wanted), 1, 2, channels))
    for number, each in enumerate(wanted):
        for side, slope in enumerate(_slopes(motion, each)):
            if slope is not None:
                free[number, 0, 2 * side], slopes[number, 0, side] = False, slope
    bounds = np.array([[(each.first, each.last)] for each in wanted])
    return [row[0] for row in _fitted(motion, bounds, free, slopes)]


def _slopes(motion: Motion, wanted: Wanted) -> tuple[Array | None, Array | None]:
    start, end = wanted.start_slope, wanted.end_slope
    if start is None and wanted.first == 0:
        start = motion.ends[0]
    if end is None and wanted.last == len(motion.times) - 1:
        end = motion.ends[1]
    return start, end


def fit_through(
    motion: Motion, pairs: Sequence[tuple[Segment, Segment]], held: Sequence[tuple[bool, bool]]
) -> list[tuple[Segment, Segment]]:
    """Pairs of neighbouring segments, each fitted anew with one common slope at the key between them.

    `held` says whether the slopes at the start of the left and at the end of the right one must stay, because they are
    shared with a segment beyond.
    """
    free = np.ones((len(pairs), 2, 4), dtype=bool)
    free[:, 0, 0], free[:, 1, 2] = ~np.array(held).T
    shapes = np.stack([[left.shape, right.shape] for left, right in pairs])
    bounds = np.array([[(left.first, left.last), (right.first, right.last)] for left, right in pairs])
    durations = np.diff(motion.times[bounds], axis=-1)
    # The shorter segment knows the slope at the key better.
    common = (shapes[:, 0, 2] * durations[:, 1] + shapes[:, 1, 0] * durations[:, 0]) / durations.sum(axis=1)
    shapes[:, 0, 2] = shapes[:, 1, 0] = common
    return [(row[0], row[1]) for row in _fitted(motion, bounds, free, shapes[:, :, (0, 2)], start=shapes)]


def _fitted(motion: Motion, bounds: Array, free: Array, slopes: Array, start: Array | None = None) -> list[list[Segment]]:
    """Segments of B fits of S segments each: `bounds : (B, S, 2)` samples, `free : (B, S, 4)`, `slopes : (B, S, 2, K)`."""
    count, channels = len(bounds), motion.values.shape[1]
    longest_first = np.argsort(-(bounds[..., 1] - bounds[..., 0]).sum(axis=1), kind="stable")
    shapes, worst = np.empty((*bounds.shape[:2], 4, channels)), np.empty(bounds.shape[:2])
    place = 0
    while place < count:
        rows = longest_first[place : place + MOST_FITS]
        rows = rows[: max(1, MOST_NUMBERS // (int(looked_at(bounds[rows[0]])[0].sum()) * motion.feeling[0].size))]
        fits = Fits.of(motion, bounds[rows], free[rows])
        first_shapes = fits.start_shapes(slopes[rows]) if start is None else start[rows]
        shapes[rows], worst[rows] = descended(fits, first_shapes)
        place += len(rows)
    return [
        [Segment(int(first), int(last), shapes[row, part], float(worst[row, part])) for part, (first, last) in enumerate(ends)]
        for row, ends in enumerate(bounds)
    ]


def still_segment(motion: Motion, first: int, last: int) -> Segment:
    """The flat segment of a motion that is known to stand still from one sample to another."""
    return Segment(first, last, np.tile([[0.0], [THIRD]], (2, motion.values.shape[1])), 0.0)
