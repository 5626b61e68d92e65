"""Corrections that are known while a foot stands, and ease to nothing, or to the next ones, in between."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask


def hermite(values: tuple[Array, Array], slopes: tuple[Array, Array], parts: Array) -> Array:
    """Quintic `(n, k)` between two values `(k,)` with two slopes `(k,)` per whole, no acceleration at either end.

    parts : (n,) from 0 to 1
    """
    u = np.asarray(parts, dtype=float)[:, None]
    rise = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    leave = u - 6.0 * u**3 + 8.0 * u**4 - 3.0 * u**5
    arrive = u**3 * (-4.0 + 7.0 * u - 3.0 * u**2)
    return values[0] * (1.0 - rise) + values[1] * rise + slopes[0] * leave + slopes[1] * arrive


def eased(known: Mask, values: Array, slopes: Array, *, ease: int) -> tuple[Array, Mask]:
    """Values `(F, k)` at all samples, and where they differ from nothing by more than chance, `(F,)`.

    known : (F,) samples at which `values` (F, k) are given
    slopes : (F, k) change per sample with which an ease has to arrive at, or leave, the known samples beside it
    ease : samples over which a correction comes and goes

    A gap too short for both shares its time: it leads from one known value to the next. Before the first known sample and
    after the last one corrections come and go as far as there are samples.
    """
    found = np.where(known[:, None], values, 0.0)
    touched = known.copy()
    rows = np.flatnonzero(known)
    if not len(rows):
        return found, touched
    nothing = np.zeros(values.shape[1])
    for start, end in pairwise(rows.tolist()):
        gap = end - start
        if gap == 1:
            continue
        if gap <= 2 * ease:
            _lead(found, touched, (start, end), (found[start], found[end]), (slopes[start], slopes[end]))
            continue
        _lead(found, touched, (start, start + ease), (found[start], nothing), (slopes[start], nothing))
        _lead(found, touched, (end - ease, end), (nothing, found[end]), (nothing, slopes[end]))
    first, last = rows[0], rows[-1]
    _lead(found, touched, (first - ease, first), (nothing, found[first]), (nothing, slopes[first]))
    _lead(found, touched, (last, last + ease), (found[last], nothing), (slopes[last], nothing))
    return found, touched


def _lead(found: Array, touched: Mask, span: tuple[int, int], values: tuple[Array, Array], slopes: tuple[Array, Array]) -> None:
    """Fill what is inside `span`, in place; samples before the first and after the last one are nobody's."""
    start, end = span
    width = end - start
    inside = np.arange(max(start + 1, 0), min(end, len(found)))
    if width <= 0 or not len(inside):
        return
    found[inside] = hermite(values, (slopes[0] * width, slopes[1] * width), (inside - start) / width)
    touched[inside] = True
