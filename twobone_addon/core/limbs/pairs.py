"""Limbs in pairs, by the numbers of their bones: what searches, votes and names hand on to one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .body.facing import Place
from .body.judging import Kind
from .body.shapes import Reason
from .skeleton import Skeleton

LimbKey: TypeAlias = tuple[int, int]
"""Upper and lower bone."""


@dataclass(frozen=True, slots=True)
class LimbBones:
    """The bones of a limb, by number."""

    upper: int
    lower: int
    tip: int
    """The lower bone where the tip is its tail."""
    toe: int
    """-1 without one."""
    last: int
    """Bone that begins furthest along the limb."""

    @property
    def key(self) -> LimbKey:
        """What poses vote on."""
        return self.upper, self.lower


@dataclass(frozen=True, slots=True)
class LimbPair:
    """The limbs of both sides, or the only one."""

    kind: Kind
    place: Place
    both: tuple[LimbBones, ...]
    left: float
    """How far the first one is to the left of the second one, negative to its right."""
    hand: bool = False
    """Whether it ends in fingers."""
    against: Kind | Reason | None = None
    """What the shape says where names decide otherwise."""

    @property
    def key(self) -> tuple[LimbKey, ...]:
        """Both limbs."""
        return tuple(sorted(each.key for each in self.both))

    def swapped(self) -> LimbPair:
        """The same with its sides the other way round."""
        return replace(self, both=self.both[::-1], left=-self.left)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    pairs: tuple[LimbPair, ...] = ()
    left_out: tuple[tuple[tuple[int, ...], Reason], ...] = ()
    """First bones of both sides, or of the only one, and what speaks against them."""


NOTHING = Found()


def without_listed(skeleton: Skeleton, found: Found) -> Found:
    """The same with each branch left out once, and none of which a part is a limb."""
    listed = {bone for pair in found.pairs for each in pair.both for bone in (*skeleton.way_up(each.upper), each.lower, each.tip)}
    kept: dict[tuple[int, ...], Reason] = {}
    for bones, reason in found.left_out:
        above = {bone for first in bones for bone in skeleton.way_up(first)}
        if not listed & set(bones) and not any(above & set(other) for other in kept):
            kept[bones] = reason
    return replace(found, left_out=tuple(kept.items()))


def in_order(pairs: Sequence[LimbPair]) -> tuple[LimbPair, ...]:
    """Legs first, each kind from the front."""
    kinds = list(Kind)
    ordered = sorted(pairs, key=lambda pair: (kinds.index(pair.kind), pair.place.number))
    count = Counter(pair.kind for pair in ordered)
    numbers: Counter[Kind] = Counter()
    found = []
    for pair in ordered:
        found.append(replace(pair, place=Place(numbers[pair.kind], count[pair.kind])))
        numbers[pair.kind] += 1
    return tuple(found)
