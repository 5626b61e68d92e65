"""Choose the three joints of a branch that are a limb's root, its elbow or knee, and its wrist or ankle.

The two links between them are long and of nearly equal length. Joints that lie on a link belong to twist bones and are passed
over. Links before the root (collar bone, shoulder blade, a helper at the hip) are short or bend the wrong way; the link after
an arm is short, because it is the hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from math import dist, hypot

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
    passed_on = cache(partial(_passed_on, tree))  # The same link belongs to many choices.
    for bound, links in _choices(tree, joints, first):
        if best is not None and bound < best[0]:
            break
        score = _score(tree, first, links, passed_on) * judge(links)
        if best is None or (score, -links.tip) > best[:2]:
            best = score, -links.tip, links
    return best[2] if best is not None and best[0] > 0.0 else None


def tip_place(tree: JointTree, links: Links) -> Array:
    """Position `(3,)` of the limb's tip."""
    return tree.places[links.tip] if links.tip >= 0 else tree.ends[links.mid]


def arm_judge(tree: JointTree) -> Judge:
    """Judge for arms: lowers the score for a long link after the tip."""

    def judge(links: Links) -> float:
        after = tree.children[links.tip] if links.tip >= 0 else ()
        longest = max((tree.edges[child] for child in after), default=0.0)
        return 1.0 - HAND_PENALTY * min(1.0, longest / links.lengths[1])

    return judge


def way_on(tree: JointTree, joint: int) -> list[int]:
    """The joint and the longest path down from it."""
    path = [joint]
    while tree.children[path[-1]]:
        path.append(max(tree.children[path[-1]], key=lambda child: tree.edges[child] + tree.depths[child]))
    return path


EVEN_CUTS, LATER_ROOTS = (np.array([factor**power for power in range(MOST_JOINTS)]) for factor in (EVEN_CUT, LATER_ROOT))
"""Powers of the factors."""


def _choices(tree: JointTree, joints: set[int], first: int) -> Iterator[tuple[float, Links]]:
    """All choices of links in a branch, each with an upper bound of its score; the greatest bound first.

    A strand of twenty joints has a thousand, of which few are looked at: so their bounds are computed as arrays.
    """
    paths = [path for tip in sorted(joints) if (path := _way_down(tree, first, tip))]
    spans: dict[int, Array] = {first: np.zeros((1, 1))}  # The same link belongs to many choices.
    rows: list[Array] = [np.empty((0, 6))]
    for path in paths:
        for above, joint in pairwise(path):
            if joint not in spans:
                count = len(spans[above])
                spans[joint] = np.zeros((count + 1, count + 1))
                spans[joint][:count, :count] = spans[above]
                spans[joint][:count, count] = [_length(tree, start, joint) for start in path[:count]]
        last, span, numbers = len(path) - 1, spans[path[-1]], np.array(path)
        before, after = np.triu_indices(last, 1)
        lengths = span[before, after], span[after, last]
        # No score is higher: the shorter link, and the mildest factors for joints passed over and before.
        bounds = np.minimum(*lengths) * EVEN_CUTS[last - 2 - before] * LATER_ROOTS[before]
        rows.append(np.column_stack([bounds, numbers[before], numbers[after], np.full(len(before), path[-1]), *lengths]))
    for mid in sorted(joints - {first}):
        root = tree.parents[mid]
        tail = _length(tree, root, mid), float(np.linalg.norm(tree.ends[mid] - tree.places[mid]))
        if not tree.children[mid]:
            rows.append(np.array([[TAIL_FACTOR * min(tail), root, mid, -1, *tail]]))
    choices = np.concatenate(rows)
    choices = choices[choices[:, 0] > 0.0]
    for number in np.argsort(-choices[:, 0], kind="stable"):
        bound, root, mid, tip, upper, lower = choices[number].tolist()
        yield bound, Links(int(root), int(mid), int(tip), (upper, lower))


def _way_down(tree: JointTree, first: int, joint: int) -> list[int]:
    """The joints from the first one of a branch down to one of its joints; empty where there are more than `MOST_JOINTS`."""
    path = [joint]
    while path[-1] != first and len(path) <= MOST_JOINTS:
        path.append(tree.parents[path[-1]])
    return path[::-1] if len(path) <= MOST_JOINTS else []


@dataclass(frozen=True, slots=True)
class _Passed:
    """The joints that a link passes over."""

    count: int
    even: bool
    """Whether they cut the link into equal pieces."""


def _passed_on(tree: JointTree, start: int, end: int) -> _Passed | None:
    """The joints between two of a branch; `None` where one of them is off the link, or a hand or foot begins there."""
    between = [tree.parents[end]]
    while between[-1] != start:
        between.append(tree.parents[between[-1]])
    between.pop()
    near = ON_LINK * _length(tree, start, end)
    if any(off_line(tree.places[joint], tree.places[start], tree.places[end]) > near for joint in between):
        return None
    if any(len(tree.children[joint]) >= FORK_BRANCHES for joint in between):
        return None
    pieces = [tree.edges[joint] for joint in (end, *between)]
    return _Passed(len(between), bool(between) and min(pieces) >= EVEN_PIECES * max(pieces))


def _score(tree: JointTree, first: int, links: Links, passed_on: Callable[[int, int], _Passed | None]) -> float:
    if links.tip >= 0 and _is_beside_link(tree, links.tip):
        return 0.0
    # An end mark is where a limb ends, right below its lower bone, but no joint of it.
    if links.mid in tree.marks or (links.tip in tree.marks and tree.parents[links.tip] != links.mid):
        return 0.0
    pairs = ((links.root, links.mid), (links.mid, links.tip))
    cuts = [cut for start, end in pairs if end >= 0 and (cut := passed_on(start, end)) is not None]
    if len(cuts) < len(pairs) - (links.tip < 0):
        return 0.0
    before = tree.way_up(links.root).index(first)
    passed = sum(cut.count for cut in cuts)
    shorter, longer = sorted(links.lengths)
    straight = (IN_LINE_FACTOR if _is_in_line(tree, links) else 1.0) * (1.0 if links.tip >= 0 else TAIL_FACTOR)
    passing = EVEN_CUT if all(cut.even for cut in cuts) else PASSED
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
    # Plain numbers: it is called for each joint between each choice of links, and NumPy takes ten times as long for three.
    (x, y, z), (a, b, c) = (place - start).tolist(), (end - start).tolist()
    squared = a * a + b * b + c * c
    share = min(max((x * a + y * b + z * c) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    return hypot(x - share * a, y - share * b, z - share * c)


def _length(tree: JointTree, start: int, end: int) -> float:
    return dist(tree.places[start], tree.places[end])
