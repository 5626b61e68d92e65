"""Branches of the joint tree that are alike, the two sides of a body, and the pairs of them that may be its limbs.

Lengths between joints do not depend on the pose, so they say which branches are alike; where the joints are only decides
among several that are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...array_types import Array
from .joints import JointTree
from .links import FEWEST

ALIKE = 0.2
"""Difference of two lengths, relative to the longer one, up to which they are the two sides' of one body."""

SLACK = 0.02
"""Difference relative to the size of the skeleton that is never looked at."""

SHARED = 0.55
"""Part of their lengths that two branches must share; more would not allow for what is held in one hand."""


DEEPEST = 200
"""Joints down two branches that are compared: longer ones are ropes."""

TELLING = 40
"""Longest pairs of branches that are asked where the mirror is."""


@dataclass(frozen=True, slots=True)
class Match:
    """Two branches that start at one joint."""

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
        self._matches: dict[tuple[int, int], Match] = {}
        self._totals: dict[int, float] = {}

    def total(self, joint: int) -> float:
        """Sum of the lengths of a branch, its edge from the joint above included."""
        if joint not in self._totals:
            self._totals[joint] = sum(self._tree.edges[each] for each in self._tree.below(joint))
        return self._totals[joint]

    def compared(self, first: int, second: int) -> Match:
        """How much two branches are alike."""
        if (first, second) not in self._matches:
            common, partners = self._common(first, second)
            longer = max(self.total(first), self.total(second))
            shared = common / longer if longer > 0.0 else float(bool(partners))
            self._matches[first, second] = Match(first, second, partners, common, shared)
        return self._matches[first, second]

    def _worth(self, option: tuple[float, dict[int, int], int, int]) -> float:
        """To be compared: what shares most, and of things that share the same, those that begin alike, comes first."""
        length, _, one, other = option
        return abs(self._tree.edges[one] - self._tree.edges[other]) - length

    def _alike(self, first: int, second: int) -> bool:
        one, other = self._tree.edges[first], self._tree.edges[second]
        return abs(one - other) <= max(ALIKE * max(one, other), SLACK * self._tree.size)

    def _common(self, first: int, second: int, deep: int = 0) -> tuple[float, dict[int, int]]:
        """Length that two branches share, and which joints belong together."""
        if (first, second) in self._found:
            return self._found[first, second]
        if deep > DEEPEST or not self._alike(first, second):
            return 0.0, {}
        total, partners = self._tree.edges[first], {first: second}
        options = [
            (*self._common(one, other, deep + 1), one, other)
            for one in self._tree.children[first]
            for other in self._tree.children[second]
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
    options = [match for pair in combinations(joints, 2) if (match := matching.compared(*pair)).shared >= SHARED]
    worth = np.array([match.shared for match in options])
    if mirror is not None and options:
        worth -= mirror.distances(Opposites(tree, options)) / tree.size
    found: list[Match] = []
    taken: set[int] = set()
    for match in (options[number] for number in np.argsort(-worth, kind="stable")):
        if not {match.first, match.second} & taken:
            taken |= {match.first, match.second}
            found.append(match)
    return found


class Opposites:
    """Where the joints of several matches are, one match after the other."""

    def __init__(self, tree: JointTree, matches: Sequence[Match]) -> None:
        """Take the places of the matches' joints; each match has some."""
        self.counts = np.array([len(match.partners) for match in matches])
        self.first = tree.places[[joint for match in matches for joint in match.partners]]
        self.second = tree.places[[joint for match in matches for joint in match.partners.values()]]


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

    def distances(self, opposites: Opposites) -> Array:
        """Of each match, `(n,)`, the mean distance of the joints of one branch from the mirror images of the other's."""
        off = np.linalg.norm(self.reflected(opposites.first) - opposites.second, axis=1)
        return np.add.reduceat(off, np.cumsum(opposites.counts) - opposites.counts) / opposites.counts


def mirror_of(tree: JointTree, matches: Sequence[Match]) -> Mirror | None:
    """The plane in which most of what is alike is mirrored; `None` where there is nothing alike, or all of it in one place."""
    if not matches:
        return None
    best, most = None, 0
    matches = sorted(matches, key=lambda match: -match.length)[:TELLING]
    opposites = Opposites(tree, matches)
    for one, other in zip(
        *(np.split(side, np.cumsum(opposites.counts)[:-1]) for side in (opposites.first, opposites.second)), strict=True
    ):
        widths = np.linalg.norm(one - other, axis=1)
        widest = int(widths.argmax())
        width = float(widths[widest])
        if width <= SLACK * tree.size:
            continue
        mirror = Mirror((one[widest] + other[widest]) / 2.0, (one[widest] - other[widest]) / width)
        support = int(opposites.counts[mirror.distances(opposites) <= 2.0 * SLACK * tree.size].sum())
        if support > most:
            best, most = mirror, support
    return best


FANS_OUT = 0.5
"""Length of what a branch forks into, relative to the way from the body to the fork, from which it is no hand."""


MANY = 3
"""Long branches that make a fan though none of them is like another."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two branches, mirror images of one another."""

    attached: int
    """Joint that both start at; -1 where there is none."""
    generation: int
    """Number of joints above them."""
    match: Match
    fans_out: bool
    """Whether the branches fork into long ones, as wings do."""


class Anatomy:
    """The pairs of a tree of joints."""

    def __init__(self, tree: JointTree) -> None:
        """Take the tree."""
        self.tree = tree
        self.matching = Matching(tree)
        self.mirror: Mirror | None = mirror_of(tree, self._alike_siblings())
        self.pairs: list[Pair] = []
        self.spine: set[int] = set()
        waiting = [([joint for joint, parent in enumerate(tree.parents) if parent < 0], -1)]
        while waiting:
            waiting += [(tree.children[joint], joint) for joint in self._explore(*waiting.pop(0))]

    def _siblings(self) -> Iterator[Sequence[int]]:
        yield [joint for joint, parent in enumerate(self.tree.parents) if parent < 0]
        yield from self.tree.children

    def _alike_siblings(self) -> list[Match]:
        found = []
        for siblings in self._siblings():
            for first, second in combinations(siblings, 2):
                match = self.matching.compared(first, second)
                if match.shared >= SHARED:
                    found.append(match)
        return found

    def _explore(self, siblings: Sequence[int], attached: int) -> list[int]:
        """Note pairs and middle joints among siblings; the middle ones."""
        matches = matches_below(self.tree, self.matching, siblings, self.mirror)
        generation = len(self.tree.way_up(attached))
        paired: set[int] = set()
        for match in matches:
            forks = self._forks(match.first)
            if len(forks) >= FEWEST:
                continue  # Two bodies that are alike, not two limbs.
            paired |= {match.first, match.second}
            if len(match.partners) >= FEWEST:
                self.pairs.append(Pair(attached, generation, match, bool(forks)))
        middle = [joint for joint in siblings if joint not in paired]
        self.spine.update(middle)
        return middle

    def _reach(self, joint: int) -> float:
        return self.tree.edges[joint] + self.tree.depths[joint]

    def _forks(self, first: int) -> list[int]:
        """Joints of a branch at which it forks into pairs of long branches."""
        found = []
        trunk = {first: self.tree.edges[first]}
        for joint in self.tree.below(first):
            children = self.tree.children[joint]
            for child in children:
                trunk[child] = trunk[joint] + self.tree.edges[child]
            long = {child for child in children if self._reach(child) >= FANS_OUT * trunk[joint]}
            pairs = matches_below(self.tree, self.matching, children, None)
            if len(long) >= MANY or any(match.first in long and len(match.partners) >= FEWEST for match in pairs):
                found.append(joint)
        return found
