"""Pins of a foot: one fixed place per contact of its heel or ball, consistent with a rigid foot within each stance.

While only the heel or only the ball stands, the foot turns about it; while both stand, it keeps one orientation. So the pins of
heel and ball of one stance are as far apart as the points are on the foot.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from ...records import replace
from ..array_types import Array, Indices, Mask
from ..arrays import magnitude
from ..contacts.feet import HELD, RECORDED_REST, RECORDED_RESTS
from ..contacts.states import runs
from ..rig.rotations import least_turn, nearest_rotation


@dataclass(frozen=True, slots=True)
class Foot:
    """A foot at every frame, in the space of its ground."""

    ankles: Array
    """`(F, 3)` positions."""
    turns: Array
    """`(F, 3, 3)` rotations."""
    heel: Array
    """`(3,)` offset of the heel from the ankle, in the foot's own axes."""
    ball: Array
    """`(3,)` offset of the ball from the ankle, in the foot's own axes."""
    stretches: Array | None = None
    """`(F, 3, 3)` stretch of the rotated foot by non-uniform scale above it; `None` if the scale is uniform."""

    def points(self, offset: Array) -> Array:
        """Positions `(F, 3)` of the point at `offset` `(3,)` from the ankle, in the foot's axes."""
        return self.ankles + self.ways(self.turns, offset)

    def ways(self, turns: Array, offset: Array) -> Array:
        """Vectors `(F, 3)` from the ankle to the point at `offset` `(3,)` for a foot with orientations `turns` `(F, 3, 3)`."""
        # One matrix product takes a tenth of the time.
        vectors = (turns.reshape(-1, 3) @ offset).reshape(-1, 3)
        return vectors if self.stretches is None else (self.stretches @ vectors[..., None])[..., 0]

    def across(self, turn: Array, rows: Indices | slice) -> Array:
        """Vector `(3,)` from heel to ball for a foot with orientation `turn` `(3, 3)` and its mean stretch at `rows`."""
        vector = turn @ (self.ball - self.heel)
        return vector if self.stretches is None else self.stretches[rows].mean(axis=0) @ vector

    def on(self, rows: slice | Indices) -> Foot:
        """The foot at some of its frames."""
        stretches = None if self.stretches is None else self.stretches[rows]
        return replace(self, ankles=self.ankles[rows], turns=self.turns[rows], stretches=stretches)


@dataclass(frozen=True, slots=True)
class Pin:
    """A point of the foot that stands from row `first` to row `last`, both included."""

    first: int
    last: int
    is_ball: bool
    place: Array
    """`(3,)` position in the ground's space."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Rows in which both heel and ball stand, and the orientation `(3, 3)` that the foot keeps there."""

    first: int
    last: int
    turn: Array


@dataclass(frozen=True, slots=True)
class Pins:
    """All pins of a foot, and its stands on heel and ball."""

    pins: list[Pin]
    stands: list[Stand]


RESTS_FOR = 0.1
"""Least seconds of a rest, as in the search for contacts."""

RECORDED_PLACE = 0.011
"""Leg lengths within which a recorded foot is in one place around a rest: 10 mm of a leg of 0.9 m."""


@dataclass(frozen=True, slots=True)
class Resting:
    """When a point of a foot rests: where it does so longest is the place to pin."""

    leg_length: float
    """In the units of the foot."""
    rate: float
    """Frames per second."""
    only_keyed: bool = False
    """Whether only a foot that does not move at all rests."""

    def longest(self, paths: Sequence[Array], *, is_keyed: bool) -> tuple[int, int, int] | None:
        """Which of several paths `(n, 3)` rests longest, and its first and last row there; `None` if none rests.

        A keyed foot does not move at all. A recorded one rests somewhere in its place, unlike one that slides throughout.
        """
        width, least = (HELD, RESTS_FOR) if is_keyed else (RECORDED_PLACE, RECORDED_RESTS)
        best: tuple[int, int, int] | None = None
        for number, path in enumerate(paths):
            first, last = longest_within(path, width * self.leg_length)
            still = (first, last) if is_keyed else longest_within(path[first : last + 1], RECORDED_REST * self.leg_length)
            if still[1] - still[0] >= least * self.rate and (best is None or last - first > best[2] - best[1]):
                best = number, first, last
        return best


