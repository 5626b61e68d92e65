"""Pair similar branches of the joint tree, find the mirror plane of the body, and list the pairs that may be limbs.

Lengths between joints do not depend on the pose, so they decide which branches are similar; positions only decide among
several similar ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Indices
from .joints import JointTree
from .links import FEWEST

ALIKE = 0.2
"""Greatest difference of corresponding lengths on both sides of a body, relative to the longer one."""

IGNORED_LENGTH = 0.02
"""Length difference, relative to skeleton size, that is always ignored."""

LEAST_SHARED = 0.55
"""Least share of their length that two branches must have in common; more would rule out an object held in one hand."""


DEEPEST = 200
"""Greatest depth in joints to which branches are compared; deeper ones are ropes."""

MIRROR_VOTERS = 40
"""Number of longest branch pairs that vote on the mirror plane."""


@dataclass(frozen=True, slots=True)
class Match:
    """Comparison of two branches."""

    first: int
    second: int
    partners: dict[int, int]
    """Matching joints: first branch to second."""
    length: float
    """Length shared by both branches."""
    shared: float
    """Shared length as a fraction (0 to 1) of the longer branch."""


@dataclass(frozen=True, slots=True)
class AlikePairs:
    """Pairs of sibling joints whose branches are alike."""

    first: Indices
    """`(n,)`"""
    second: Indices
    lengths: Array
    """`(n,)` length shared by both branches."""
    shared: Array
    """`(n,)` shared length as a fraction of the longer branch."""


class Matching:
    """Compares branches of one tree; caches every comparison."""

    def __init__(self, tree: JointTree) -> None:
        """Compare branches of `tree`."""
        self._tree = tree
        self._compared: dict[tuple[int, int], tuple[float, dict[int, int]]] = {}
        self._matches: dict[tuple[int, int], Match] = {}
        self._totals: dict[int, float] = {}
        self._edges = np.array(tree.edges)
        self._is_last = np.array([not children for children in tree.children], dtype=bool)

    def total(self, joint: int) -> float:
        """Total length of a branch, including the edge from its parent joint."""
        if joint not in self._totals:
            self._totals[joint] = sum(self._tree.edges[each] for each in self._tree.below(joint))
        return self._totals[joint]

    def compared(self, first: int, second: int) -> Match:
        """Compare two branches, given by their first joints."""
        if (first, second) not in self._matches:
            common, partners = self._compare(first, second)
            longer = max(self.total(first), self.total(second))
            shared = common / longer if longer > 0.0 else float(bool(partners))
            self._matches[first, second] = Match(first, second, partners, common, shared)
        return self._matches[first, second]

    def alike(self, joints: Sequence[int]) -> AlikePairs:
        """All pairs of sibling joints whose branches have enough in common, in order.

        A rig may have hundreds of bones without parent or children, so these are compared as arrays.
        """
        first, second = (np.array(joints, dtype=int)[numbers] for numbers in np.triu_indices(len(joints), 1))
        one, other = self._edges[first], self._edges[second]
        longer = np.maximum(one, other)
        similar = np.abs(one - other) <= np.maximum(ALIKE * longer, IGNORED_LENGTH * self._tree.size)
        lengths = np.where(similar, one, 0.0)
        shared = np.divide(lengths, longer, out=similar.astype(float), where=longer > 0.0)
        for number in np.flatnonzero(similar & ~(self._is_last[first] & self._is_last[second])):
            match = self.compared(int(first[number]), int(second[number]))
            lengths[number], shared[number] = match.length, match.shared
        kept = similar & (shared >= LEAST_SHARED)
        return AlikePairs(first[kept], second[kept], lengths[kept], shared[kept])

    def opposites(self, pairs: AlikePairs) -> Opposites:
        """Positions of the matching joints of pairs of branches."""
        counts, partners = np.ones(len(pairs.first), dtype=int), dict[int, dict[int, int]]()
        for number in np.flatnonzero(~(self._is_last[pairs.first] & self._is_last[pairs.second])).tolist():
            partners[number] = self.compared(int(pairs.first[number]), int(pairs.second[number])).partners
            counts[number] = len(partners[number])
        starts, joints = np.cumsum(counts) - counts, [np.repeat(side, counts) for side in (pairs.first, pairs.second)]
        for number, matched in partners.items():
            rows = slice(starts[number], starts[number] + counts[number])
            joints[0][rows], joints[1][rows] = list(matched), list(matched.values())
        return Opposites(counts, *(self._tree.places[side] for side in joints))

    def _compare(self, first: int, second: int, depth: int = 0) -> tuple[float, dict[int, int]]:
        """Shared length of two branches and their matching joints."""
        if (first, second) in self._compared:
            return self._compared[first, second]
        edges = self._tree.edges
        longest = max(edges[first], edges[second])
        if depth > DEEPEST or abs(edges[first] - edges[second]) > max(ALIKE * longest, IGNORED_LENGTH * self._tree.size):
            return 0.0, {}
        total, partners = self._tree.edges[first], {first: second}
        options = [
            (*self._compare(first_child, second_child, depth + 1), first_child, second_child)
            for first_child in self._tree.children[first]
            for second_child in self._tree.children[second]
        ]
        taken: set[int] = set()
        options.sort(key=lambda option: abs(edges[option[2]] - edges[option[3]]) - option[0])
        for length, below, first_child, second_child in options:
            if below and not {first_child, second_child} & taken:
                taken |= {first_child, second_child}
                total += length
                partners |= below
        self._compared[first, second] = total, partners
        return total, partners


def matches_below(tree: JointTree, matching: Matching, joints: Sequence[int], mirror: Mirror | None) -> list[Match]:
    """Pair the branches of sibling joints, best matches first."""
    pairs = matching.alike(joints)
    worth = pairs.shared
    if mirror is not None and len(worth):
        worth = worth - mirror.distances(matching.opposites(pairs)) / tree.size
    found: list[Match] = []
    # Of thousands of bones alike in a row there are millions of pairs, nearly all of bones that are taken.
    is_taken = bytearray(max(joints, default=-1) + 1)
    best = np.argsort(-worth, kind="stable")
    for first, second in zip(pairs.first[best].tolist(), pairs.second[best].tolist(), strict=True):
        if not (is_taken[first] or is_taken[second]):
            is_taken[first] = is_taken[second] = True
            found.append(matching.compared(first, second))
            if 2 * len(found) >= len(joints) - 1:
                break
    return found


@dataclass(frozen=True, slots=True)
class Opposites:
    """Positions of the matching joints of several matches, concatenated."""

    counts: Indices
    """`(n,)` matching joints of each match; none may be empty."""
    first: Array
    second: Array


@dataclass(frozen=True, slots=True)
class Mirror:
    """Mirror plane between the two sides of a body."""

    origin: Array
    """`(3,)` point on the plane."""
    normal: Array
    """Unit normal `(3,)`."""

    def reflected(self, places: Array) -> Array:
        """Mirror images `(n, 3)` of points `(n, 3)`."""
        return places - 2.0 * np.outer((places - self.origin) @ self.normal, self.normal)

    def distances(self, opposites: Opposites) -> Array:
        """Mean distance `(n,)`, for each match, between the joints of one branch and the mirror images of the other's."""
        off = np.linalg.norm(self.reflected(opposites.first) - opposites.second, axis=1)
        return np.add.reduceat(off, np.cumsum(opposites.counts) - opposites.counts) / opposites.counts


