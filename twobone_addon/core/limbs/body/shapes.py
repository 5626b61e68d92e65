"""Describe the limbs that two branches would form, and reject shapes that cannot be limbs of any body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from ....records import replace
from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from ..tree.links import Judge, Links, arm_judge, best_links, off_line, tip_place, way_on


class Reason(Enum):
    """Why a pair of branches is not a pair of limbs."""

    SMALL = "SMALL"
    STRAND = "STRAND"
    FAN = "FAN"
    UNEVEN = "UNEVEN"
    SPLAYED = "SPLAYED"
    HIGH = "HIGH"
    AROUND = "AROUND"
    HEAD = "HEAD"
    NAMED = "NAMED"
    SELDOM = "SELDOM"
    LOOSE = "LOOSE"
    LINKS = "LINKS"
    DISAGREE = "DISAGREE"


@dataclass(frozen=True, slots=True)
class Shape:
    """A pair of branches interpreted as limbs."""

    pair: Pair
    links: Links
    """Links of the first branch; the second branch has the partners of their joints."""
    root: Array
    """`(3,)` midpoint of the two roots."""
    end: Array
    """`(3,)` midpoint of the two ends, toes or fingers included."""
    ends: Array
    """`(2, 3)` end of each branch."""
    path: tuple[int, ...]
    """Joints of the first branch from the root to the end."""
    hand: bool
    """Whether it ends in a hand with fingers."""

    @property
    def length(self) -> float:
        """Sum of both link lengths."""
        return sum(self.links.lengths)

    @property
    def reach(self) -> Array:
        """Vector `(3,)` from root to end, averaged over both sides."""
        return self.end - self.root


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that may be arms or legs."""

    pair: Pair
    arms: Shape
    legs: Shape
    reason: Reason | None
    """Why it is neither; `None` where the shape allows a limb."""
    plain: bool
    """Whether its links are so even that it may be an arm but not a leg."""


STRAND_LINKS = 4
"""Least number of links of a strand of hair or cloth."""

PLAIN_LINKS = 3
"""Least number of even links of a branch that cannot be a leg, for legs have feet; an arm without fingers may look so."""

STRAND_EVEN = 1.7
"""Greatest ratio of a strand's longest link to its shortest."""

STRAND_TURN = np.radians(25.0)
"""Greatest angle at a joint of a strand, in radians."""

BALANCE = 0.3
"""Least ratio of a limb's shorter link to its longer one."""

FINGERS = 3
"""Least number of branches at a hand with fingers."""

FEATHERS = 2
"""Least number of joints with feathers that make a limb a wing."""

FEATHER = 0.6
"""Least length of a feather, relative to the link at whose start it begins."""

FEATHER_OFF = 0.25
"""Least distance of a feather's start from its link, relative to the link; helper bones of arms start on it."""


def candidate(tree: JointTree, pair: Pair, judge: Judge) -> Candidate | None:
    """The arms and the legs that a pair may be; `None` where it has too few joints. `judge` scores links of either kind."""
    joints, first = set(pair.match.partners), pair.match.first
    # After an arm comes a hand, which is short; after a leg there may be a long foot.
    as_arm = arm_judge(tree)
    arm = best_links(tree, joints, first, lambda links: judge(links) * as_arm(links))
    leg = best_links(tree, joints, first, judge)
    if arm is None or leg is None:
        return None
    arms = with_links(tree, pair, arm)
    plain = _is_strand(tree, way_on(tree, first), PLAIN_LINKS)
    return Candidate(pair, arms, with_links(tree, pair, leg), _misshapen(tree, arms), plain)


def with_links(tree: JointTree, pair: Pair, links: Links) -> Shape:
    """The shape of a pair with the given links."""
    partners = pair.match.partners
    path = [*_way_between(tree, links.root, links.mid), *_way_after(tree, links.tip, partners)]
    last = path[-1]
    ends = tree.places if links.tip >= 0 else tree.ends
    ends = np.stack([ends[last], ends[partners[last]]])
    root = (tree.places[links.root] + tree.places[partners[links.root]]) / 2.0
    return Shape(pair, links, root, ends.mean(axis=0), ends, tuple(path), _has_fingers(tree, links, partners))


def middle_links(tree: JointTree, shape: Shape, links: Links) -> tuple[Array, Array, Array]:
    """Root, middle joint and tip `(3,)` of links of the first branch, each averaged with its partner in the second."""
    partners = shape.pair.match.partners
    root, mid = ((tree.places[joint] + tree.places[partners[joint]]) / 2.0 for joint in (links.root, links.mid))
    other = replace(links, mid=partners[links.mid], tip=partners.get(links.tip, -1))
    return root, mid, (tip_place(tree, links) + tip_place(tree, other)) / 2.0


def _way_between(tree: JointTree, start: int, end: int) -> list[int]:
    path = tree.way_up(end)
    return path[: path.index(start) + 1][::-1]


def _way_after(tree: JointTree, tip: int, joints: dict[int, int]) -> list[int]:
    """The tip and the longest path of joints below it that both sides have."""
    path = [tip] if tip >= 0 else []
    while path and (on := [child for child in tree.children[path[-1]] if child in joints]):
        path.append(max(on, key=lambda child: tree.edges[child] + tree.depths[child]))
    return path


def _has_fingers(tree: JointTree, links: Links, joints: dict[int, int]) -> bool:
    """Whether a limb ends in fingers on both sides; something held in one hand does not count."""
    if links.tip < 0:
        return False
    below = _way_after(tree, links.tip, joints)
    return any(sum(child in joints for child in tree.children[joint]) >= FINGERS for joint in below[:2])


def _misshapen(tree: JointTree, shape: Shape) -> Reason | None:
    if shape.pair.fans_out or _count_feathers(tree, shape) >= FEATHERS:
        return Reason.FAN
    if _is_strand(tree, way_on(tree, shape.pair.match.first), STRAND_LINKS):
        return Reason.STRAND
    shorter, longer = sorted(shape.links.lengths)
    return Reason.UNEVEN if shorter < BALANCE * longer else None


def _count_feathers(tree: JointTree, shape: Shape) -> int:
    """Number of joints from which long branches start beside the limb."""
    path = _way_between(tree, shape.pair.match.first, shape.links.tip if shape.links.tip >= 0 else shape.links.mid)
    return sum(
        any(_is_feather(tree, child, joint, after) for child in tree.children[joint] if child != after)
        for joint, after in pairwise(path)
    )


def _is_feather(tree: JointTree, child: int, start: int, end: int) -> bool:
    length = tree.edges[end]
    long = tree.depths[child] + float(np.linalg.norm(tree.ends[child] - tree.places[child])) >= FEATHER * length
    return long and off_line(tree.places[child], tree.places[start], tree.places[end]) >= FEATHER_OFF * length


def _is_strand(tree: JointTree, path: Sequence[int], fewest: int) -> bool:
    """Whether a branch has at least `fewest` links, all of similar length and nearly in line."""
    steps = np.diff(tree.places[list(path)], axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    if len(steps) < fewest or lengths.min() <= 0.0 or lengths.max() > STRAND_EVEN * lengths.min():
        return False
    along = steps / lengths[:, None]
    turns = np.arctan2(np.linalg.norm(np.cross(along[:-1], along[1:]), axis=1), np.sum(along[1:] * along[:-1], axis=1))
    return bool(turns.max() <= STRAND_TURN)
