"""Where the points of a foot stand: one place for each time that a point is on the ground, all of a stance fitting one foot.

While the heel stands the foot turns about the heel, while the ball stands about the ball; while both stand it keeps one
orientation. So the places of heel and ball of one stance are as far from each other as they are on the foot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array, Indices, Mask
from ..contacts.states import runs
from ..rig.rotations import least_turn, nearest_rotation


@dataclass(frozen=True, slots=True)
class Foot:
    """A foot at every frame, in the space of the ground on which it stands."""

    ankles: Array
    """`(F, 3)`"""
    turns: Array
    """`(F, 3, 3)` rotations."""
    heel: Array
    """`(3,)` from the ankle, in the foot's own axes."""
    ball: Array
    """`(3,)` likewise."""
    stretches: Array | None = None
    """`(F, 3, 3)` by which an uneven scale above the foot stretches it after it has been turned; `None` where that is even."""

    def points(self, offset: Array) -> Array:
        """A point of the foot `(3,)` at every frame, `(F, 3)`."""
        return self.ankles + self.ways(self.turns, offset)

    def ways(self, turns: Array, offset: Array) -> Array:
        """From the ankle to a point `(3,)` if the foot was turned by `turns` `(F, 3, 3)`, `(F, 3)`."""
        # As one product, a tenth of the time.
        ways = (turns.reshape(-1, 3) @ offset).reshape(-1, 3)
        return ways if self.stretches is None else (self.stretches @ ways[..., None])[..., 0]

    def across(self, turn: Array, rows: Indices | slice) -> Array:
        """From heel to ball `(3,)` if the foot was turned by `turn` `(3, 3)` at some of the frames."""
        way = turn @ (self.ball - self.heel)
        return way if self.stretches is None else self.stretches[rows].mean(axis=0) @ way

    def on(self, rows: slice | Indices) -> Foot:
        """The same at some of its frames."""
        stretches = None if self.stretches is None else self.stretches[rows]
        return replace(self, ankles=self.ankles[rows], turns=self.turns[rows], stretches=stretches)


@dataclass(frozen=True, slots=True)
class Pin:
    """A point of the foot that stands from a row to another."""

    first: int
    last: int
    is_ball: bool
    place: Array
    """`(3,)` in the ground's space."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Rows in which heel and ball stand, and the orientation `(3, 3)` that the foot keeps."""

    first: int
    last: int
    turn: Array


@dataclass(frozen=True, slots=True)
class Pins:
    """All that a foot stands on."""

    pins: list[Pin]
    stands: list[Stand]


def mean_turns(turns: Sequence[Array]) -> Array:
    """Of each of several `turns` `(n, 3, 3)` the rotation nearest to all of them, `(k, 3, 3)`: the chordal mean."""
    return nearest_rotation(np.array([each.sum(axis=0) / len(each) for each in turns]).reshape(-1, 3, 3))


_Held = tuple[int, int, bool]

Heights = Callable[[Array, bool, int], float]
"""From a place `(3,)` to the height that a point has there on the ground: of the heel, or of the ball if that is meant; with
the row at which it comes to stand."""

ROUNDS = 3
"""Where a point is put down decides how high it is, and that how far it is from the other one."""


def find_pins(foot: Foot, on_heel: Mask, on_ball: Mask, heights: Heights | None = None) -> Pins:
    """The pins of a foot whose heel and ball stand at `(F,)`: as near as can be to where the points are anyway.

    heights : of the points on the ground, which the pins are to have; `None` leaves them their own
    """
    held = [(*run, False) for run in runs(on_heel)] + [(*run, True) for run in runs(on_ball)]
    both = runs(on_heel & on_ball)
    turns = mean_turns([foot.turns[first : last + 1] for first, last in both])
    stands = [Stand(*run, turn) for run, turn in zip(both, turns, strict=True)]
    places = _placed(foot, held, _links(foot, held, stands))
    if heights is not None:
        for _ in range(ROUNDS):
            _put_down(places, held, heights)
            stands = [_laid(foot, stand, held, places) for stand in stands]
            places = _placed(foot, held, _links(foot, held, stands))
        _put_down(places, held, heights)
        stands = [_laid(foot, stand, held, places) for stand in stands]
        for stand in stands:
            heel, ball = _pair(stand, held)
            places[ball] = places[heel] + foot.across(stand.turn, slice(stand.first, stand.last + 1))
    pins = [Pin(first, last, is_ball, place) for (first, last, is_ball), place in zip(held, places, strict=True)]
    return Pins(pins, stands)


