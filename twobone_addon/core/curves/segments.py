"""Which frames become keys: as few as the tolerance allows, and then where they serve best.

From each key the next one is put as far away as one good segment reaches. No choice of keys has fewer, as far as a part of a good
segment is good as well, which holds but for rare cases of one frame. That leaves all the slack in the last segment, so the keys
are then drawn back, the later the more, to share it; and a preferred frame nearby is taken.

Then keys are made smooth, with one slope on both sides, wherever the tolerance allows it. Segments chosen one by one meet at a
small angle. Key by key, the least broken first, both neighbours are fitted anew with a common slope; if both still keep the
tolerance the key is smooth, its handles aligned, and its slope is settled. Where not, as at a corner of the motion, the handles
stay broken. No key is added for smoothness. Keys that are not neighbours do not concern each other, so all that come before their
neighbours have their turn at once.
"""

from itertools import groupby

import numpy as np

from ..array_types import Array, Indices, Mask
from .drift import FINER, Motion
from .fitting import Search, Segment, Wanted, fit_segments, fit_through

GROWTH = 3.0
"""The worst drift grows with about this power of a segment's length: 4 for smooth motion, less for what is rough."""
MOST_GROWTH, LEAST_GROWTH = 2.0, 1.15
"""One guess may be at most this many times as long as the last one, and is at least a little longer."""
SMALLEST_DRIFT = 1e-3
"""A drift smaller than this share of the tolerance says no more about the length than this."""
SEARCH_SHARE = 0.02
"""The end of a long segment need not be found closer than to this share of its length: it costs no key."""
PREFERENCE_REACH = 0.3
"""A preferred frame is taken from as far as this share of a segment."""


def chosen_segments(candidates: Indices, preferred: Indices) -> Search:
    """Good segments from the first to the last of `candidates : (C,)`, samples that may be keys; C >= 2, rising.

    `preferred` are some of them. Where one candidate is too far from the next for the tolerance, keys stand between them, in the
    worst case at every sample of the motion as it was given.
    """
    chosen: list[Segment] = []
    for good, run in groupby((yield from _farthest_segments(candidates)), key=lambda segment: segment.good):
        if good:
            chosen.extend((yield from _sharing_slack(candidates, list(run), preferred)))
        else:
            for gap in run:
                chosen.extend((yield from _farthest_segments(np.arange(gap.first, gap.last + 1, FINER))))
    return chosen


def _farthest_segments(candidates: Indices) -> Search:
    """Segments each as long as is good; where not even the next candidate can be reached, one that is not good."""
    segments: list[Segment] = []
    place, length = 0, 1
    while place < len(candidates) - 1:
        segments.extend((yield from _farthest(candidates[place:], length)))
        length = int(np.searchsorted(candidates, segments[-1].last)) - place
        place += length
    return segments


def _farthest(candidates: Indices, guess: int) -> Search:
    """The longest good segment from the first of the candidates, or the shortest one if that is not good.

    Each try says by its worst drift where to try next, between the longest length known good and the shortest known bad.
    """
    good, bad = 0, len(candidates)
    tried = min(max(guess, 1), bad - 1)
    segment = longest = yield Wanted(int(candidates[0]), int(candidates[tried]))
    while True:
        if segment.good:
            good, longest = tried, segment
        else:
            bad = tried
        if bad - good <= 1 + SEARCH_SHARE * good:
            return [longest if good else segment]
        growth = np.clip(max(segment.worst, SMALLEST_DRIFT) ** (-1.0 / GROWTH), 0.0, MOST_GROWTH)
        growth = max(growth, LEAST_GROWTH) if segment.good else growth
        tried = int(np.clip(round(tried * growth), good + 1, bad - 1))
        segment = yield Wanted(int(candidates[0]), int(candidates[tried]))


