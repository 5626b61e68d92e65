"""Corrections that are known while a foot stands, and ease to nothing, or to the next ones, in between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask
from ..contacts.states import runs

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


def hermite(values: tuple[Array, Array], slopes: tuple[Array, Array], parts: Array) -> Array:
    """Quintic `(n, k)` between two values `(k,)` with two slopes `(k,)` per whole, no acceleration at either end.

    parts : (n,) from 0 to 1
    """
    u = np.asarray(parts, dtype=float)[:, None]
    rise = u * u * u * (10.0 - u * (15.0 - 6.0 * u))
    return values[0] * (1.0 - rise) + values[1] * rise + slopes[0] * _leaving(u) - slopes[1] * _leaving(1.0 - u)


def _leaving(u: Array) -> Array:
    """The part of a quintic that leaves 0 with a slope of 1, and comes to 1 with value and slope 0."""
    return u * (1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u)))


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
        inside = np.arange(rows.start, rows.stop)
        if len(inside):
            found[rows] = hermite(values, (nothing, nothing), (inside - start) / (end - start))
            # How fast it changes is soon made up for: over a wide gap it would lead far away.
            short = min(end - start, ease.least)
            after, before = (np.minimum(each / short, 1.0)[:, None] for each in (inside - start, end - inside))
            found[rows] += slopes[0] * short * _leaving(after) - slopes[1] * short * _leaving(before)
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
