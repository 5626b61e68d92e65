"""Pairs of branches that hang from the middle of a body and may be its limbs, and the bodies that they hang from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from .branches import SHARED, Match, Matching, Mirror, matches_below, mirror_of
from .joints import JointTree
from .links import FEWEST

FANS_OUT = 0.5
"""Length of what a branch forks into, relative to the way from the body to the fork, from which it is no hand."""


MANY = 3
"""Long branches that make a fan though none of them is like another."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two branches, mirror images of one another."""

    attached: int
    """Joint that both hang from; -1 where they hang from nothing."""
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
        self._explore([joint for joint, parent in enumerate(tree.parents) if parent < 0], -1)

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

    def _explore(self, siblings: Sequence[int], attached: int) -> None:
        """Note pairs and middle joints among siblings, and below the middle ones."""
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
        for joint in siblings:
            if joint not in paired:
                self.spine.add(joint)
                self._explore(self.tree.children[joint], joint)

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
