"""Corrections that are known while a foot stands, and ease to nothing, or to the next ones, in between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask
from ..contacts.states import runs

RUN_OUT = 0.6
"""Part of the shortest ease, or of the gap, in which a foot that is let go comes to move as it does anyway."""

STEEPEST = 15.0 / 8.0
"""Of a quintic without slopes at its ends, in its rise over its width."""


@dataclass(frozen=True, slots=True)
class Ease:
    """How a correction comes and goes."""

    least: int
    """Samples."""
    most: int
    """Samples, where a large correction needs more not to be faster than `speed`."""
    speed: float = math.inf
    """Largest change per sample that is wanted; what is slower anyway takes the least samples."""
    slope: int = 1
    """Samples at an edge that tell how fast a correction changes there."""

    def width(self, value: Array) -> int:
        """Samples in which a correction `(k,)` goes away."""
        return min(max(math.ceil(STEEPEST * math.hypot(*value.tolist()) / self.speed), self.least), self.most)


def _risen(parts: Array) -> Array:
    """How far a quintic without slopes at its ends has risen at `parts` `(n, 1)` of its width, from 0 to 1."""
    return parts**3 * (10.0 - parts * (15.0 - 6.0 * parts))


def _run_out(parts: Array) -> Array:
    """What leaves 0 with a slope of 1 and comes to rest at a half, at `parts` `(n, 1)` of its width: it slows down like that."""
    return parts - parts**4 * (2.5 - parts * (3.0 - parts))


def eased(known: Mask, values: Array, ease: Ease) -> tuple[Array, Mask]:
    """Values `(F, k)` at all samples, and where they differ from nothing by more than chance, `(F,)`.

    known : (F,) samples at which `values` (F, k) are given

    They leave known samples, and arrive at them, as fast as the known values change there: the motion that is corrected goes
    on as it does, and nothing is known of it beyond. A gap too short for both shares its time: it leads from one known value
    to the next. Before the first known sample and after the last one corrections come and go as far as there are samples.
    """
    found = np.where(known[:, None], values, 0.0)
    touched = known.copy()
    nothing = np.zeros(values.shape[1])
    edges = []
    for first, last in runs(known):
        reach = max(1, min(ease.slope, last - first))
        at = found[first], found[last]
        slopes = [(found[min(row + reach, last)] - found[max(row - reach, first)]) / reach for row in (first, last)]
        edges.append(((first, at[0], slopes[0]), (last, at[1], slopes[1])))

    def lead(start: int, end: int, values: tuple[Array, Array], slopes: tuple[Array, Array]) -> None:
        rows = slice(max(start + 1, 0), min(end, len(found)))
        inside = np.arange(rows.start, rows.stop)[:, None]
        if len(inside):
            short = RUN_OUT * min(end - start, ease.least)
            # What stood begins to move gradually, and does not overtake what it was to make up for that at once.
            gone = values[0] + slopes[0] * short * _run_out(np.minimum((inside - start) / short, 1.0))
            come = values[1] - slopes[1] * short * _run_out(np.minimum((end - inside) / short, 1.0))
            risen = _risen((inside - start) / (end - start))
            found[rows] = gone * (1.0 - risen) + come * risen
            touched[rows] = True

    for (_, (start, leaving, left)), ((end, arriving, arrived), _) in pairwise(edges):
        goes, comes = ease.width(leaving), ease.width(arriving)
        if end - start <= goes + comes:
            lead(start, end, (leaving, arriving), (left, arrived))
        else:
            lead(start, start + goes, (leaving, nothing), (left, nothing))
            lead(end - comes, end, (nothing, arriving), (nothing, arrived))
    if edges:
        (first, arriving, arrived), (last, leaving, left) = edges[0][0], edges[-1][1]
        lead(first - ease.width(arriving), first, (nothing, arriving), (nothing, arrived))
        lead(last, last + ease.width(leaving), (leaving, nothing), (left, nothing))
    return found, touched
