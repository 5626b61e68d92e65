"""Nudges of a limb's tip: how much of each there is at a frame, and over which frames keys are needed for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .array_types import Array
from .curves.frames import NEAR_FRAME

Span = tuple[float, float]
"""First and last frame."""

NEAR_END = 0.05
"""Frames from the end of a span within which there is no further key."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """The tip moved by an offset at a frame, and by less and less of it beside that."""

    frame: float
    offset: tuple[float, float, float]
    """World units."""
    before: float
    after: float
    """Frames from which, and up to which, there is any of it."""
    falloff: str
    """`SMOOTH`, `LINEAR` or `CONSTANT`."""
    loop: str
    """`AUTO`, `ON` or `OFF`."""

    def weights(self, frames: Array, cycle: Span | None) -> Array:
        """Shares `(F,)` of the offset at frames `(F,)`: 1 at its own one.

        cycle : where a motion that repeats begins and ends; the nudge is then there in each repetition
        """
        away = frames - self.frame
        if cycle is not None:
            period = cycle[1] - cycle[0]
            later = np.mod(away, period)
            # Within rounding of the end of a period is its beginning.
            later = np.where(period - later <= NEAR_FRAME * 1e-3, 0.0, later)
            return np.maximum(self._fading(later, self.after), self._fading(period - later, self.before))
        return np.where(away < 0.0, self._fading(-away, self.before), self._fading(away, self.after))

    def _fading(self, away: Array, range_: float) -> Array:
        """Shares at distances `(F,)` in frames, of a side that is `range_` frames long."""
        if self.falloff == "CONSTANT":
            return (away <= range_ + NEAR_FRAME).astype(float)
        left = np.clip(1.0 - away / range_, 0.0, 1.0)
        return left if self.falloff == "LINEAR" else left * left * (3.0 - 2.0 * left)

    def spans(self, cycle: Span | None) -> list[Span]:
        """The frames between which there is any of it; in a cycle, what goes over its end lies at its beginning."""
        more = 1.0 if self.falloff == "CONSTANT" else 0.0
        start, end = self.frame - self.before - more, self.frame + self.after + more
        if cycle is None:
            return [(start, end)]
        first, last = cycle
        period = last - first
        if end - start >= period:
            return [cycle]
        back = period * np.floor((start - first) / period)
        turns = ((max(start - back - turn, first), min(end - back - turn, last)) for turn in (0.0, period))
        found = [span for span in turns if span[1] - span[0] > NEAR_END]
        # What ends exactly at the seam is there at both of its sides.
        return [*found, *((seam, seam) for seam in cycle if self._meets(seam, cycle) and not _are_at(found, seam))]

    def _meets(self, frame: float, cycle: Span) -> bool:
        return bool(self.weights(np.array([frame]), cycle)[0] > 0.0)


def _are_at(spans: Sequence[Span], frame: float) -> bool:
    return any(start <= frame + NEAR_FRAME and end >= frame - NEAR_FRAME for start, end in spans)


def joined_spans(spans: Sequence[Span]) -> list[Span]:
    """The union of spans, ascending; those that only meet stay apart."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def offsets(nudges: Sequence[tuple[Nudge, Span | None]], frames: Array) -> Array:
    """What all nudges, each with its cycle, come to at frames `(F,)`: world offsets `(F, 3)`."""
    total = np.zeros((len(frames), 3))
    for nudge, cycle in nudges:
        total += nudge.weights(frames, cycle)[:, None] * np.array(nudge.offset)
    return total


def with_nudge(nudges: Sequence[Nudge], new: Nudge) -> list[Nudge]:
    """The nudges with a new one, in place of one at the same frame, by frame."""
    return sorted([*without_nudge(nudges, new.frame), new], key=lambda nudge: nudge.frame)


def without_nudge(nudges: Sequence[Nudge], frame: float) -> list[Nudge]:
    """The nudges but for that at the frame."""
    return [nudge for nudge in nudges if abs(nudge.frame - frame) > NEAR_FRAME]
