"""Pair similar branches of the joint tree, find the mirror plane of the body, and list the pairs that may be limbs.

Lengths between joints do not depend on the pose, so they decide which branches are similar; positions only decide among
several similar ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Indices, Mask
from .joints import JointTree
from .links import FEWEST, way_on

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
        self._next = np.array([children[0] if len(children) == 1 else -1 for children in tree.children], dtype=int)
        self._is_path = _paths(tree)
        self._is_end = np.array([not children for children in tree.children], dtype=bool)

    def total(self, joint: int) -> float:
        """Total length of a branch, including the edge from its parent joint."""
        if joint not in self._totals:
            self._totals[joint] = sum(self._tree.edges[below] for below in self._tree.below(joint))
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
        """All pairs of sibling joints whose branches have enough in common, in order; of two ends only where that matters.

        A rig may have thousands of bones without children beside each other. Two of them are never a limb. They only decide
        which is free for a branch that is no longer than one of them.
        """
        ends, branches = self._ends_and_branches(joints)
        pairs = self._kept(*_with_branches(branches, ends))
        if np.any(self._is_end[pairs.first] != self._is_end[pairs.second]):
            return self._kept(*_all_pairs(np.array(joints, dtype=int)))
        return pairs

    def longest_alike(self, joints: Sequence[int], count: int) -> AlikePairs:
        """Among them, in order, all of which one has children, and of two ends those with the greatest common length."""
        ends, branches = self._ends_and_branches(joints)
        first, second = _with_branches(branches, ends)
        of_ends: list[tuple[Indices, Indices]] = []
        listed = 0
        for number in np.argsort(-self._edges[ends], kind="stable").tolist():
            if listed >= count:
                break
            later = ends[number + 1 :]
            partners = later[self._are_similar(ends[number], later)]
            of_ends.append((np.full(len(partners), ends[number]), partners))
            listed += len(partners)
        pairs = [np.concatenate(side) for side in zip((first, second), *of_ends, strict=True)]
        order = np.lexsort(pairs[::-1])
        return self._kept(pairs[0][order], pairs[1][order])

    def _ends_and_branches(self, joints: Sequence[int]) -> tuple[Indices, Indices]:
        """Those of sibling joints without and with children."""
        numbers = np.array(joints, dtype=int)
        is_end = self._is_end[numbers]
        return numbers[is_end], numbers[~is_end]

    def _kept(self, first: Indices, second: Indices) -> AlikePairs:
        """Those pairs of branches that have enough in common. Branches that do not fork are compared as arrays."""
        similar = self._are_similar(first, second)
        first, second = first[similar], second[similar]
        lengths, shared = np.empty(len(first)), np.empty(len(first))
        paths = self._is_path[first] & self._is_path[second]
        of_paths = np.zeros(np.count_nonzero(paths))
        # From the ends up, as `_compare` adds, so that both give the same number.
        for numbers, joints, _ in reversed(list(self._levels(first[paths], second[paths]))):
            of_paths[numbers] += self._edges[joints]
        lengths[paths] = of_paths
        both, places = np.unique(np.stack([first[paths], second[paths]]), return_inverse=True)
        totals = np.array([self.total(joint) for joint in both.tolist()])[places].reshape(2, -1)
        longer = totals.max(axis=0)
        shared[paths] = np.divide(lengths[paths], longer, out=np.ones(len(longer)), where=longer > 0.0)
        for number in np.flatnonzero(~paths):
            match = self.compared(int(first[number]), int(second[number]))
            lengths[number], shared[number] = match.length, match.shared
        kept = shared >= LEAST_SHARED
        return AlikePairs(first[kept], second[kept], lengths[kept], shared[kept])

    def _are_similar(self, first: Indices, second: Indices) -> Mask:
        """Whether the edges to the joints of each pair are of similar length, as `_compare` asks."""
        lengths, others = self._edges[first], self._edges[second]
        return np.abs(lengths - others) <= np.maximum(ALIKE * np.maximum(lengths, others), IGNORED_LENGTH * self._tree.size)

    def _levels(self, first: Indices, second: Indices) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Pairs of branches that do not fork, level by level: numbers of those that are similar so far, and their joints."""
        numbers = np.arange(len(first))
        for _ in range(DEEPEST + 1):
            going = (first >= 0) & (second >= 0)
            going[going] = self._are_similar(first[going], second[going])
            numbers, first, second = numbers[going], first[going], second[going]
            if not len(numbers):
                return
            yield numbers, first, second
            first, second = self._next[first], self._next[second]

    def opposites(self, pairs: AlikePairs) -> Opposites:
        """Positions of the matching joints of pairs of branches."""
        paths = self._is_path[pairs.first] & self._is_path[pairs.second]
        of_paths = np.flatnonzero(paths)
        levels = list(self._levels(pairs.first[paths], pairs.second[paths]))
        counts, partners = np.zeros(len(pairs.first), dtype=int), dict[int, dict[int, int]]()
        for numbers, _, _ in levels:
            counts[of_paths[numbers]] += 1
        for number in np.flatnonzero(~paths).tolist():
            partners[number] = self.compared(int(pairs.first[number]), int(pairs.second[number])).partners
            counts[number] = len(partners[number])
        starts = np.cumsum(counts) - counts
        joints = np.empty((2, counts.sum()), dtype=int)
        for level, (numbers, *both) in enumerate(levels):
            joints[:, starts[of_paths[numbers]] + level] = both
        for number, matched in partners.items():
            rows = slice(starts[number], starts[number] + counts[number])
            joints[:, rows] = list(matched), list(matched.values())
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


