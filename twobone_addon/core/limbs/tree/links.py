"""Choose the three joints of a branch that are a limb's root, its elbow or knee, and its wrist or ankle.

The two links between them are long and of nearly equal length. Joints that lie on a link belong to twist bones and are passed
over. Links before the root (collar bone, shoulder blade, a helper at the hip) are short or bend the wrong way; the link after
an arm is short, because it is the hand.
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
"""Greatest distance of a joint that lies on a link, relative to the link's length."""

PASSED = 0.65
"""Score factor for each joint that is passed over."""

EVEN_CUT = 0.85
"""Score factor for each joint that is passed over where both links are cut into equal pieces."""

EVEN_PIECES = 0.92
"""Least ratio of the shortest piece to the longest for pieces to count as equal."""

LATER_ROOT = 0.9
"""Score factor for each joint before the root: other things equal, limbs begin where they leave the body."""

EVENNESS = 0.2
"""Weight of the links' length ratio in a score; the rest is the length of the shorter link."""

IN_LINE_FACTOR = 0.6
"""Score factor for a middle joint or tip exactly in line with its neighbours: twist bones are, knees and wrists rarely."""

IN_LINE = 0.005
"""Greatest distance from the straight limb, relative to its length, that counts as in line."""

TAIL_FACTOR = 0.7
"""Score factor for a tip at a bone's tail: importers make tails up."""

FORK_BRANCHES = 3
"""Number of branches from which a joint is a hand or a foot, and is not passed over."""

HAND_PENALTY = 0.5
"""Score reduction for a link after the arm as long as the arm's second link; less for shorter ones."""

MOST_JOINTS = 20
"""Greatest depth in joints at which a limb's hand or foot begins; ropes are longer."""

FEWEST = 2
"""Least number of joints of a branch that may be a limb."""


@dataclass(frozen=True, slots=True)
class Links:
    """Three joints on one branch."""

    root: int
    mid: int
    tip: int
    """-1 where the limb ends at the tail of its lower bone."""
    lengths: tuple[float, float]


Judge = Callable[[Links], float]
"""Score factor for a choice of links, 0 to 1: 1 where nothing speaks against it."""


def best_links(tree: JointTree, joints: set[int], first: int, judge: Judge) -> Links | None:
    """The best-scored root, mid and tip among the `joints` of the branch that begins at `first`; `None` where there are too few.

    `judge` only lowers scores, so the search stops where the remaining choices cannot be better.
    """
    best: tuple[float, int, Links] | None = None
    for bound, links in sorted(_choices(tree, joints, first), key=lambda entry: -entry[0]):
        if best is not None and bound < best[0]:
            break
        score = _score(tree, first, links) * judge(links)
        if best is None or (score, -links.tip) > best[:2]:
            best = score, -links.tip, links
    return best[2] if best is not None and best[0] > 0.0 else None


def tip_place(tree: JointTree, links: Links) -> Array:
    """Position `(3,)` of the limb's tip."""
    return tree.places[links.tip] if links.tip >= 0 else tree.ends[links.mid]


def link_after(tree: JointTree, links: Links) -> float:
    """Length of the longest link below the tip; 0 where there is none."""
    if links.tip < 0:
        return 0.0
    return max((tree.edges[child] for child in tree.children[links.tip]), default=0.0)


def arm_judge(tree: JointTree) -> Judge:
    """Judge for arms: lowers the score for a long link after the tip."""
    return lambda links: 1.0 - HAND_PENALTY * min(1.0, link_after(tree, links) / links.lengths[1])


def way_on(tree: JointTree, joint: int) -> list[int]:
    """The joint and the longest path down from it."""
    way = [joint]
    while tree.children[way[-1]]:
        way.append(max(tree.children[way[-1]], key=lambda child: tree.edges[child] + tree.depths[child]))
    return way


def _choices(tree: JointTree, joints: set[int], first: int) -> Iterator[tuple[float, Links]]:
    """All choices of links in a branch, each with an upper bound of its score."""
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
                yield min(lengths) * EVEN_CUT**passed * LATER_ROOT**before, Links(root, mid, tip, lengths)
    for mid in sorted(joints - {first}):
        root = tree.parents[mid]
        lengths = _length(tree, root, mid), float(np.linalg.norm(tree.ends[mid] - tree.places[mid]))
        if not tree.children[mid] and min(lengths) > 0.0:
            yield TAIL_FACTOR * min(lengths), Links(root, mid, -1, lengths)


def _score(tree: JointTree, first: int, links: Links) -> float:
    if links.tip >= 0 and _is_beside_link(tree, links.tip):
        return 0.0
    before = tree.way_up(links.root).index(first)
    passed, cut_evenly = 0, []
    for start, end in ((links.root, links.mid), (links.mid, links.tip)):
        if end < 0:
            continue
        between = tree.way_up(end)
        between = between[1 : between.index(start)]
        near = ON_LINK * _length(tree, start, end)
        if any(off_line(tree.places[joint], tree.places[start], tree.places[end]) > near for joint in between):
            return 0.0
        if any(len(tree.children[joint]) >= FORK_BRANCHES for joint in between):
            return 0.0
        passed += len(between)
        pieces = [tree.edges[joint] for joint in (end, *between)]
        cut_evenly.append(bool(between) and min(pieces) >= EVEN_PIECES * max(pieces))
    shorter, longer = sorted(links.lengths)
    straight = (IN_LINE_FACTOR if _is_in_line(tree, links) else 1.0) * (1.0 if links.tip >= 0 else TAIL_FACTOR)
    passing = EVEN_CUT if all(cut_evenly) else PASSED
    return straight * shorter * (1.0 - EVENNESS + EVENNESS * shorter / longer) * passing**passed * LATER_ROOT**before


def _is_in_line(tree: JointTree, links: Links) -> bool:
    """Whether the middle joint, or the tip, is exactly in line with its neighbours."""
    within = IN_LINE * sum(links.lengths)
    tip = tip_place(tree, links)
    if off_line(tree.places[links.mid], tree.places[links.root], tip) <= within:
        return True
    after = [joint for joint in way_on(tree, links.tip) if tree.edges[joint] > within][1:2] if links.tip >= 0 else []
    return bool(after) and off_line(tip, tree.places[links.mid], tree.places[after[0]]) <= within


def _is_beside_link(tree: JointTree, joint: int) -> bool:
    """Whether a joint without children lies on a link that runs beside it: a twist bone, not a hand."""
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
    """Distance of a point `(3,)` from the segment between two others."""
    along = end - start
    squared = float(along @ along)
    part = float(np.clip((place - start) @ along / squared, 0.0, 1.0)) if squared > 0.0 else 0.0
    return float(np.linalg.norm(place - start - part * along))


def _length(tree: JointTree, start: int, end: int) -> float:
    return dist(tree.places[start], tree.places[end])