def mirror_of(tree: JointTree, matches: Sequence[Match]) -> Mirror | None:
    """The plane that mirrors the most matching joints; `None` where nothing matches or all matches coincide."""
    if not matches:
        return None
    best, most = None, 0
    counts = np.array([len(match.partners) for match in matches])
    sides = ([joint for match in matches for joint in side(match.partners)] for side in (dict.keys, dict.values))
    opposites = Opposites(counts, *(tree.places[side] for side in sides))
    for first, second in zip(
        *(np.split(side, np.cumsum(opposites.counts)[:-1]) for side in (opposites.first, opposites.second)), strict=True
    ):
        widths = np.linalg.norm(first - second, axis=1)
        widest = int(widths.argmax())
        width = float(widths[widest])
        if width <= IGNORED_LENGTH * tree.size:
            continue
        mirror = Mirror((first[widest] + second[widest]) / 2.0, (first[widest] - second[widest]) / width)
        support = int(opposites.counts[mirror.distances(opposites) <= 2.0 * IGNORED_LENGTH * tree.size].sum())
        if support > most:
            best, most = mirror, support
    return best


LONG_FORK = 0.5
"""Length of the branches at a fork, relative to the path from the body to it, from which the fork is not a hand."""


FAN_BRANCHES = 3
"""Number of long branches at one joint that make a fan even if no two of them match."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two branches that mirror each other."""

    attached: int
    """Common parent joint; -1 where there is none."""
    generation: int
    """Number of joints above them."""
    match: Match
    fans_out: bool
    """Whether the branches fork into long ones, as wings do."""


