"""Which frames become keys: as few as the tolerance allows, and then where they serve best.

From each key the next one is put as far away as one good segment reaches. No choice of keys has fewer, as far as a part
of a good segment is good as well, which holds but for rare cases of one frame. That leaves all the slack in the last
segment, so the keys are then drawn back, the later the more, to share it; and a preferred frame nearby is taken.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from .drift import Motion
from .fitting import Segment, fit_segment
from .indices import Indices

# The worst drift grows with about this power of a segment's length: 4 for smooth motion, less for what is rough.
GROWTH = 3.0
# One guess may be at most this many times as long as the last one, and is at least a little longer.
MOST_GROWTH, LEAST_GROWTH = 2.0, 1.15
# The end of a long segment need not be found closer than to this share of its length: it costs no key.
SEARCH_SHARE = 0.02
# A preferred frame is taken from as far as this share of a segment.
PREFERENCE_REACH = 0.3


def chosen_segments(motion: Motion, candidates: Indices, preferred: Indices) -> list[Segment]:
    """Good segments from the first to the last of `candidates : (C,)`, samples that may be keys; C >= 2, rising.

    `preferred` are some of them. Where one candidate is too far from the next for the tolerance, keys stand between
    them, in the worst case at every sample.
    """
    segments: list[Segment] = []
    runs = _farthest_keys(motion, candidates)
    for before, run in zip([None, *runs[:-1]], runs, strict=True):
        if before is not None:
            between = np.arange(before[-1], run[0] + 1)
            segments.extend(fit_segment(motion, *pair) for pair in pairwise(_farthest_keys(motion, between)[0]))
        segments.extend(_sharing_slack(motion, candidates, run, preferred))
    return segments


def _farthest_keys(motion: Motion, candidates: Indices) -> list[list[int]]:
    """Samples of keys, each as far from the one before as a good segment reaches; a new list after each gap that is not good."""
    runs = [[int(candidates[0])]]
    place, length = 0, 1
    while place < len(candidates) - 1:
        length, good = _farthest(motion, candidates[place:], length)
        place += length
        if good:
            runs[-1].append(int(candidates[place]))
        else:
            runs.append([int(candidates[place])])
    return runs


def _farthest(motion: Motion, candidates: Indices, guess: int) -> tuple[int, bool]:
    """How many candidates the longest good segment from the first of them spans, and whether even one is good.

    Each try says by its worst drift where to try next, between the longest length known good and the shortest known bad.
    """
    good, bad = 0, len(candidates)
    tried = min(max(guess, 1), bad - 1)
    while bad - good > 1 + SEARCH_SHARE * good:
        worst = fit_segment(motion, int(candidates[0]), int(candidates[tried])).worst
        good, bad = (tried, bad) if worst <= 1.0 else (good, tried)
        growth = np.clip(max(worst, np.finfo(float).tiny) ** (-1.0 / GROWTH), 0.0, MOST_GROWTH)
        growth = max(growth, LEAST_GROWTH) if worst <= 1.0 else growth
        tried = int(np.clip(round(tried * growth), good + 1, max(bad - 1, good + 1)))
    return max(good, 1), good > 0


def _sharing_slack(motion: Motion, candidates: Indices, keys: list[int], preferred: Indices) -> list[Segment]:
    """Good segments between as many keys as `keys` has, drawn back from there so that the last is not much shorter."""
    farthest = [fit_segment(motion, *pair) for pair in pairwise(keys)]
    segments: list[Segment] = []
    if len(farthest) <= 1:
        return farthest
    places = np.searchsorted(candidates, keys)
    slack = max(0, 2 * places[-2] - places[-3] - places[-1])
    last = keys[-1]
    for index in range(len(keys) - 2, 0, -1):
        target = places[index] - round(slack * index / (len(keys) - 1))
        tries = _tries(candidates, (places[index - 1] + 1, target, places[index]), preferred)
        found = next((segment for first in tries if (segment := fit_segment(motion, first, last)).good), None)
        if found is None:
            return farthest
        segments.append(found)
        last = found.first
    segments.append(fit_segment(motion, keys[0], last))
    segments.reverse()
    return segments if all(segment.good for segment in segments) else farthest


def _tries(candidates: Indices, window: tuple[int, int, int], preferred: Indices) -> Iterator[int]:
    """Samples at which to try a key: a preferred one near the target place, the target, and from there to the farthest."""
    nearest, target, farthest = window
    target = max(target, nearest)
    reach = PREFERENCE_REACH * (candidates[farthest] - candidates[nearest - 1])
    wanted = preferred[(preferred >= candidates[nearest]) & (preferred <= candidates[farthest])]
    if len(wanted):
        closest = int(wanted[np.argmin(np.abs(wanted - candidates[target]))])
        if abs(closest - candidates[target]) <= reach:
            yield closest
    while target < farthest:
        yield int(candidates[target])
        target = (target + farthest + 1) // 2
    yield int(candidates[farthest])
