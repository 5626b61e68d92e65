"""Records of paired limbs, by bone indices, that the search stages pass to one another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...records import replace
from .body.facing import LimbIndex
from .body.judging import LimbKind
from .body.shapes import Reason
from .names import BEHIND, FRONT, Family
from .skeleton import Skeleton

LimbKey: TypeAlias = tuple[int, int]
"""Indices of the upper and lower bone."""


@dataclass(frozen=True, slots=True)
class LimbBones:
    """Bone indices of a limb."""

    upper: int
    lower: int
    tip: int
    """The lower bone where the tip is its tail."""
    toe: int
    """-1 where there is none."""
    last: int
    """Bone that begins furthest along the limb."""

    @property
    def key(self) -> LimbKey:
        """Identity of the limb when poses vote."""
        return self.upper, self.lower


@dataclass(frozen=True, slots=True)
class LimbPair:
    """A limb of each side, or the only one."""

    kind: LimbKind
    place: LimbIndex
    both: tuple[LimbBones, ...]
    left: float
    """Positive where the first limb is left of the second, negative where it is right, 0 where unknown."""
    hand: bool = False
    """Whether the limbs end in fingers."""
    named: Family | None = None
    """What names that are trusted call it."""
    against: LimbKind | Reason | None = None
    """Verdict of the geometry where the names overruled it."""

    @property
    def key(self) -> tuple[LimbKey, ...]:
        """Sorted keys of its limbs."""
        return tuple(sorted(bones.key for bones in self.both))


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search."""

    pairs: tuple[LimbPair, ...] = ()
    left_out: tuple[tuple[tuple[int, ...], Reason], ...] = ()
    """First bone of each rejected branch (both sides, or the only one) and the reason."""

    @property
    def shape(self) -> frozenset[tuple[tuple[LimbKey, ...], LimbKind]]:
        """What must be alike in all poses: the bones of each pair, and its kind."""
        return frozenset((pair.key, pair.kind) for pair in self.pairs)


NOTHING = Found()


def without_listed(skeleton: Skeleton, found: Found) -> Found:
    """The findings without repeated rejected branches and without those that contain a found limb."""
    limbs = [bones for pair in found.pairs for bones in pair.both]
    listed = {bone for limb in limbs for bone in (*skeleton.way_up(limb.upper), limb.lower, limb.tip)}
    kept: dict[tuple[int, ...], Reason] = {}
    for bones, reason in found.left_out:
        above = {bone for first in bones for bone in skeleton.way_up(first)}
        if not listed & set(bones) and not any(above & set(other) for other in kept):
            kept[bones] = reason
    return replace(found, left_out=tuple(kept.items()))


def in_order(pairs: Sequence[LimbPair], names: Sequence[str]) -> tuple[LimbPair, ...]:
    """The pairs sorted and renumbered: legs first, each kind from the front.

    A body that rears up does not show its front: where all bone `names` of two pairs of legs say which is before, they decide.
    """
    kinds = list(LimbKind)

    def says(pair: LimbPair, words: re.Pattern[str]) -> bool:
        return all(words.search(names[bone]) for limb in pair.both for bone in limb.key)

    legs = [pair for pair in pairs if pair.kind is LimbKind.LEG]
    before, behind = ([pair.key for pair in legs if says(pair, words)] for words in (FRONT, BEHIND))
    is_said = len(before) == len(behind) == 1 and before != behind and len(legs) == len(before + behind)
    said = {before[0]: 0, behind[0]: 1} if is_said else {}
    ordered = sorted(pairs, key=lambda pair: (kinds.index(pair.kind), said.get(pair.key, pair.place.number)))
    count = Counter(pair.kind for pair in ordered)
    numbers: Counter[LimbKind] = Counter()
    numbered = []
    for pair in ordered:
        numbered.append(replace(pair, place=LimbIndex(numbers[pair.kind], count[pair.kind])))
        numbers[pair.kind] += 1
    return tuple(numbered)
