"""Smooth keys: one slope on both sides of a key wherever the tolerance allows it.

Segments chosen one by one meet at a small angle. Every second key at once, both neighbours are fitted anew with a common
slope; if both still keep the tolerance the key is smooth, its handles aligned, and its slope is settled. Where not, as at
a corner of the motion, the handles stay broken. No key is added for smoothness.
"""

import numpy as np

from ..array_types import Array, Mask
from .fitting import Segments, fit
from .indices import Indices
from .segments import Pieces
from .sharing import Sharing, pairs_of
from .tubes import Tubes

# Common slopes that are tried: from that of the segment before to that of the one after.
BLENDS = np.linspace(0.0, 1.0, 5)

# A slope of 0 counts as given where the segment beside is level.
FREE = np.nan


def align(sharing: Sharing) -> list[Mask]:
    """Make keys smooth; which of the keys are, a mask (S + 1,) per channel. The first and the last have one slope."""
    smooth = []
    for channel, pieces in enumerate(sharing.pieces):
        found = np.zeros(len(pieces.keys), dtype=bool)
        found[[0, -1]] = True
        level = _level(pieces)
        beside = np.flatnonzero(level[:-1] | level[1:]) + 1
        # Coming to rest is seen most, so it comes first, while the slopes at the other ends are free.
        for keys in (beside, np.arange(1, len(found) - 1)):
            for start in (0, 1):
                _align_some(sharing, channel, keys[start::2], found)
        smooth.append(found)
    return smooth


def _level(pieces: Pieces) -> Mask:
    """Which segments (S,) are flat."""
    return np.all(pieces.shapes[:, [0, 2]] == 0.0, axis=1)


def slopes(pieces: Pieces, times: Array, values: Array) -> Array:
    """Slopes (S, 2), value per frame, of one channel's segments at their starts and ends."""
    duration = times[pieces.last] - times[pieces.first]
    climb = values[pieces.last] - values[pieces.first]
    start = pieces.shapes[:, 0] / (pieces.shapes[:, 1] * duration)
    end = (climb - pieces.shapes[:, 2]) / ((1.0 - pieces.shapes[:, 3]) * duration)
    return np.stack([start, end], axis=-1)


def _align_some(sharing: Sharing, channel: int, keys: Indices, smooth: Mask) -> None:
    """Try keys of which no two are neighbours; marks in `smooth` those that took it."""
    pieces, tubes = sharing.pieces[channel], sharing.tubes_of(channel)
    now = slopes(pieces, tubes.times, tubes.values[0])
    level = _level(pieces)
    smooth[keys] |= level[keys - 1] & level[keys]
    keys = keys[~smooth[keys]]
    if len(keys) == 0:
        return
    common = now[keys - 1, 1, None] + BLENDS * (now[keys, 0] - now[keys - 1, 1])[:, None]
    common[level[keys - 1] | level[keys]] = 0.0
    inner = smooth & (np.arange(len(smooth)) % (len(smooth) - 1) > 0)
    before = np.where(inner[keys - 1], now[keys - 1, 0], FREE)
    after = np.where(inner[keys + 1], now[keys, 1], FREE)
    left = _fitted(tubes, pieces, keys - 1, (before[:, None], common), level)
    right = _fitted(tubes, pieces, keys, (common, after[:, None]), level)
    best = np.maximum(left[1], right[1]).argmin(axis=1)
    each = np.arange(len(keys))
    fits = np.maximum(left[1], right[1])[each, best] <= 1.0
    shapes, strays = pieces.shapes.copy(), pieces.strays.copy()
    for side, (shape, stray) in zip((keys - 1, keys), (left, right), strict=True):
        shapes[side[fits]], strays[side[fits]] = shape[each, best][fits], stray[each, best][fits]
    sharing.accept(channel, *pairs_of(pieces, Pieces(pieces.first, pieces.last, shapes, strays), keys))
    took = (sharing.pieces[channel].shapes == shapes).all(axis=1)
    smooth[keys[fits]] = (took[keys - 1] & took[keys])[fits]


def _fitted(tubes: Tubes, pieces: Pieces, which: Indices, given: tuple[Array, Array], level: Mask) -> tuple[Array, Array]:
    """Segments with given slopes (n, T): shapes (n, T, 4) and strays (n, T). Level ones stay as they are."""
    start, end = np.broadcast_arrays(*given)
    start, end = (np.broadcast_to(slope, (len(which), len(BLENDS))) for slope in (start, end))
    many = np.repeat(which, len(BLENDS))
    segments = Segments(np.zeros(len(many), dtype=np.intp), pieces.first[many], pieces.last[many])
    shapes, strays = fit(tubes, segments, np.stack([start.ravel(), end.ravel()], axis=-1))
    still = level[many]
    shapes = np.where(still[:, None], pieces.shapes[many], shapes)
    strays = np.where(still, 0.0, strays)
    return shapes.reshape(*start.shape, 4), strays.reshape(start.shape)
