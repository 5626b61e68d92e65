"""Which frames become keys: as few as the tolerance allows, and then where they serve best.

From each key the next one is put as far away as one good segment reaches. No choice of keys has fewer, as far as a part
of a good segment is good as well, which holds but for rare cases of one frame. That leaves all the slack in the last
segment, so the keys are then drawn back, the later the more, to share it; and a preferred frame nearby is taken.
"""

from itertools import groupby

import numpy as np

from ...array_types import Indices
from .drift import FINER
from .fitting import Search, Segment, Wanted

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

    `preferred` are some of them. Where one candidate is too far from the next for the tolerance, keys stand between
    them, in the worst case at every sample of the motion as it was given.
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