def longest_within(points: Array, width: float) -> tuple[int, int]:
    """First and last row of the longest part of a path `(n, 3)`, at least a row, whose box has a diagonal of at most `width`."""
    # Box corners of windows of 1, 2, 4 ... rows; a window of any length is covered by two of these.
    lows, highs, lengths = [points], [points], [1]

    def widths(length: int) -> Array:
        level = length.bit_length() - 1
        count, later = len(points) - length + 1, length - lengths[level]
        low = np.minimum(lows[level][:count], lows[level][later : later + count])
        high = np.maximum(highs[level][:count], highs[level][later : later + count])
        return magnitude(high - low)

    while 2 * lengths[-1] <= len(points) and widths(lengths[-1]).min() <= width:
        half = lengths[-1]
        lows.append(np.minimum(lows[-1][:-half], lows[-1][half:]))
        highs.append(np.maximum(highs[-1][:-half], highs[-1][half:]))
        lengths.append(2 * half)
    # Parts of what fits do fit, so the longest length is found by halving.
    fits, too_long = 1, min(2 * lengths[-1], len(points) + 1)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if widths(middle).min() <= width else (fits, middle)
    first = int(np.argmin(widths(fits)))
    return first, first + fits - 1


def mean_turns(turns: Sequence[Array]) -> Array:
    """Chordal mean `(k, 3, 3)` of each of several stacks of rotations `(n, 3, 3)`."""
    return nearest_rotation(np.array([stack.sum(axis=0) / len(stack) for stack in turns]).reshape(-1, 3, 3))


_Held = tuple[int, int, bool]
"""First and last row of a contact, and whether it is of the ball."""

_Link = tuple[int, int, int | None]
"""Heel and ball, among all that are held, and the stand on both that links them; `None` where the foot rolls between them."""


class _Member(NamedTuple):
    """One of the contacts that are linked."""

    held: int
    """Which of all."""
    before: int
    """The one that it is linked to, itself for the first of a group."""
    side: float = 1.0
    """-1 if the link leads from ball to heel."""
    link: _Link | None = None


Heights = Callable[[Array, bool, int], float]
"""Maps a place `(3,)`, whether the point is the ball, and the row at which its contact begins to the point's height there."""

HEIGHT_ITERATIONS = 3
"""Iterations between places and heights: a place decides its height, and the heights decide how far heel and ball are apart."""


def find_pins(foot: Foot, on_heel: Mask, on_ball: Mask, heights: Heights | None = None, resting: Resting | None = None) -> Pins:
    """Pins of a foot whose heel and ball stand at `(F,)`, as near as possible to the animated positions.

    heights : gives the pins the heights of their points on the ground; `None` keeps the animated heights
    resting : pins are where the foot rests longest; with `None`, and where it never rests, in the middle of its way
    """
    contacts = FootContacts.of(foot, on_heel, on_ball, resting)
    return contacts.pins() if heights is None else contacts.pins_on(heights)


