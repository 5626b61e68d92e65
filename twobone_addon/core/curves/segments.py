"""Choose the frames that become keys: as few as the tolerance allows, well spread, and smooth where possible.

From each key the next one is put as far away as one good segment reaches. No choice of keys is smaller, provided that every part
of a good segment is good too, which holds except for rare differences of one frame. That leaves all the slack in the last
segment, so the keys are then moved back, later ones more, to distribute it; a preferred frame nearby is taken instead.

Then keys are made smooth, with one slope on both sides, wherever the tolerance allows it. Segments chosen one by one meet at a
small angle. Key by key, the smallest break first, both segments are refitted with a common slope; if both still keep the
tolerance, the key is smooth, its handles are aligned, and its slope is fixed. If not, as at a corner of the motion, the handles
stay broken. No key is added for smoothness. Keys that are not neighbours are independent, so all keys whose turn comes before
that of their neighbours are processed in one batch.
"""

from itertools import groupby

import numpy as np

from ..array_types import Array, Indices, Mask
from .drift import FINER, Motion
from .fitting import Search, Segment, Wanted, fit_segments, fit_through

GROWTH = 3.0
"""Exponent with which the worst drift grows with a segment's length: 4 for smooth motion, less for rough motion."""
MOST_GROWTH, LEAST_GROWTH = 2.0, 1.15
"""Greatest and least ratio of a guessed length to the previous one, after a good segment."""
SMALLEST_DRIFT = 1e-3
"""Least drift, as a fraction of the tolerance, used to extrapolate the length."""
SEARCH_SHARE = 0.02
"""Precision to which the end of a long segment is found, as a fraction of its length: this costs no key."""
PREFERENCE_REACH = 0.3
"""Greatest distance of a preferred frame that is taken as a key, as a fraction of the segment."""


def chosen_segments(candidates: Indices, preferred: Indices) -> Search:
    """Choose good segments from the first to the last of `candidates : (C,)`, increasing samples that may be keys; C >= 2.

    `preferred` are some of them. Where two neighbouring candidates are too far apart for the tolerance, keys are put between
    them, in the worst case at every original sample of the motion.
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
    """Longest good segments one after the other; where not even the next candidate can be reached, one that is not good."""
    segments: list[Segment] = []
    place, length = 0, 1
    while place < len(candidates) - 1:
        segments.extend((yield from _farthest(candidates[place:], length)))
        length = int(np.searchsorted(candidates, segments[-1].last)) - place
        place += length
    return segments


def _farthest(candidates: Indices, guess: int) -> Search:
    """The longest good segment from the first candidate, or the shortest one if none is good.

    The worst drift of each trial gives the next length to try, between the longest known good and the shortest known bad.
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
    """As many good segments as in `farthest`, with keys moved back so that the last is not much shorter than the others."""
    count = len(farthest)
    places = np.searchsorted(candidates, [farthest[0].first, *(segment.last for segment in farthest)])
    slack = max(0, int(2 * places[-2] - places[-3] - places[-1])) if count > 1 else 0
    chosen: list[Segment] = []
    for index in range(count - 1, -1, -1):
        last = chosen[-1].first if chosen else farthest[-1].last
        window = (places[max(index - 1, 0)] + 1, places[index] - slack * index // count, places[index])
        for first in _trial_samples(candidates, window, preferred) if index else [farthest[0].first]:
            known = (first, last) == (farthest[index].first, farthest[index].last)
            segment = farthest[index] if known else (yield Wanted(first, last))
            if segment.good:
                break
        else:
            return farthest
        chosen.append(segment)
    return chosen[::-1]


def _trial_samples(candidates: Indices, window: tuple[int, int, int], preferred: Indices) -> list[int]:
    """Samples at which to try a key, in this order: a preferred one near the target, the target, the farthest."""
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
    """Give neighbouring segments common slopes where that keeps the tolerance.

    `still : (S,)` marks segments in which nothing moves: they are unchanged, and their neighbours come to rest at them where
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
    """Group the inner keys of `breaks : (S - 1,)` so that no group has neighbours, with the effect of smallest break first."""
    rank = np.full(len(breaks) + 2, len(breaks))
    rank[1:-1][np.argsort(breaks, kind="stable")] = np.arange(len(breaks))
    turns = []
    while np.any(rank < len(breaks)):
        ready = np.flatnonzero((rank[1:-1] < rank[:-2]) & (rank[1:-1] < rank[2:])) + 1
        turns.append(ready.tolist())
        rank[ready] = len(breaks)
    return turns


def _joined(motion: Motion, segments: list[Segment], keys: list[int], still: Mask, smooth: Mask) -> list[tuple[Segment, Segment]]:
    """Refit both segments at each of some keys with one slope at that key; a segment at rest fixes the slope to 0."""
    rest = np.zeros(motion.values.channels)
    joined = {key: (segments[key - 1], segments[key]) for key in keys}
    # Whether the slopes at the keys before and after are fixed.
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
    """Break of a point's path at each inner key: its slope change over the shorter segment, as a fraction of the tolerance."""
    shapes = np.stack([segment.shape for segment in segments])
    keys: Indices = np.array([segments[0].first, *(segment.last for segment in segments)])
    change = shapes[1:, 0] - shapes[:-1, 2]
    squares = np.einsum("sk,spkl,sl->sp", change, motion.felt(keys[1:-1]), change)
    durations = np.diff(motion.times[keys])
    return np.sqrt(np.maximum(squares, 0.0)).max(axis=-1, initial=0.0) * np.minimum(durations[:-1], durations[1:])
