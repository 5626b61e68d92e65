"""Which frames become keys: from each key the next one is put as far away as one good segment reaches.

For one channel in one tube no choice of keys has fewer, as far as a part of a good segment is good as well, which holds
but for rare cases of one frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .fitting import THIRD, Segments, fit
from .indices import Indices
from .tubes import Tubes

# Lengths tried at once: around a guess, and between the longest known good and the shortest known bad one.
AROUND = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0])
BETWEEN = np.array([0.15, 0.3, 0.5, 0.7, 0.85])
SHORTER = np.array([0.02, 0.1, 0.25, 0.5, 0.75])
LONGER = np.array([1.3, 1.8, 2.5, 4.0, 8.0])
# The end of a long segment need not be found closer than to this share of its length: it costs no key.
SEARCH_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Pieces:
    """The segments of one channel, one after the other."""

    first: Indices
    """(S,) samples at which they start."""
    last: Indices
    """(S,) samples at which they end: the next one's start."""
    shapes: Array
    """(S, 4), see `fitting.fit`."""
    strays: Array
    """(S,) how far they stray in the tube they were made for; above 1 where nothing better was found."""

    @property
    def keys(self) -> Indices:
        """(S + 1,) samples of the keys."""
        return np.append(self.first, self.last[-1])

    def segments(self, row: int = 0) -> Segments:
        """As segments of one row of tubes."""
        return Segments(np.full(len(self.first), row), self.first, self.last)

    def within(self, first: int, last: int) -> "Pieces":
        """Those from one sample to another."""
        return self.numbered(int(np.searchsorted(self.first, first)), int(np.searchsorted(self.last, last, side="right")))

    def numbered(self, start: int, stop: int) -> "Pieces":
        """Those from one number to another."""
        return Pieces(self.first[start:stop], self.last[start:stop], self.shapes[start:stop], self.strays[start:stop])


def joined(parts: Sequence[Pieces]) -> Pieces:
    """Pieces that follow each other."""
    return Pieces(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("first", "last", "shapes", "strays")))


def level_piece(first: int, last: int) -> Pieces:
    """One flat segment between two samples that have the same value."""
    return Pieces(np.array([first]), np.array([last]), np.array([[0.0, THIRD, 0.0, 1.0 - THIRD]]), np.zeros(1))


@dataclass(frozen=True, slots=True)
class Lane:
    """A stretch of one channel that is cut into segments."""

    row: int
    """Of the tubes."""
    candidates: Indices
    """(C,) samples that may be keys; the first and the last will be; C >= 2."""
    guess: int
    """How many candidates the first segment may reach."""
    level: tuple[bool, bool] = (False, False)
    """Whether the curve is to start, and to end, with slope 0."""


class _Search:
    """One lane on its way: the longest good segment from the present key on."""

    def __init__(self, lane: Lane) -> None:
        self.lane, self.place, self.guess = lane, 0, lane.guess
        self.found: list[tuple[int, int, Array, float]] = []
        self._start()

    def _start(self) -> None:
        self.good, self.bad = 0, len(self.lane.candidates) - self.place
        self.open_end, self.fresh = True, True
        self.best: tuple[int, int, Array, float] | None = None

    @property
    def done(self) -> bool:
        return self.place >= len(self.lane.candidates) - 1

    def slopes(self, lengths: Indices) -> Array:
        """Slopes (T, 2) given to segments of these lengths, NaN where they are free."""
        last = self.place + lengths == len(self.lane.candidates) - 1
        given = np.stack([np.full(len(lengths), self.place == 0), last], axis=-1) & self.lane.level
        return np.where(given, 0.0, np.nan)

    def tries(self) -> Indices:
        """Lengths to try next, (T,)."""
        if self.fresh:
            return self._lengths(self.guess * AROUND, 1)
        if self.good == 0:
            return self._lengths(self.bad * SHORTER, 1)
        if self.open_end:
            return self._lengths(self.good * LONGER, self.good + 1)
        return self._lengths(self.good + (self.bad - self.good) * BETWEEN, self.good + 1)

    def _lengths(self, lengths: Array, least: int) -> Indices:
        return np.unique(np.clip(np.round(lengths).astype(np.intp), least, self.bad - 1))

    def learn(self, lengths: Indices, shapes: Array, strays: Array) -> None:
        """Take in how the tries went, and go on to the next segment where this one is settled."""
        self.fresh = False
        candidates = self.lane.candidates
        for length, shape, stray in zip(lengths.tolist(), shapes, strays.tolist(), strict=True):
            if (stray <= 1.0 and length > self.good) or (length == 1 and self.best is None):
                self.best = (candidates[self.place], candidates[self.place + length], shape, stray)
                self.good = length if stray <= 1.0 else 0
        too_long = lengths[(strays > 1.0) & (lengths > self.good)]
        if len(too_long):
            self.bad, self.open_end = min(self.bad, int(too_long[0])), False
        if self.bad - self.good > 1 + SEARCH_SHARE * self.good or self.best is None:
            return
        self.found.append(self.best)
        self.guess = max(self.good, 1)
        self.place += self.guess
        self._start()


def farthest_pieces(tubes: Tubes, lanes: Sequence[Lane]) -> list[Pieces]:
    """Segments of each lane, each as long as is good; where not even the next candidate can be reached, the best fit to it."""
    searches = [_Search(lane) for lane in lanes]
    while active := [search for search in searches if not search.done]:
        tries = [search.tries() for search in active]
        firsts = [np.full(len(each), search.lane.candidates[search.place]) for search, each in zip(active, tries, strict=True)]
        lasts = [search.lane.candidates[search.place + each] for search, each in zip(active, tries, strict=True)]
        rows = [np.full(len(each), search.lane.row) for search, each in zip(active, tries, strict=True)]
        slopes = np.concatenate([search.slopes(each) for search, each in zip(active, tries, strict=True)])
        segments = Segments(np.concatenate(rows), np.concatenate(firsts), np.concatenate(lasts))
        shapes, strays = fit(tubes, segments, slopes)
        ends = np.cumsum([len(each) for each in tries])[:-1]
        for search, each, shape, stray in zip(active, tries, np.split(shapes, ends), np.split(strays, ends), strict=True):
            search.learn(each, shape, stray)
    return [_pieces(search.found) for search in searches]


def _pieces(found: list[tuple[int, int, Array, float]]) -> Pieces:
    first, last, shapes, strays = zip(*found, strict=True)
    return Pieces(np.array(first), np.array(last), np.stack(shapes), np.array(strays))
