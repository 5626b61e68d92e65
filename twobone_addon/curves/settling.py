"""Keys where they serve an animator: on the target's extremes, and on frames on which other channels have keys, too.

A key can stand anywhere that leaves both segments beside it good. Every second key of a channel at once is tried on the
frames nearby that are wanted; no key is added for it.
"""

import numpy as np

from .fitting import Segments, fit
from .indices import Indices
from .segments import Pieces
from .sharing import Sharing, pairs_of

# A key moves by at most this share of the segment on that side, to one of so many wanted frames.
FARTHEST, TRIES = 0.4, 6
ROUNDS = 2


def settle(sharing: Sharing, preferred: Indices) -> None:
    """Move keys to frames that are wanted, without more of them."""
    for _ in range(ROUNDS):
        for channel in sharing.moving_channels():
            for start in (1, 2):
                _settle_some(sharing, channel, start, _wanted(sharing, channel, preferred))


def _wanted(sharing: Sharing, channel: int, preferred: Indices) -> tuple[Indices, Indices]:
    """Samples at which other channels have keys or the target turns, rising, and how much each is wanted."""
    others = [pieces.keys for number, pieces in enumerate(sharing.pieces) if number != channel]
    return np.unique(np.concatenate([*others, preferred]), return_counts=True)


def _settle_some(sharing: Sharing, channel: int, start: int, wanted: tuple[Indices, Indices]) -> None:
    """Try every second key, from the one numbered `start` on."""
    pieces = sharing.pieces[channel]
    keys = np.arange(start, len(pieces.first), 2)
    moves = [
        (key, place) for key in keys[~np.isin(pieces.first[keys], sharing.choice.fixed)] for place in _places(pieces, key, wanted)
    ]
    if not moves:
        return
    which, places = np.array(moves).T
    tubes, row = sharing.tubes_of(channel), np.zeros(len(which), dtype=np.intp)
    left = fit(tubes, Segments(row, pieces.first[which - 1], places))
    right = fit(tubes, Segments(row, places, pieces.last[which]))
    good = np.maximum(left[1], right[1]) <= 1.0
    first, last = pieces.first.copy(), pieces.last.copy()
    shapes, strays = pieces.shapes.copy(), pieces.strays.copy()
    # The most wanted place of a key comes first.
    taken, chosen = np.unique(which[good], return_index=True)
    chosen = np.flatnonzero(good)[chosen]
    last[taken - 1] = first[taken] = places[chosen]
    for side, (shape, stray) in zip((taken - 1, taken), (left, right), strict=True):
        shapes[side], strays[side] = shape[chosen], stray[chosen]
    sharing.accept(channel, *pairs_of(pieces, Pieces(first, last, shapes, strays), taken))


def _places(pieces: Pieces, key: int, wanted: tuple[Indices, Indices]) -> Indices:
    """Where a key might rather stand, the most wanted first and the nearest of those; none if it stands well."""
    samples, weights = wanted
    here, before, after = pieces.first[key], pieces.first[key - 1], pieces.last[key]
    own = weights[samples == here].sum()
    near = (samples >= here - FARTHEST * (here - before)) & (samples <= here + FARTHEST * (after - here)) & (weights > own)
    order = np.lexsort((np.abs(samples[near] - here), -weights[near]))
    return samples[near][order[:TRIES]]