@dataclass(frozen=True, slots=True)
class FootContacts:
    """All contacts of a foot, and which of them the rigid foot links."""

    foot: Foot
    held: list[_Held]
    stands: list[Stand]
    """As animated."""
    ends: list[tuple[int, int]]
    """Heel and ball of each stand."""
    links: list[_Link]
    rolling: dict[_Link, Array]
    """Vector `(3,)` from heel to ball of each link by which the foot rolls."""
    groups: list[list[_Member]]
    """Those that are linked, directly or through others."""
    seen: list[Array]
    """`(n, 3)` positions of each held point that decide its place: while it rests, none while another does, else all."""

    @classmethod
    def of(cls, foot: Foot, on_heel: Mask, on_ball: Mask, resting: Resting | None = None) -> FootContacts:
        """The contacts of a foot whose heel and ball stand at `(F,)`."""
        held = [(*run, False) for run in runs(on_heel)] + [(*run, True) for run in runs(on_ball)]
        both = runs(on_heel & on_ball)
        ends = _heels_and_balls(both, held)
        links, rolling = _links(foot, held, ends)
        groups = _groups(len(held), links)
        points = foot.points(foot.heel), foot.points(foot.ball)
        counted = [(first, last) for first, last, _ in held]
        seen = [points[is_ball][first : last + 1] for first, last, is_ball in held]
        for group in groups:
            numbers = [member.held for member in group]
            rest = _longest_rest(points, held, numbers, resting) if resting is not None else None
            if rest is not None:
                for number in numbers:
                    counted[number] = max(held[number][0], rest.first), min(held[number][1], rest.last)
                    seen[number] = np.empty((0, 3))
                seen[rest.held] = _box(points[rest.is_ball][rest.first : rest.last + 1])
        stood = [_common(row, counted[heel], counted[ball]) for row, (heel, ball) in zip(both, ends, strict=True)]
        turns = mean_turns([foot.turns[first : last + 1] for first, last in stood])
        stands = [Stand(*run, turn) for run, turn in zip(both, turns, strict=True)]
        return cls(foot, held, stands, ends, links, rolling, groups, seen)

    def pins(self) -> Pins:
        """The pins at the animated heights."""
        return self._pinned(self._places(self.stands), self.stands)

    def pins_on(self, heights: Heights) -> Pins:
        """The pins at the heights of their points on the ground."""
        places, stands = self._places(self.stands), self.stands
        for _ in range(HEIGHT_ITERATIONS):
            _put_down(places, self.held, heights)
            stands = _with_rises(self.foot, stands, self.ends, places)
            places = self._places(stands)
        _put_down(places, self.held, heights)
        stands = _with_rises(self.foot, stands, self.ends, places)
        for stand, (heel, ball) in zip(stands, self.ends, strict=True):
            # The last turn has moved the ball a little off its fitted place; a rigid foot goes by its heel.
            places[ball] = places[heel] + self.foot.across(stand.turn, slice(stand.first, stand.last + 1))
        return self._pinned(places, stands)

    def _pinned(self, places: list[Array], stands: list[Stand]) -> Pins:
        pins = [Pin(first, last, is_ball, place) for (first, last, is_ball), place in zip(self.held, places, strict=True)]
        return Pins(pins, stands)

    def _places(self, stands: list[Stand]) -> list[Array]:
        """Places `(3,)` of all held points: each linked group moves as one to the mean of its animated positions."""
        ways = {}
        for link in self.links:
            stand = None if link[2] is None else stands[link[2]]
            over = None if stand is None else self.foot.across(stand.turn, slice(stand.first, stand.last + 1))
            ways[link] = self.rolling[link] if over is None else over
        offsets = np.zeros((len(self.held), 3))
        members = [member for group in self.groups for member in group]
        for member in members:
            if member.link is not None:
                offsets[member.held] = offsets[member.before] + member.side * ways[member.link]
        places = [np.zeros(3)] * len(self.held)
        for group in self.groups:
            moved = np.concatenate([self.seen[member.held] - offsets[member.held] for member in group])
            middle = np.add.reduce(moved, axis=0) / len(moved)
            for member in group:
                places[member.held] = middle + offsets[member.held]
        return places


class _Rest(NamedTuple):
    """The longest rest of linked contacts."""

    held: int
    """Which of all contacts rests."""
    is_ball: bool
    first: int
    last: int


def _longest_rest(points: tuple[Array, Array], held: Sequence[_Held], numbers: Sequence[int], resting: Resting) -> _Rest | None:
    """The longest rest of linked contacts of heel and ball, at `points` `(F, 3)`; `None` if none rests.

    A heel whose ball rests goes where that leaves it: nobody sees a heel slide by millimetres below a foot that rolls.
    """
    for is_keyed, which in product((True,) if resting.only_keyed else (True, False), (True, False)):
        chosen = [number for number in numbers if held[number][2] is which]
        rest = resting.longest([points[which][held[number][0] : held[number][1] + 1] for number in chosen], is_keyed=is_keyed)
        if rest is not None:
            number, first, last = chosen[rest[0]], *(held[chosen[rest[0]]][0] + row for row in rest[1:])
            return _Rest(number, which, first, last)
    return None


def _box(path: Array) -> Array:
    """Both ends `(2, 3)` of the box around a path `(n, 3)`: its middle is the place from which no row is far."""
    return np.stack([path.min(axis=0), path.max(axis=0)])


def _common(*rows: tuple[int, int]) -> tuple[int, int]:
    """First and last row that are in all of several; those of the first if there are none."""
    first, last = max(first for first, _ in rows), min(last for _, last in rows)
    return (first, last) if first <= last else rows[0]


def _put_down(places: list[Array], held: list[_Held], heights: Heights) -> None:
    """Set the heights of the places to those of their points on the ground, in place."""
    for place, (first, _, is_ball) in zip(places, held, strict=True):
        place[2] = heights(place, is_ball, first)


