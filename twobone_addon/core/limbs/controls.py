"""The bones that pose a limb: of all that begin at its joints those that nothing else turns, and that the rest follows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ..array_types import Array
from .skeleton import Skeleton
from .tree.joints import SAME_PLACE

WHOLE = 0.8
"""Length from which a control is as long as what it poses."""

ALIGNED = 0.99
"""Cosine from which it lies as that does."""


@dataclass(frozen=True, slots=True)
class PosingBones:
    """Bones of a limb, by their number."""

    upper: int
    lower: int
    tip: int
    """Bone whose head is the tip, or the lower one where the tip is its tail."""


class Controls:
    """Finds the bones that pose the visible ones."""

    def __init__(self, skeleton: Skeleton) -> None:
        """Take the bones."""
        self._skeleton = skeleton
        self._tolerance = SAME_PLACE * skeleton.size
        self._known: dict[bytes, list[int]] = {}

    def posing(self, root: Array, mid: Array, tip: Array, shown: Sequence[int]) -> PosingBones:
        """The bones whose heads are at these places `(3,)`; `shown` are the visible upper, lower and tip bones."""
        followed = self._followed(shown)
        pairs = self._pairs(root, mid)
        upper, lower = max(pairs, key=lambda pair: self._worth(pair, shown, followed), default=(shown[0], shown[1]))
        return PosingBones(upper, lower, self._tip(lower, tip, shown, followed))

    def turn(self, root: Array, mid: Array, other: Array) -> bool:
        """Whether bones that nothing else turns begin at two places `(3,)`, one hanging from the other by such bones.

        The upper one turns one side only: it has no child at the `other` side's middle joint.
        """
        free = [pair for pair in self._pairs(root, mid) if not self._skeleton.between(*pair) & self._skeleton.bound]
        beyond = {above for bone in self._at(other) for above in self._above(bone)}
        return any(upper not in beyond for upper, _ in free)

    def _pairs(self, root: Array, mid: Array) -> list[tuple[int, int]]:
        return [(upper, lower) for upper, lower in product(self._at(root), self._at(mid)) if upper in self._above(lower)]

    def below(self, bone: int, place: Array, shown: int) -> int:
        """Of the bones below another one that begin at a place the one that poses what is `shown` there; -1 for none."""
        return self._best([each for each in self._at(place) if bone in self._above(each)], shown, self._followed([shown]))

    def anywhere(self, place: Array, shown: int) -> int:
        """Of all bones that begin at a place the one that poses what is `shown` there."""
        followed = self._followed([shown])
        return self._best([each for each in self._at(place) if each in followed], shown, followed)

    def _tip(self, lower: int, tip: Array, shown: Sequence[int], followed: Sequence[int]) -> int:
        if shown[2] == shown[1]:
            return lower
        best = self._best([each for each in self._at(tip) if lower in self._above(each)], shown[2], followed)
        return best if best >= 0 else lower

    def _best(self, bones: Sequence[int], shown: int, followed: Sequence[int]) -> int:
        if shown in bones and shown not in self._skeleton.bound:
            return shown
        free = [each for each in bones if each not in self._skeleton.bound]
        copied = {other for _, other in self._skeleton.copies}
        ranked = sorted(
            free,
            key=lambda each: (
                each not in followed,
                each not in copied,
                not self._is_like(each, shown),
                followed.index(each) if each in followed else 0,
            ),
        )
        return next(iter([*ranked, *bones]), -1)

    def _is_like(self, bone: int, shown: int) -> bool:
        """Whether a bone lies as a visible one does, and is about as long: tweaks are shorter, pivots lie otherwise."""
        own, seen = (self._skeleton.tails[each] - self._skeleton.heads[each] for each in (bone, shown))
        length = float(np.linalg.norm(own))
        return length >= WHOLE * float(np.linalg.norm(seen)) and float(own @ seen) >= ALIGNED * length * float(
            np.linalg.norm(seen)
        )

    def _worth(self, pair: tuple[int, int], shown: Sequence[int], followed: Sequence[int]) -> tuple[int, ...]:
        """To be compared: free bones that the rest follows; the visible ones; the nearest above the lower, the highest of it."""
        upper, lower = pair
        bound = sum(bone in self._skeleton.bound for bone in pair)
        between = self._above(lower).index(upper)
        return (
            -bound,
            sum(bone in followed for bone in pair),
            sum(bone in shown for bone in pair),
            -between,
            -len(self._above(lower)),
        )

    def _followed(self, bones: Iterable[int]) -> list[int]:
        """The bones, and all that they copy or hang from by constraints or as children, nearest first."""
        found: dict[int, None] = {}
        ways = deque(bones)
        while ways:
            bone = ways.popleft()
            if bone >= 0 and bone not in found:
                found[bone] = None
                ways.extend([*self._copied.get(bone, ()), self._skeleton.parents[bone]])
        return list(found)

    @cached_property
    def _copied(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for bone, other in self._skeleton.copies:
            found.setdefault(bone, []).append(other)
        return found

    def _at(self, place: Array) -> list[int]:
        key = place.tobytes()
        if key not in self._known:
            distances = np.linalg.norm(self._skeleton.heads - place, axis=1)
            self._known[key] = np.flatnonzero(distances <= self._tolerance).tolist()
        return self._known[key]

    def _above(self, bone: int) -> list[int]:
        return self._skeleton.way_up(bone)[1:]