def _put_down(places: list[Array], held: list[_Held], heights: Heights) -> None:
    """Give the places the heights that their points have on the ground, in place."""
    for place, (first, _, is_ball) in zip(places, held, strict=True):
        place[2] = heights(place, is_ball, first)


def _pair(stand: Stand, held: list[_Held]) -> tuple[int, int]:
    """Which of the held points, heels before balls, are heel and ball of a stand."""
    heel, ball = (number for number, (first, last, _) in enumerate(held) if first <= stand.first and stand.last <= last)
    return heel, ball


def _laid(foot: Foot, stand: Stand, held: list[_Held], places: list[Array]) -> Stand:
    """A stand turned as little as can be so that its ball rises over its heel as the places do."""
    heel, ball = _pair(stand, held)
    return replace(stand, turn=levelled(stand.turn, foot.ball - foot.heel, places[ball][2] - places[heel][2]))


def levelled(turn: Array, across: Array, rise: float) -> Array:
    """The rotation nearest to `turn` `(3, 3)` with which a vector of the foot, `across` `(3,)`, rises by `rise`.

    A vector that stands upright, or that is too short to rise so far, has no direction to keep, and is left as it is.
    """
    way = turn @ across
    length, level = np.linalg.norm(way), np.hypot(way[0], way[1])
    flat = np.sqrt(max(0.0, length**2 - rise**2))
    if not level or not flat:
        return turn
    wanted = np.array([way[0] * flat / level, way[1] * flat / level, rise])
    return least_turn(way / length, wanted / length) @ turn


def _links(foot: Foot, held: list[_Held], stands: list[Stand]) -> list[tuple[int, int, Array]]:
    """Pairs of held points whose distance the foot decides, with the way `(3,)` from the first to the second."""
    pairs: list[tuple[int, int, Stand | None, Indices]] = []
    balls = [(other, start, end) for other, (start, end, is_ball) in enumerate(held) if is_ball]
    starts, ends = np.array([start for _, start, _ in balls]), np.array([end for _, _, end in balls])
    for one, (first, last, is_ball) in enumerate(held):
        near = [] if is_ball else np.flatnonzero((starts <= last + 1) & (ends >= first - 1)).tolist()
        for other, start, end in (balls[number] for number in near):
            common = (stand for stand in stands if first <= stand.first <= last and start <= stand.first <= end)
            # From one frame to the next the foot rolls over from heel to ball, or back.
            pairs.append((one, other, next(common, None), np.array([min(last, end), max(first, start)])))
    rolling = iter(mean_turns([foot.turns[rows] for _, _, common, rows in pairs if common is None]))
    return [
        (one, other, foot.across(next(rolling), rows))
        if common is None
        else (one, other, foot.across(common.turn, slice(common.first, common.last + 1)))
        for one, other, common, rows in pairs
    ]


def _placed(foot: Foot, held: list[_Held], links: list[tuple[int, int, Array]]) -> list[Array]:
    """Places `(3,)` of all held points: those that are linked move as one, to where their points are on average."""
    points = foot.points(foot.heel), foot.points(foot.ball)
    seen = [points[is_ball][first : last + 1] for first, last, is_ball in held]
    offsets: list[Array | None] = [None] * len(held)
    places: list[Array] = [np.zeros(3)] * len(held)
    for root in range(len(held)):
        if offsets[root] is not None:
            continue
        offsets[root] = np.zeros(3)
        group = [root]
        for member in group:
            for one, other, way in links:
                for here, there, step in ((one, other, way), (other, one, -way)):
                    if here == member and offsets[there] is None:
                        offsets[there] = offsets[here] + step
                        group.append(there)
        known = [(member, offsets[member]) for member in group]
        middle = np.concatenate([seen[member] - offset for member, offset in known if offset is not None]).mean(axis=0)
        for member, offset in known:
            places[member] = middle if offset is None else middle + offset
    return places
