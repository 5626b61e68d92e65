"""Corrections that are known while a foot stands, and ease to zero or to the next known one in between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask
from ..contacts.states import runs

RUN_OUT = 0.6
"""Fraction of the shortest ease, or of a shorter gap, over which a correction's slope at the edge of a stance decays to zero."""

STEEPEST = 15.0 / 8.0
"""Largest slope of a quintic ease, zero slope at both ends, relative to rise over width."""


@dataclass(frozen=True, slots=True)
class Ease:
    """How long a correction takes to ease in and out."""

    least: int
    """Shortest ease, samples."""
    most: int
    """Longest ease, samples: a large correction takes more than `least` to stay below `speed`."""
    speed: float = math.inf
    """Largest desired change per sample; slower corrections take `least` samples."""
    slope: int = 1
    """Samples over which the slope of a correction is measured at an edge."""

    def width(self, value: Array) -> int:
        """Number of samples over which a correction `(k,)` eases to zero."""
        return min(max(math.ceil(STEEPEST * math.hypot(*value.tolist()) / self.speed), self.least), self.most)


def _decelerating(parts: Array) -> Array:
    """Curve that leaves 0 with slope 1 and levels off at 1/2, at fractions `parts` `(n, 1)` of its width."""
    return parts - parts**4 * (2.5 - parts * (3.0 - parts))


def eased(known: Mask, values: Array, ease: Ease) -> tuple[Array, Mask]:
    """Values `(F, k)` at all samples, and a mask `(F,)` of the samples that are known or part of an ease.

    known : (F,) samples at which `values` (F, k) are given

    Values leave and reach known samples with the slope of the known values there, so that the corrected motion continues
    smoothly. A gap too short for an ease out and an ease in blends directly from one known value to the next. Before the first
    and after the last known sample, an ease is cut off where the samples end.
    """
    filled = np.where(known[:, None], values, 0.0)
    touched = known.copy()
    zero = np.zeros(values.shape[1])
    edges = []
    for first, last in runs(known):
        reach = max(1, min(ease.slope, last - first))
        at = filled[first], filled[last]
        slopes = [(filled[min(row + reach, last)] - filled[max(row - reach, first)]) / reach for row in (first, last)]
        edges.append(((first, at[0], slopes[0]), (last, at[1], slopes[1])))

    def blend(start: int, end: int, values: tuple[Array, Array], slopes: tuple[Array, Array]) -> None:
        rows = slice(max(start + 1, 0), min(end, len(filled)))
        inside = np.arange(rows.start, rows.stop)[:, None]
        if len(inside):
            run_out = RUN_OUT * min(end - start, ease.least)
            # A released foot starts to move gradually, instead of jumping ahead to catch up with its own motion.
            outgoing = values[0] + slopes[0] * run_out * _decelerating(np.minimum((inside - start) / run_out, 1.0))
            incoming = values[1] - slopes[1] * run_out * _decelerating(np.minimum((end - inside) / run_out, 1.0))
            part = (inside - start) / (end - start)
            weight = part**3 * (10.0 - part * (15.0 - 6.0 * part))  # A quintic with zero slope at both ends.
            filled[rows] = outgoing * (1.0 - weight) + incoming * weight
            touched[rows] = True

    for (_, (start, leaving, left)), ((end, arriving, arrived), _) in pairwise(edges):
        width_out, width_in = ease.width(leaving), ease.width(arriving)
        if end - start <= width_out + width_in:
            blend(start, end, (leaving, arriving), (left, arrived))
        else:
            blend(start, start + width_out, (leaving, zero), (left, zero))
            blend(end - width_in, end, (zero, arriving), (zero, arrived))
    if edges:
        (first, arriving, arrived), (last, leaving, left) = edges[0][0], edges[-1][1]
        blend(first - ease.width(arriving), first, (zero, arriving), (zero, arrived))
        blend(last, last + ease.width(leaving), (leaving, zero), (left, zero))
    return filled, touched
