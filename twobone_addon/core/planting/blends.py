"""Corrections that are known while a foot stands, and ease to zero or to the next known one in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..array_types import Array, Indices, Mask
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
    zero, edges, blends = np.zeros(values.shape[1]), [], list[_Blend]()
    for first, last in runs(known):
        reach = max(1, min(ease.slope, last - first))
        slopes = [(filled[min(row + reach, last)] - filled[max(row - reach, first)]) / reach for row in (first, last)]
        edges.append(((first, filled[first], slopes[0]), (last, filled[last], slopes[1])))
    for (_, (start, leaving, left)), ((end, arriving, arrived), _) in pairwise(edges):
        width_out, width_in = ease.width(leaving), ease.width(arriving)
        if end - start <= width_out + width_in:
            blends.append(_Blend(start, end, leaving, arriving, left, arrived))
        else:
            blends.append(_Blend(start, start + width_out, leaving, zero, left, zero))
            blends.append(_Blend(end - width_in, end, zero, arriving, zero, arrived))
    if not edges:
        return filled, known.copy()
    (first, arriving, arrived), (last, leaving, left) = edges[0][0], edges[-1][1]
    blends.append(_Blend(first - ease.width(arriving), first, zero, arriving, zero, arrived))
    blends.append(_Blend(last, last + ease.width(leaving), leaving, zero, left, zero))
    rows, between = _blended(blends, len(filled), ease)
    filled[rows] = between
    touched = known.copy()
    touched[rows] = True
    return filled, touched


class _Blend(NamedTuple):
    """A correction from one row to another, neither included."""

    start: int
    end: int
    leaving: Array
    """`(k,)` value at the start."""
    arriving: Array
    left: Array
    """`(k,)` slope at the start."""
    arrived: Array


def _blended(blends: Sequence[_Blend], count: int, ease: Ease) -> tuple[Indices, Array]:
    """Rows `(n,)`, of `count`, inside blends, none of which overlap, and the values `(n, k)` there; all blends at once."""
    inside = [np.arange(max(blend.start + 1, 0), min(blend.end, count)) for blend in blends]
    lengths, rows = [len(each) for each in inside], np.concatenate(inside)[:, None]
    columns = [np.repeat(np.array(column), lengths, axis=0) for column in zip(*blends, strict=True)]
    start, end, (leaving, arriving, left, arrived) = columns[0][:, None], columns[1][:, None], columns[2:]
    run_out = RUN_OUT * np.minimum(end - start, ease.least)
    # A released foot starts to move gradually, instead of jumping ahead to catch up with its own motion.
    outgoing = leaving + left * run_out * _decelerating(np.minimum((rows - start) / run_out, 1.0))
    incoming = arriving - arrived * run_out * _decelerating(np.minimum((end - rows) / run_out, 1.0))
    part = (rows - start) / (end - start)
    weight = part**3 * (10.0 - part * (15.0 - 6.0 * part))  # A quintic with zero slope at both ends.
    return rows[:, 0], outgoing * (1.0 - weight) + incoming * weight
