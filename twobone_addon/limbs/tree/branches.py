"""Branches of the joint tree that are alike: the two sides of a body, whatever pose they rest in.

Lengths between joints do not depend on the pose, so they say which branches are alike; where the joints rest only decides
among several that are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...array_types import Array
from .joints import JointTree

ALIKE = 0.2
"""Difference of two lengths, relative to the longer one, up to which they are the two sides' of one body."""

SLACK = 0.02
"""Difference relative to the size of the skeleton that is never looked at."""

SHARED = 0.55
"""Part of their lengths that two branches must share; more would not allow for what is held in one hand."""


TELLING = 40
"""Longest pairs of branches that are asked where the mirror is."""


@dataclass(frozen=True, slots=True)
class Match:
    """Two branches that hang from one joint."""

    first: int
    second: int
    partners: dict[int, int]
    """Joints of the first branch with theirs in the second one."""
    length: float
    """That they share."""
    shared: float
    """0..1, its part of the longer branch."""


class Matching:
    """Compares branches of one tree; each two are compared once."""

    def __init__(self, tree: JointTree) -> None:
        """Take the tree."""
        self._tree = tree
        self._found: dict[tuple[int, int], tuple[float, dict[int, int]]] = {}
        self._totals: dict[int, float] = {}

    def total(self, joint: int) -> float:
        """Sum of the lengths of a branch, its edge from the joint above included."""
        if joint not in self._totals:
            self._totals[joint] = sum(self._tree.edges[each] for each in self._tree.below(joint))
        return self._totals[joint]

    def compared(self, first: int, second: int) -> Match:
        """How much two branches are alike."""
        common, partners = self._common(first, second)
        longer = max(self.total(first), self.total(second))
        return Match(first, second, partners, common, common / longer if longer > 0.0 else float(bool(partners)))

    def _worth(self, option: tuple[float, dict[int, int], int, int]) -> float:
        """To be compared: what shares most, and of things that share the same, those that begin alike, comes first."""
        length, _, one, other = option
        return abs(self._tree.edges[one] - self._tree.edges[other]) - length

    def _alike(self, first: int, second: int) -> bool:
        one, other = self._tree.edges[first], self._tree.edges[second]
        return abs(one - other) <= max(ALIKE * max(one, other), SLACK * self._tree.size)

    def _common(self, first: int, second: int) -> tuple[float, dict[int, int]]:
        """Length that two branches share, and which joints belong together."""
        if (first, second) in self._found:
            return self._found[first, second]
        if not self._alike(first, second):
            return 0.0, {}
        total, partners = self._tree.edges[first], {first: second}
        options = [
            (*self._common(one, other), one, other) for one in self._tree.children[first] for other in self._tree.children[second]
        ]
        taken: set[int] = set()
        for length, below, one, other in sorted(options, key=self._worth):
            if below and not {one, other} & taken:
                taken |= {one, other}
                total += length
                partners |= below
        self._found[first, second] = total, partners
        return total, partners


def matches_below(tree: JointTree, matching: Matching, joints: Sequence[int], mirror: Mirror | None) -> list[Match]:
    """The branches at some sibling joints in pairs, the best ones first."""
    options = []
    for first, second in combinations(joints, 2):
        match = matching.compared(first, second)
        if match.shared >= SHARED:
            off = mirror.distance(tree, match) / tree.size if mirror is not None else 0.0
            options.append((match.shared - off, match))
    found: list[Match] = []
    taken: set[int] = set()
    for _, match in sorted(options, key=lambda option: -option[0]):
        if not {match.first, match.second} & taken:
            taken |= {match.first, match.second}
            found.append(match)
    return found


@dataclass(frozen=True, slots=True)
class Mirror:
    """The plane that the two sides of a body are mirror images in."""

    origin: Array
    """`(3,)`."""
    normal: Array
    """`(3,)` of length 1."""

    def reflected(self, places: Array) -> Array:
        """Mirror images `(n, 3)` of places `(n, 3)`."""
        return places - 2.0 * np.outer((places - self.origin) @ self.normal, self.normal)

    def distance(self, tree: JointTree, match: Match) -> float:
        """Mean distance of the joints of one branch from the mirror images of the other's."""
        first, second = (tree.places[list(side)] for side in (match.partners.keys(), match.partners.values()))
        return float(np.linalg.norm(self.reflected(first) - second, axis=1).mean())


def mirror_of(tree: JointTree, matches: Sequence[Match]) -> Mirror | None:
    """The plane in which most of what is alike is mirrored; `None` where there is nothing alike, or all of it in one place."""
    best, most = None, 0.0
    matches = sorted(matches, key=lambda match: -match.length)[:TELLING]
    for match in matches:
        one, other = (tree.places[list(side)] for side in (match.partners.keys(), match.partners.values()))
        widths = np.linalg.norm(one - other, axis=1)
        widest = int(widths.argmax())
        one, other, width = one[widest], other[widest], float(widths[widest])
        if width <= SLACK * tree.size:
            continue
        mirror = Mirror((one + other) / 2.0, (one - other) / width)
        support = sum(len(each.partners) for each in matches if mirror.distance(tree, each) <= 2.0 * SLACK * tree.size)
        if support > most:
            best, most = mirror, support
    return best