def _heels_and_balls(both: Sequence[tuple[int, int]], held: list[_Held]) -> list[tuple[int, int]]:
    """Indices in `held`, heels before balls, of the heel and ball of each time at which both stand."""
    heels = sum(not is_ball for *_, is_ball in held)
    starts, begins = np.array([first for first, *_ in held]), [first for first, _ in both]
    heel = np.searchsorted(starts[:heels], begins, side="right") - 1
    ball = heels + np.searchsorted(starts[heels:], begins, side="right") - 1
    return list(zip(heel.tolist(), ball.tolist(), strict=True))


def _with_rises(foot: Foot, stands: list[Stand], ends: Sequence[tuple[int, int]], places: list[Array]) -> list[Stand]:
    """The stands with the smallest turns that give each ball the same rise over its heel as their places have."""
    if not stands:
        return stands
    rises = np.array([places[ball][2] - places[heel][2] for heel, ball in ends])
    turns = levelled(np.array([stand.turn for stand in stands]), foot.ball - foot.heel, rises)
    return [replace(stand, turn=turn) for stand, turn in zip(stands, turns, strict=True)]


def levelled(turns: Array, across: Array, rises: Array | float) -> Array:
    """The rotations nearest to `turns` `(..., 3, 3)` for which a vector of the foot, `across` `(3,)`, rises by `rises` `(...)`.

    If the vector is vertical, or too short to rise that far, it has no horizontal direction to keep, and the turn is returned.
    """
    ways = turns @ across
    lengths, levels = np.linalg.norm(ways, axis=-1), np.hypot(ways[..., 0], ways[..., 1])
    flat = np.sqrt(np.maximum(0.0, lengths**2 - np.square(rises)))
    can_turn = (levels != 0.0) & (flat != 0.0)
    shortened = np.divide(flat, levels, out=np.zeros_like(flat), where=can_turn)
    risen = np.stack([ways[..., 0] * shortened, ways[..., 1] * shortened, np.where(can_turn, rises, 0.0)], axis=-1)
    lengths = np.where(can_turn, lengths, 1.0)[..., None]
    return np.where(can_turn[..., None, None], least_turn(ways / lengths, risen / lengths) @ turns, turns)


def _links(foot: Foot, held: list[_Held], ends: Sequence[tuple[int, int]]) -> tuple[list[_Link], dict[_Link, Array]]:
    """Pairs of held points, heel and ball, that the rigid foot links, and the vectors `(3,)` of those between which it rolls."""
    links: list[_Link] = []
    balls = [(ball, start, end) for ball, (start, end, is_ball) in enumerate(held) if is_ball]
    firsts, lasts = [start for _, start, _ in balls], [end for _, _, end in balls]
    common: dict[tuple[int, int], int] = {}
    for number, both in enumerate(ends):
        common.setdefault(both, number)
    rolls: dict[_Link, Indices] = {}
    for heel, (first, last, is_ball) in enumerate(held):
        near = range(0) if is_ball else range(bisect_left(lasts, first - 1), bisect_right(firsts, last + 1))
        for ball, start, end in (balls[number] for number in near):
            links.append((heel, ball, common.get((heel, ball))))
            if (heel, ball) not in common:
                # Without a common stand the foot rolls over from heel to ball, or back, from one frame to the next.
                rolls[links[-1]] = np.array([min(last, end), max(first, start)])
    turns = mean_turns([foot.turns[rows] for rows in rolls.values()])
    return links, {link: foot.across(turn, rows) for (link, rows), turn in zip(rolls.items(), turns, strict=True)}


def _groups(count: int, links: Sequence[_Link]) -> list[list[_Member]]:
    """Which of `count` held points are linked, directly or through others."""
    linked: list[list[_Member]] = [[] for _ in range(count)]
    for link in links:
        heel, ball, _ = link
        linked[heel].append(_Member(ball, heel, 1.0, link))
        linked[ball].append(_Member(heel, ball, -1.0, link))
    groups: list[list[_Member]] = []
    known: set[int] = set()
    for root in range(count):
        if root in known:
            continue
        known.add(root)
        groups.append([_Member(root, root)])
        # The list grows while it is walked: each member brings in all that it is linked to.
        for member in groups[-1]:
            for other in linked[member.held]:
                if other.held not in known:
                    known.add(other.held)
                    groups[-1].append(other)
    return groups
