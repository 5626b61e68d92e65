"""Which three joints of a branch are a limb's root, its elbow or knee, and its wrist or ankle.

The two links between them are long and nearly as long as each other. Joints that lie on a link belong to twist bones and are
passed over. What comes before (collar bone, shoulder blade, a helper at the hip) is short or bends the wrong way; what comes
after an arm is short, for that is the hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

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
"""What each joint before the root takes from it: limbs begin where they hang from the body, if nothing else tells."""

EVEN = 0.2
"""What a choice gains by links of the same length; for the rest the shorter one counts."""

STRAIGHT = 0.6
"""What a middle joint or a tip takes from a choice that is exactly in line: twist bones are, knees and wrists hardly ever."""

IN_LINE = 0.005
"""Distance from the straight limb, relative to its length, up to which it is."""

FORK = 3
"""Branches below a joint from which it is a hand or a foot, and not passed over."""

HAND = 0.5
"""What a link after an arm takes from a choice that is as long as the arm's second link."""

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
    """The best three joints of the branch that begins at `first`, of its `joints`; `None` where there are not enough."""
    scored = [(_score(tree, first, links) * judge(links), -links.tip, links) for links in _choices(tree, joints, first)]
    if not scored:
        return None
    score, _, best = max(scored, key=lambda entry: entry[:2])
    return best if score > 0.0 else None


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


def _choices(tree: JointTree, joints: set[int], first: int) -> Iterator[Links]:
    found = False
    for tip in sorted(joints):
        way = tree.way_up(tip)
        way = way[: way.index(first) + 1][::-1]
        for root, mid in combinations(way[:-1], 2):
            lengths = _length(tree, root, mid), _length(tree, mid, tip)
            if min(lengths) > 0.0:
                found = True
                yield Links(root, mid, tip, lengths)
    if found:
        return
    for mid in sorted(joints - {first}):
        root = tree.parents[mid]
        lengths = _length(tree, root, mid), float(np.linalg.norm(tree.ends[mid] - tree.places[mid]))
        if not tree.children[mid] and min(lengths) > 0.0:
            yield Links(root, mid, -1, lengths)


def _score(tree: JointTree, first: int, links: Links) -> float:
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
    straight = STRAIGHT if _is_in_line(tree, links) else 1.0
    return straight * shorter * (1.0 - EVEN + EVEN * shorter / longer) * (CUT if all(cut) else PASSED) ** passed * LATER**before


def _is_in_line(tree: JointTree, links: Links) -> bool:
    """Whether the middle joint, or the tip on its way on, is exactly in line with its neighbours."""
    within = IN_LINE * sum(links.lengths)
    tip = tip_place(tree, links)
    if off_line(tree.places[links.mid], tree.places[links.root], tip) <= within:
        return True
    on = [joint for joint in way_on(tree, links.tip) if tree.edges[joint] > within][1:2] if links.tip >= 0 else []
    return bool(on) and off_line(tip, tree.places[links.mid], tree.places[on[0]]) <= within


def off_line(place: Array, start: Array, end: Array) -> float:
    """Distance of a place `(3,)` from the line between two others."""
    along = end - start
    squared = float(along @ along)
    part = float(np.clip((place - start) @ along / squared, 0.0, 1.0)) if squared > 0.0 else 0.0
    return float(np.linalg.norm(place - start - part * along))


def _length(tree: JointTree, start: int, end: int) -> float:
    return float(np.linalg.norm(tree.places[end] - tree.places[start]))
