"""Nudges of a limb's tip: their weights per frame, and the frame spans in which they need keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .array_types import Array
from .arrays import smooth_step
from .curves.frames import NEAR_FRAME

Span = tuple[float, float]
"""First and last frame."""

NEAR_END = 0.05
"""Distance in frames from the end of a span within which there is no further key."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """An offset of the tip at a frame that falls off before and after it."""

    frame: float
    offset: tuple[float, float, float]
    """World units."""
    before: float
    after: float
    """Lengths, in frames, of the falloff before (`before`) and after (`after`) the frame."""
    falloff: str
    """`SMOOTH`, `LINEAR` or `CONSTANT`."""
    loop: str
    """`AUTO`, `ON` or `OFF`."""

    def weights(self, frames: Array, cycle: Span | None) -> Array:
        """Weights `(F,)` of the offset at frames `(F,)`: 1 at its own frame.

        cycle : first and last frame of a repeating motion; the nudge then occurs in each repetition
        """
        away = frames - self.frame
        if cycle is not None:
            period = cycle[1] - cycle[0]
            later = np.mod(away, period)
            # Frames within rounding of the end of a period count as its beginning.
            later = np.where(period - later <= NEAR_FRAME * 1e-3, 0.0, later)
            return np.maximum(self._falloff_weights(later, self.after), self._falloff_weights(period - later, self.before))
        return np.where(away < 0.0, self._falloff_weights(-away, self.before), self._falloff_weights(away, self.after))

    def _falloff_weights(self, away: Array, range_: float) -> Array:
        """Weights at distances `(F,)` in frames, for a side that is `range_` frames long."""
        if self.falloff == "CONSTANT":
            return (away <= range_ + NEAR_FRAME).astype(float)
        nearness = 1.0 - away / range_
        return np.clip(nearness, 0.0, 1.0) if self.falloff == "LINEAR" else smooth_step(nearness)

    def spans(self, cycle: Span | None) -> list[Span]:
        """Frame spans in which the nudge has an effect; in a cycle, what extends over its end wraps to its beginning."""
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
        inside = [span for span in turns if span[1] - span[0] > NEAR_END]
        # A nudge that ends exactly at the seam has an effect on both of its sides.
        for seam in cycle:
            in_span = any(start <= seam + NEAR_FRAME and end >= seam - NEAR_FRAME for start, end in inside)
            if not in_span and self.weights(np.array([seam]), cycle)[0] > 0.0:
                inside.append((seam, seam))
        return inside


def joined_spans(spans: Sequence[Span]) -> list[Span]:
    """Union of spans, ascending; spans that only touch stay separate."""
    union: list[Span] = []
    for start, end in sorted(spans):
        if union and start < union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], end)
        else:
            union.append((start, end))
    return union


class CycledNudge(NamedTuple):
    """A nudge in a motion."""

    nudge: Nudge
    cycle: Span | None
    """First and last frame of the repetition in which the nudge repeats as well; `None` if it occurs once."""


def offsets(nudges: Sequence[CycledNudge], frames: Array) -> Array:
    """Sum of all nudges at frames `(F,)`: world offsets `(F, 3)`."""
    total = np.zeros((len(frames), 3))
    for nudge, cycle in nudges:
        total += nudge.weights(frames, cycle)[:, None] * np.array(nudge.offset)
    return total


def with_nudge(nudges: Sequence[Nudge], new: Nudge) -> list[Nudge]:
    """The nudges with a new one, which replaces any at the same frame, sorted by frame."""
    return sorted([*without_nudge(nudges, new.frame), new], key=lambda nudge: nudge.frame)


def without_nudge(nudges: Sequence[Nudge], frame: float) -> list[Nudge]:
    """The nudges except the one at the frame."""
    return [nudge for nudge in nudges if abs(nudge.frame - frame) > NEAR_FRAME]
