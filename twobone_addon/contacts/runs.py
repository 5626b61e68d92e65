"""Frames in a row: what begins surely and lasts while it is likely, short gaps closed, short rows dropped."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..array_types import Mask


def runs(mask: Mask) -> list[tuple[int, int]]:
    """First and last index of each row of true values in `mask` `(F,)`."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(first, end - 1) for first, end in edges.reshape(-1, 2).tolist()]


def held_from_core(core: Mask, loose: Mask) -> Mask:
    """The rows of `loose` `(F,)` in which `core` `(F,)` is true somewhere (hysteresis, the same in both directions of time)."""
    loose = loose | core
    kept = np.zeros(len(loose), bool)
    for first, last in runs(loose):
        kept[first : last + 1] = core[first : last + 1].any()
    return kept


def without_gaps(mask: Mask, longest: float) -> Mask:
    """`mask` `(F,)` with gaps of at most `longest` frames closed; what is before the first row and after the last is no gap."""
    closed = mask.copy()
    for (_, before), (after, _) in pairwise(runs(mask)):
        if after - before - 1 <= longest:
            closed[before:after] = True
    return closed


def without_short(mask: Mask, shortest: float) -> Mask:
    """`mask` `(F,)` without rows of fewer than `shortest` frames; a row cut off by the first or the last frame stays."""
    kept = mask.copy()
    for first, last in runs(mask):
        if last - first + 1 < shortest and first > 0 and last < len(mask) - 1:
            kept[first : last + 1] = False
    return kept