class Anatomy:
    """The mirror plane and the branch pairs of a joint tree."""

    def __init__(self, tree: JointTree) -> None:
        """Analyse `tree`."""
        self.tree = tree
        self.matching = Matching(tree)
        self.mirror: Mirror | None = mirror_of(tree, self._alike_siblings())
        self.pairs: list[Pair] = []
        waiting = [([joint for joint, parent in enumerate(tree.parents) if parent < 0], -1)]
        while waiting:
            waiting += [(tree.children[joint], joint) for joint in self._explore(*waiting.pop(0))]

    def _alike_siblings(self) -> list[Match]:
        """The longest matches among siblings, which vote on the mirror plane."""
        roots = [joint for joint, parent in enumerate(self.tree.parents) if parent < 0]
        pairs = [self.matching.alike(siblings) for siblings in (roots, *self.tree.children) if len(siblings) > 1]
        if not pairs:
            return []
        first, second, lengths = (
            np.concatenate([getattr(each, name) for each in pairs]) for name in ("first", "second", "lengths")
        )
        longest = np.argsort(-lengths, kind="stable")[:MIRROR_VOTERS]
        return [self.matching.compared(int(first[number]), int(second[number])) for number in longest]

    def _explore(self, siblings: Sequence[int], attached: int) -> list[int]:
        """Record the pairs among siblings; return the other joints, which are in the body's middle."""
        matches = matches_below(self.tree, self.matching, siblings, self.mirror)
        generation = len(self.tree.way_up(attached))
        paired: set[int] = set()
        for match in matches:
            forks = self._forks(match.first)
            if len(forks) >= FEWEST:
                continue  # Two similar bodies, not two limbs.
            paired |= {match.first, match.second}
            if len(match.partners) >= FEWEST:
                self.pairs.append(Pair(attached, generation, match, bool(forks)))
        return [joint for joint in siblings if joint not in paired]

    def _forks(self, first: int) -> list[int]:
        """Joints at which a branch forks into a pair of long branches or a fan of them."""
        found = []
        trunk = {first: self.tree.edges[first]}
        for joint in self.tree.below(first):
            children = self.tree.children[joint]
            for child in children:
                trunk[child] = trunk[joint] + self.tree.edges[child]
            long = {child for child in children if self.tree.edges[child] + self.tree.depths[child] >= LONG_FORK * trunk[joint]}
            pairs = matches_below(self.tree, self.matching, children, None)
            if len(long) >= FAN_BRANCHES or any(match.first in long and len(match.partners) >= FEWEST for match in pairs):
                found.append(joint)
        return found