def _sharing_slack(candidates: Indices, farthest: list[Segment], preferred: Indices) -> Search:
    """As many good segments as `farthest` has, the keys drawn back so that the last is not much shorter than the others."""
    count = len(farthest)
    places = np.searchsorted(candidates, [farthest[0].first, *(segment.last for segment in farthest)])
    slack = max(0, int(2 * places[-2] - places[-3] - places[-1])) if count > 1 else 0
    chosen: list[Segment] = []
    for index in range(count - 1, -1, -1):
        last = chosen[-1].first if chosen else farthest[-1].last
        window = (places[max(index - 1, 0)] + 1, places[index] - slack * index // count, places[index])
        for first in _tries(candidates, window, preferred) if index else [farthest[0].first]:
            known = (first, last) == (farthest[index].first, farthest[index].last)
            segment = farthest[index] if known else (yield Wanted(first, last))
            if segment.good:
                break
        else:
            return farthest
        chosen.append(segment)
    return chosen[::-1]


def _tries(candidates: Indices, window: tuple[int, int, int], preferred: Indices) -> list[int]:
    """Samples at which to try a key: a preferred one not far from the target place, the target, the farthest."""
    nearest, target, farthest = window
    target = max(target, nearest)
    tries = [int(candidates[target]), int(candidates[farthest])]
    wanted = preferred[(preferred >= candidates[nearest]) & (preferred <= candidates[farthest])]
    if len(wanted):
        closest = int(wanted[np.argmin(np.abs(wanted - candidates[target]))])
        if abs(closest - candidates[target]) <= PREFERENCE_REACH * (candidates[farthest] - candidates[nearest - 1]):
            tries.insert(0, closest)
    return tries


def align(motion: Motion, segments: list[Segment], still: Mask) -> list[Segment]:
    """The segments with common slopes where that keeps the tolerance.

    `still : (S,)` marks segments in which nothing moves: they are not touched, and their neighbours come to rest at them where
    that keeps the tolerance.
    """
    segments = list(segments)
    smooth = np.zeros(len(segments) + 1, dtype=bool)
    smooth[[0, -1]] = True
    for keys in _turns(_breaks(motion, segments)):
        for key, joined in zip(keys, _joined(motion, segments, keys, still, smooth), strict=True):
            if all(segment.good for segment in joined):
                segments[key - 1 : key + 1] = joined
                smooth[key] = True
    return segments


def _turns(breaks: Array) -> list[list[int]]:
    """Inner keys, those of `breaks : (S - 1,)`, in groups of which none has neighbours: as if one by one, the least first."""
    rank = np.full(len(breaks) + 2, len(breaks))
    rank[1:-1][np.argsort(breaks, kind="stable")] = np.arange(len(breaks))
    turns = []
    while np.any(rank < len(breaks)):
        ready = np.flatnonzero((rank[1:-1] < rank[:-2]) & (rank[1:-1] < rank[2:])) + 1
        turns.append(ready.tolist())
        rank[ready] = len(breaks)
    return turns


def _joined(motion: Motion, segments: list[Segment], keys: list[int], still: Mask, smooth: Mask) -> list[tuple[Segment, Segment]]:
    """Both segments at each of some keys with one slope at the key between them; a segment at rest gives the slope, 0."""
    rest = np.zeros(motion.values.channels)
    joined = {key: (segments[key - 1], segments[key]) for key in keys}
    # Whether the slopes at the keys before and after are settled.
    at_ends = [end is not None for end in motion.ends]
    held = {
        key: (
            bool(smooth[key - 1]) if key > 1 else at_ends[0],
            bool(smooth[key + 1]) if key < len(segments) - 1 else at_ends[1],
        )
        for key in keys
    }
    free = [key for key in keys if not still[key - 1] and not still[key]]
    if free:
        joined.update(zip(free, fit_through(motion, [joined[key] for key in free], [held[key] for key in free]), strict=True))
    from_rest = [key for key in keys if still[key - 1] and not still[key]]
    to_rest = [key for key in keys if still[key] and not still[key - 1]]
    wanted = []
    for key in from_rest:
        right = segments[key]
        wanted.append(Wanted(right.first, right.last, rest, right.shape[2] if held[key][1] else None))
    for key in to_rest:
        left = segments[key - 1]
        wanted.append(Wanted(left.first, left.last, left.shape[0] if held[key][0] else None, rest))
    found = iter(fit_segments(motion, wanted) if wanted else [])
    joined.update({key: (segments[key - 1], next(found)) for key in from_rest})
    joined.update({key: (next(found), segments[key]) for key in to_rest})
    return [joined[key] for key in keys]


def _breaks(motion: Motion, segments: list[Segment]) -> Array:
    """How far the path of a point breaks at each inner key, as a share of the tolerance over the shorter of the two segments."""
    shapes = np.stack([segment.shape for segment in segments])
    keys: Indices = np.array([segments[0].first, *(segment.last for segment in segments)])
    change = shapes[1:, 0] - shapes[:-1, 2]
    squares = np.einsum("sk,spkl,sl->sp", change, motion.felt(keys[1:-1]), change)
    durations = np.diff(motion.times[keys])
    return np.sqrt(np.maximum(squares, 0.0)).max(axis=-1, initial=0.0) * np.minimum(durations[:-1], durations[1:])
