"""Which three joints of a branch are a limb's root, its elbow or knee, and its wrist or ankle.

The two links between them are long and nearly as long as each other. Joints that lie on a link belong to twist bones and are
passed over. What comes before (collar bone, shoulder blade, a helper at the hip) is short or bends the wrong way; what comes
after an arm is short, for that is the hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import dist

import numpy as np

from ...array_types import Array
from .joints import JointTree

ON_LINK = 0.04
"""Distance of a joint from a link, relative to its length, up to which the joint lies on it."""

PASSED = 0.65
"""What a joint that is passed over takes from a choice."""

CUT = 0.85
"""The same where both links are cut into equal pieces."""

HALVES = 0.92
"""Ratio of the shortest piece to the longest one from which pieces are equal."""

LATER = 0.9
"""What each joint before the root takes from it: limbs begin where they leave the body, if nothing else tells."""

EVEN = 0.2
"""What a choice gains by links of the same length; for the rest the shorter one counts."""

STRAIGHT = 0.6
"""What a middle joint or a tip takes from a choice that is exactly in line: twist bones are, knees and wrists hardly ever."""

IN_LINE = 0.005
"""Distance from the straight limb, relative to its length, up to which it is."""

AT_TAIL = 0.7
"""What a tip at a bone's tail takes from it: importers make tails up."""

FORK = 3
"""Branches below a joint from which it is a hand or a foot, and not passed over."""

HAND = 0.5
"""What a link after an arm takes from a choice that is as long as the arm's second link."""

MOST_JOINTS = 20
"""Joints down a branch up to which a limb's hand or foot begins; ropes have more."""

FEWEST = 2
"""Joints of a branch that may be a limb."""


@dataclass(frozen=True, slots=True)
class Links:
    """Three joints on one branch."""

    root: int
    mid: int
    tip: int
    """-1 where the limb ends with its lower bone, at that one's tail."""
    lengths: tuple[float, float]


Judge = Callable[[Links], float]
"""A factor for a choice: 1 where nothing speaks against it."""


def best_links(tree: JointTree, joints: set[int], first: int, judge: Judge) -> Links | None:
    """The best three joints of the branch that begins at `first`, of its `joints`; `None` where there are not enough.

    `judge` only lowers what a choice is worth, so the search ends where what is left cannot be better.
    """
    best: tuple[float, int, Links] | None = None
    for most, links in sorted(_choices(tree, joints, first), key=lambda entry: -entry[0]):
        if best is not None and most < best[0]:
            break
        score = _score(tree, first, links) * judge(links)
        if best is None or (score, -links.tip) > best[:2]:
            best = score, -links.tip, links
    return best[2] if best is not None and best[0] > 0.0 else None


def tip_place(tree: JointTree, links: Links) -> Array:
    """Where the limb ends, `(3,)`."""
    return tree.places[links.tip] if links.tip >= 0 else tree.ends[links.mid]


def link_after(tree: JointTree, links: Links) -> float:
    """Length of the longest link that goes on from the tip; 0 where none does."""
    if links.tip < 0:
        return 0.0
    return max((tree.edges[child] for child in tree.children[links.tip]), default=0.0)


def arm_judge(tree: JointTree) -> Judge:
    """For arms: what comes after them is short."""
    return lambda links: 1.0 - HAND * min(1.0, link_after(tree, links) / links.lengths[1])


def way_on(tree: JointTree, joint: int) -> list[int]:
    """The joint and those on the longest way down from it."""
    way = [joint]
    while tree.children[way[-1]]:
        way.append(max(tree.children[way[-1]], key=lambda child: tree.edges[child] + tree.depths[child]))
    return way


def _choices(tree: JointTree, joints: set[int], first: int) -> Iterator[tuple[float, Links]]:
    """Each three joints of a branch, with what they can be worth at most."""
    for tip in sorted(joints):
        way = tree.way_up(tip)
        way = way[: way.index(first) + 1][::-1]
        if len(way) > MOST_JOINTS:
            continue
        for before, after in combinations(range(len(way) - 1), 2):
            root, mid = way[before], way[after]
            lengths = _length(tree, root, mid), _length(tree, mid, tip)
            if min(lengths) > 0.0:
                passed = len(way) - 3 - before
                yield min(lengths) * CUT**passed * LATER**before, Links(root, mid, tip, lengths)
    for mid in sorted(joints - {first}):
        root = tree.parents[mid]
        lengths = _length(tree, root, mid), float(np.linalg.norm(tree.ends[mid] - tree.places[mid]))
        if not tree.children[mid] and min(lengths) > 0.0:
            yield AT_TAIL * min(lengths), Links(root, mid, -1, lengths)


def _score(tree: JointTree, first: int, links: Links) -> float:
    if links.tip >= 0 and _is_beside(tree, links.tip):
        return 0.0
    before = tree.way_up(links.root).index(first)
    passed, cut = 0, []
    for start, end in ((links.root, links.mid), (links.mid, links.tip)):
        if end < 0:
            continue
        between = tree.way_up(end)
        between = between[1 : between.index(start)]
        near = ON_LINK * _length(tree, start, end)
        if any(off_line(tree.places[joint], tree.places[start], tree.places[end]) > near for joint in between):
            return 0.0
        if any(len(tree.children[joint]) >= FORK for joint in between):
            return 0.0
        passed += len(between)
        pieces = [tree.edges[joint] for joint in (end, *between)]
        cut.append(bool(between) and min(pieces) >= HALVES * max(pieces))
    shorter, longer = sorted(links.lengths)
    straight = (STRAIGHT if _is_in_line(tree, links) else 1.0) * (1.0 if links.tip >= 0 else AT_TAIL)
    return straight * shorter * (1.0 - EVEN + EVEN * shorter / longer) * (CUT if all(cut) else PASSED) ** passed * LATER**before


def _is_in_line(tree: JointTree, links: Links) -> bool:
    """Whether the middle joint, or the tip on its way on, is exactly in line with its neighbours."""
    within = IN_LINE * sum(links.lengths)
    tip = tip_place(tree, links)
    if off_line(tree.places[links.mid], tree.places[links.root], tip) <= within:
        return True
    on = [joint for joint in way_on(tree, links.tip) if tree.edges[joint] > within][1:2] if links.tip >= 0 else []
    return bool(on) and off_line(tip, tree.places[links.mid], tree.places[on[0]]) <= within


def _is_beside(tree: JointTree, joint: int) -> bool:
    """Whether a joint without others below it lies on a link that goes on beside it, as twist bones' do: no hand is there."""
    above = tree.parents[joint]
    if tree.children[joint] or above < 0:
        return False
    start = tree.places[above]
    for other in tree.children[above]:
        if other == joint or not tree.children[other]:
            continue
        for end in way_on(tree, other)[:2]:
            length = float(np.linalg.norm(tree.places[end] - start))
            if tree.edges[joint] < length and off_line(tree.places[joint], start, tree.places[end]) <= ON_LINK * length:
                return True
    return False


def off_line(place: Array, start: Array, end: Array) -> float:
    """Distance of a place `(3,)` from the line between two others."""
    along = end - start
    squared = float(along @ along)
    part = float(np.clip((place - start) @ along / squared, 0.0, 1.0)) if squared > 0.0 else 0.0
    return float(np.linalg.norm(place - start - part * along))


def _length(tree: JointTree, start: int, end: int) -> float:
    return dist(tree.places[start], tree.places[end])
