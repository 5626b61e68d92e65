"""Pins of a foot: one fixed place per contact of its heel or ball, consistent with a rigid foot within each stance.

While only the heel or only the ball stands, the foot turns about it; while both stand, it keeps one orientation. So the pins of
heel and ball of one stance are as far apart as the points are on the foot.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...records import replace
from ..array_types import Array, Indices, Mask
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
        ways = (turns.reshape(-1, 3) @ offset).reshape(-1, 3)
        return ways if self.stretches is None else (self.stretches @ ways[..., None])[..., 0]

    def across(self, turn: Array, rows: Indices | slice) -> Array:
        """Vector `(3,)` from heel to ball for a foot with orientation `turn` `(3, 3)` and its mean stretch at `rows`."""
        way = turn @ (self.ball - self.heel)
        return way if self.stretches is None else self.stretches[rows].mean(axis=0) @ way

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


def mean_turns(turns: Sequence[Array]) -> Array:
    """Chordal mean `(k, 3, 3)` of each of several stacks of rotations `(n, 3, 3)`."""
    return nearest_rotation(np.array([stack.sum(axis=0) / len(stack) for stack in turns]).reshape(-1, 3, 3))


_Held = tuple[int, int, bool]
"""First and last row of a contact, and whether it is of the ball."""

Heights = Callable[[Array, bool, int], float]
"""Maps a place `(3,)`, whether the point is the ball, and the row at which its contact begins to the point's height there."""

HEIGHT_ITERATIONS = 3
"""Iterations between places and heights: a place decides its height, and the heights decide how far heel and ball are apart."""


def find_pins(foot: Foot, on_heel: Mask, on_ball: Mask, heights: Heights | None = None) -> Pins:
    """Pins of a foot whose heel and ball stand at `(F,)`, as near as possible to the animated positions.

    heights : gives the pins the heights of their points on the ground; `None` keeps the animated heights
    """
    held = [(*run, False) for run in runs(on_heel)] + [(*run, True) for run in runs(on_ball)]
    both = runs(on_heel & on_ball)
    turns = mean_turns([foot.turns[first : last + 1] for first, last in both])
    stands = [Stand(*run, turn) for run, turn in zip(both, turns, strict=True)]
    ends = _heels_and_balls(stands, held)
    places = _fitted_places(foot, held, _links(foot, held, stands, ends))
    if heights is not None:
        for _ in range(HEIGHT_ITERATIONS):
            _put_down(places, held, heights)
            stands = _with_rises(foot, stands, ends, places)
            places = _fitted_places(foot, held, _links(foot, held, stands, ends))
        _put_down(places, held, heights)
        stands = _with_rises(foot, stands, ends, places)
        for stand, (heel, ball) in zip(stands, ends, strict=True):
            # The last turn has moved the ball a little off its fitted place; a rigid foot goes by its heel.
            places[ball] = places[heel] + foot.across(stand.turn, slice(stand.first, stand.last + 1))
    pins = [Pin(first, last, is_ball, place) for (first, last, is_ball), place in zip(held, places, strict=True)]
    return Pins(pins, stands)


def _put_down(places: list[Array], held: list[_Held], heights: Heights) -> None:
    """Set the heights of the places to those of their points on the ground, in place."""
    for place, (first, _, is_ball) in zip(places, held, strict=True):
        place[2] = heights(place, is_ball, first)


def _heels_and_balls(stands: Sequence[Stand], held: list[_Held]) -> list[tuple[int, int]]:
    """Indices in `held`, heels before balls, of the heel and ball of each stand."""
    heels = sum(not is_ball for *_, is_ball in held)
    starts, begins = np.array([first for first, *_ in held]), [stand.first for stand in stands]
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


def _links(foot: Foot, held: list[_Held], stands: list[Stand], ends: Sequence[tuple[int, int]]) -> list[tuple[int, int, Array]]:
    """Pairs of held points, heel and ball, that the rigid foot links, with the vector `(3,)` from heel to ball."""
    pairs: list[tuple[int, int, Stand | None, Indices]] = []
    balls = [(ball, start, end) for ball, (start, end, is_ball) in enumerate(held) if is_ball]
    firsts, lasts = [start for _, start, _ in balls], [end for _, _, end in balls]
    common: dict[tuple[int, int], Stand] = {}
    for both, stand in zip(ends, stands, strict=True):
        common.setdefault(both, stand)
    for heel, (first, last, is_ball) in enumerate(held):
        near = range(0) if is_ball else range(bisect_left(lasts, first - 1), bisect_right(firsts, last + 1))
        for ball, start, end in (balls[number] for number in near):
            # Without a common stand the foot rolls over from heel to ball, or back, from one frame to the next.
            pairs.append((heel, ball, common.get((heel, ball)), np.array([min(last, end), max(first, start)])))
    rolling = iter(mean_turns([foot.turns[rows] for _, _, stand, rows in pairs if stand is None]))
    return [
        (heel, ball, foot.across(next(rolling), rows))
        if stand is None
        else (heel, ball, foot.across(stand.turn, slice(stand.first, stand.last + 1)))
        for heel, ball, stand, rows in pairs
    ]


def _fitted_places(foot: Foot, held: list[_Held], links: list[tuple[int, int, Array]]) -> list[Array]:
    """Places `(3,)` of all held points: each linked group moves as one to the mean of its animated positions."""
    points = foot.points(foot.heel), foot.points(foot.ball)
    seen = [points[is_ball][first : last + 1] for first, last, is_ball in held]
    offsets: list[Array | None] = [None] * len(held)
    places: list[Array] = [np.zeros(3)] * len(held)
    linked: list[list[tuple[int, Array]]] = [[] for _ in held]
    for one, other, way in links:
        linked[one].append((other, way))
        linked[other].append((one, -way))
    for root in range(len(held)):
        if offsets[root] is not None:
            continue
        offsets[root] = np.zeros(3)
        group = [root]
        # The list grows while it is walked: each member brings in all that it is linked to.
        for member in group:
            for there, step in linked[member]:
                if offsets[there] is None:
                    offsets[there] = offsets[member] + step
                    group.append(there)
        known = [(member, offsets[member]) for member in group]
        middle = np.concatenate([seen[member] - offset for member, offset in known if offset is not None]).mean(axis=0)
        for member, offset in known:
            places[member] = middle if offset is None else middle + offset
    return places