def _all_pairs(joints: Indices) -> tuple[Indices, Indices]:
    """All pairs of some joints, in order."""
    first, second = np.triu_indices(len(joints), 1)
    return joints[first], joints[second]


def _with_branches(branches: Indices, ends: Indices) -> tuple[Indices, Indices]:
    """All pairs of branches, and of a branch and an end, in order."""
    first, second = _all_pairs(branches)
    mixed = np.repeat(branches, len(ends)), np.tile(ends, len(branches))
    first, second = np.concatenate([first, np.minimum(*mixed)]), np.concatenate([second, np.maximum(*mixed)])
    order = np.lexsort((second, first))
    return first[order], second[order]


def _paths(tree: JointTree) -> Mask:
    """Whether the branch at each joint `(J,)` does not fork."""
    order = [joint for root, parent in enumerate(tree.parents) if parent < 0 for joint in tree.below(root)]
    is_path = np.zeros(len(tree.parents), dtype=bool)
    for joint in reversed(order):
        children = tree.children[joint]
        is_path[joint] = not children or (len(children) == 1 and is_path[children[0]])
    return is_path


def matches_below(tree: JointTree, matching: Matching, joints: Sequence[int], mirror: Mirror | None) -> list[Match]:
    """Pair the branches of sibling joints, best matches first."""
    if len(joints) < 2:  # noqa: PLR2004 - a pair
        return []
    pairs = matching.alike(joints)
    worth = pairs.shared
    if mirror is not None and len(worth):
        worth = worth - mirror.distances(matching.opposites(pairs)) / tree.size
    matches: list[Match] = []
    # Of thousands of bones alike in a row there are millions of pairs, nearly all of bones that are taken.
    is_taken = bytearray(max(joints, default=-1) + 1)
    best = np.argsort(-worth, kind="stable")
    for first, second in zip(pairs.first[best].tolist(), pairs.second[best].tolist(), strict=True):
        if not (is_taken[first] or is_taken[second]):
            is_taken[first] = is_taken[second] = True
            matches.append(matching.compared(first, second))
            if 2 * len(matches) >= len(joints) - 1:
                break
    return matches


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
        # Each match proposes the plane halfway between those of its joints that are farthest apart.
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

STUB = 0.15
"""Greatest length of the way to a fork, relative to each of its branches, at which these may be legs, as on a spider's thorax."""

