"""Find the bones that pose a limb: those at its joints that no constraint turns and that the other bones follow."""

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

FULL_LENGTH = 0.8
"""Least length of a control, relative to the visible bone, that counts as equally long."""

ALIGNED = 0.99
"""Least cosine between control and visible bone that counts as aligned."""


@dataclass(frozen=True, slots=True)
class PosingBones:
    """Indices of the bones that pose a limb."""

    upper: int
    lower: int
    tip: int
    """Bone whose head is the tip; the lower bone where the tip is its tail."""


class Controls:
    """Finds the bones that pose the visible bones."""

    def __init__(self, skeleton: Skeleton) -> None:
        """Search in `skeleton`."""
        self._skeleton = skeleton
        self._tolerance = SAME_PLACE * skeleton.size
        self._bones_at: dict[bytes, list[int]] = {}

    def posing(self, root: Array, mid: Array, tip: Array, shown: Sequence[int]) -> PosingBones:
        """The posing bones with heads at these points `(3,)`; `shown` are the visible upper, lower and tip bones."""
        followed = self._followed(shown)
        pairs = self._pairs(root, mid)
        upper, lower = max(pairs, key=lambda pair: self._rank(pair, shown, followed), default=(shown[0], shown[1]))
        return PosingBones(upper, lower, self._tip(lower, tip, shown, followed))

    def turn(self, root: Array, mid: Array, other: Array) -> bool:
        """Whether unbound bones begin at two points `(3,)`, the second below the first with only unbound bones between.

        The upper bone must turn one side only: no bone at the `other` side's middle joint may be below it.
        """
        free = [pair for pair in self._pairs(root, mid) if not self._skeleton.between(*pair) & self._skeleton.bound]
        beyond = {above for bone in self._at(other) for above in self._above(bone)}
        return any(upper not in beyond for upper, _ in free)

    def _pairs(self, root: Array, mid: Array) -> list[tuple[int, int]]:
        return [(upper, lower) for upper, lower in product(self._at(root), self._at(mid)) if upper in self._above(lower)]

    def below(self, bone: int, place: Array, shown: int) -> int:
        """Among the bones below `bone` that begin at a point, the one that poses the bone `shown` there; -1 for none."""
        return self._best([each for each in self._at(place) if bone in self._above(each)], shown, self._followed([shown]))

    def anywhere(self, place: Array, shown: int) -> int:
        """Among all bones that begin at a point, the one that poses the bone `shown` there; -1 for none."""
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
        """Whether a bone is aligned with a visible bone and nearly as long; tweaks are shorter, pivots point elsewhere."""
        candidate, visible = (self._skeleton.tails[each] - self._skeleton.heads[each] for each in (bone, shown))
        length = float(np.linalg.norm(candidate))
        return length >= FULL_LENGTH * float(np.linalg.norm(visible)) and float(candidate @ visible) >= ALIGNED * length * float(
            np.linalg.norm(visible)
        )

    def _rank(self, pair: tuple[int, int], shown: Sequence[int], followed: Sequence[int]) -> tuple[int, ...]:
        """Sort key, best greatest: unbound, followed by the visible bones, visible, closest together, highest."""
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
        """The bones and all bones that they follow, by constraints or as children, nearest first."""
        found: dict[int, None] = {}
        queue = deque(bones)
        while queue:
            bone = queue.popleft()
            if bone >= 0 and bone not in found:
                found[bone] = None
                queue.extend([*self._copied.get(bone, ()), self._skeleton.parents[bone]])
        return list(found)

    @cached_property
    def _copied(self) -> dict[int, list[int]]:
        targets: dict[int, list[int]] = {}
        for bone, other in self._skeleton.copies:
            targets.setdefault(bone, []).append(other)
        return targets

    def _at(self, place: Array) -> list[int]:
        key = place.tobytes()
        if key not in self._bones_at:
            distances = np.linalg.norm(self._skeleton.heads - place, axis=1)
            self._bones_at[key] = np.flatnonzero(distances <= self._tolerance).tolist()
        return self._bones_at[key]

    def _above(self, bone: int) -> list[int]:
        return self._skeleton.way_up(bone)[1:]