LEG_TURN = np.radians(30.0)
"""Least angle at a joint of such a leg, in radians: feathers are straighter."""

LEG_JOINTS = 4
"""Least number of joints of such a leg."""


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
    of_fan: bool = False
    """Whether it is one of several pairs of branches of a fan, which may be nothing but legs."""


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
            middle = self._explore(*waiting.pop(0))
            waiting += [(tree.children[joint], joint) for joint in middle if tree.children[joint]]

    def _alike_siblings(self) -> list[Match]:
        """The longest matches among siblings, which vote on the mirror plane."""
        roots = [joint for joint, parent in enumerate(self.tree.parents) if parent < 0]
        groups = [siblings for siblings in (roots, *self.tree.children) if len(siblings) > 1]
        pairs = [self.matching.longest_alike(siblings, MIRROR_VOTERS) for siblings in groups]
        if not pairs:
            return []
        first, second, lengths = (
            np.concatenate([getattr(alike, name) for alike in pairs]) for name in ("first", "second", "lengths")
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
            legs = self._legs_of_fan(match, forks)
            if legs:
                self.pairs += [
                    Pair(self.tree.parents[leg.first], generation + 1, leg, fans_out=False, of_fan=True) for leg in legs
                ]
            elif len(match.partners) >= FEWEST:
                self.pairs.append(Pair(attached, generation, match, bool(forks)))
        return [joint for joint in siblings if joint not in paired]

    def _legs_of_fan(self, match: Match, forks: Sequence[int]) -> list[Match]:
        """The pairs of branches of a fan that may all be legs, such as a spider's at one bone of its thorax; else none."""
        if len(forks) != 1 or forks[0] not in match.partners:
            return []
        tree, fork = self.tree, forks[0]
        stub = sum(tree.edges[joint] for joint in tree.way_up(fork)[: tree.way_up(fork).index(match.first) + 1])
        starts = [joint for joint in tree.children[fork] if joint in match.partners]
        if len(starts) < FAN_BRANCHES or any(not self._is_bent(joint, stub) for joint in starts):
            return []
        others, legs = [match.partners[joint] for joint in starts], list[Match]()
        for joint in starts:
            options = [self.matching.compared(joint, other) for other in others]
            legs.append(max(options, key=self._likeness))
            others.remove(legs[-1].second)
        return legs

    def _likeness(self, match: Match) -> float:
        """How alike two branches are, and how near each lies to the mirror image of the other."""
        if self.mirror is None or not match.partners:
            return match.shared
        first, second = (self.tree.places[list(side)] for side in (match.partners, match.partners.values()))
        opposites = Opposites(np.array([len(match.partners)]), first, second)
        return match.shared - float(self.mirror.distances(opposites)[0]) / self.tree.size

    def _is_bent(self, first: int, stub: float) -> bool:
        """Whether a branch is much longer than a stub, and has joints enough for a leg, at one of which it turns."""
        path = way_on(self.tree, first)
        steps = np.diff(self.tree.places[path], axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        if len(path) < LEG_JOINTS or lengths.min() <= 0.0 or stub > STUB * float(lengths.sum()):
            return False
        along = steps / lengths[:, None]
        return bool((np.sum(along[1:] * along[:-1], axis=1) < np.cos(LEG_TURN)).any())

    def _forks(self, first: int) -> list[int]:
        """Joints at which a branch forks into a pair of long branches or a fan of them."""
        forks = []
        trunk = {first: self.tree.edges[first]}
        for joint in self.tree.below(first):
            children = self.tree.children[joint]
            for child in children:
                trunk[child] = trunk[joint] + self.tree.edges[child]
            long = {child for child in children if self.tree.edges[child] + self.tree.depths[child] >= LONG_FORK * trunk[joint]}
            pairs = matches_below(self.tree, self.matching, children, None)
            if len(long) >= FAN_BRANCHES or any(match.first in long and len(match.partners) >= FEWEST for match in pairs):
                forks.append(joint)
        return forks
