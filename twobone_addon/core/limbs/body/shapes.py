"""The limbs that two branches would be, and what speaks against them whatever body they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

import numpy as np

from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from ..tree.links import Judge, Links, arm_judge, best_links, off_line, tip_place, way_on


class Reason(Enum):
    """Why a pair of branches is no limb."""

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


@dataclass(frozen=True, slots=True)
class Shape:
    """A pair of branches as limbs."""

    pair: Pair
    links: Links
    """Of the first branch; those of the second one are its partners."""
    root: Array
    """`(3,)` middle between the two roots."""
    end: Array
    """`(3,)` middle between the two ends, of toes or fingers."""
    ends: Array
    """`(2, 3)`."""
    way: tuple[int, ...]
    """Joints of the first branch from the root to the end."""
    hand: bool
    """Whether it ends in fingers."""

    @property
    def length(self) -> float:
        """Of both links."""
        return sum(self.links.lengths)

    @property
    def reach(self) -> Array:
        """`(3,)` from root to end, as far as both sides agree."""
        return self.end - self.root


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that may be arms or legs."""

    pair: Pair
    arms: Shape
    legs: Shape
    reason: Reason | None
    """What speaks against both."""
    plain: bool
    """Whether it looks like a strand, which an arm may, and a leg does not."""


STRAND_LINKS = 4
"""Links from which a branch may be a strand of hair or cloth, and no limb."""

PLAIN_LINKS = 3
"""Links from which it is too plain for a leg, which has a foot; an arm without fingers may be as plain."""

STRAND_EVEN = 1.7
"""Ratio of its longest to its shortest link up to which it is one."""

STRAND_TURN = np.radians(25.0)
"""Turn at a joint up to which it is one."""

PIECE_TURN = np.radians(0.6)
"""Turn up to which a joint is between two pieces of one bone."""

ELBOW_TURN = np.radians(5.0)
"""Turn from which there is an elbow among such joints; strands turn evenly."""

BALANCE = 0.3
"""Ratio of the shorter link to the longer one from which they are a limb's."""

FINGERS = 3
"""Branches from which a hand has fingers."""

FINGER = 0.75
"""Longest finger, relative to the second link."""

FEATHERS = 2
"""Joints of a limb at which feathers begin from which it is a wing."""

FEATHER = 0.6
"""Length of a feather, relative to the link at whose beginning it is."""

FEATHER_OFF = 0.25
"""How far beside its link a feather begins, relative to the link; helpers of arms begin on it."""


def candidate(tree: JointTree, pair: Pair, judge: Judge) -> Candidate | None:
    """The limbs that a pair may be; `None` where it has too few joints. `judge` knows what speaks against links of any kind."""
    joints, first = set(pair.match.partners), pair.match.first
    as_arm = arm_judge(tree)
    arm = best_links(tree, joints, first, lambda links: judge(links) * as_arm(links))
    leg = best_links(tree, joints, first, judge)
    if arm is None or leg is None:
        return None
    arms = with_links(tree, pair, arm)
    plain = _is_strand(tree, way_on(tree, first), PLAIN_LINKS)
    return Candidate(pair, arms, with_links(tree, pair, leg), _misshapen(tree, arms), plain)


def with_links(tree: JointTree, pair: Pair, links: Links) -> Shape:
    """The limbs of a pair, with these links."""
    partners = pair.match.partners
    way = [*_way_between(tree, links.root, links.mid), *_way_after(tree, links.tip, partners)]
    last = way[-1]
    ends = tree.places if links.tip >= 0 else tree.ends
    ends = np.stack([ends[last], ends[partners[last]]])
    root = (tree.places[links.root] + tree.places[partners[links.root]]) / 2.0
    return Shape(pair, links, root, ends.mean(axis=0), ends, tuple(way), _has_fingers(tree, links, partners))


def middle_links(tree: JointTree, shape: Shape, links: Links) -> tuple[Array, Array, Array]:
    """Root, middle joint and tip `(3,)` of links of the first branch, halfway to those of the second one."""
    partners = shape.pair.match.partners
    root, mid = ((tree.places[joint] + tree.places[partners[joint]]) / 2.0 for joint in (links.root, links.mid))
    other = replace(links, mid=partners[links.mid], tip=partners.get(links.tip, -1))
    return root, mid, (tip_place(tree, links) + tip_place(tree, other)) / 2.0


def _way_between(tree: JointTree, start: int, end: int) -> list[int]:
    way = tree.way_up(end)
    return way[: way.index(start) + 1][::-1]


def _way_after(tree: JointTree, tip: int, joints: dict[int, int]) -> list[int]:
    """The tip and what goes on from it on both sides, by the longest way."""
    way = [tip] if tip >= 0 else []
    while way and (on := [child for child in tree.children[way[-1]] if child in joints]):
        way.append(max(on, key=lambda child: tree.edges[child] + tree.depths[child]))
    return way


def _has_fingers(tree: JointTree, links: Links, joints: dict[int, int]) -> bool:
    """Whether a limb ends in fingers on both sides; what only one hand holds does not count."""
    if links.tip < 0:
        return False
    below = _way_after(tree, links.tip, joints)
    forks = any(sum(child in joints for child in tree.children[joint]) >= FINGERS for joint in below[:2])
    return forks and sum(tree.edges[joint] for joint in below[1:]) <= FINGER * links.lengths[1]


def _misshapen(tree: JointTree, shape: Shape) -> Reason | None:
    if shape.pair.fans_out or _feathers(tree, shape) >= FEATHERS:
        return Reason.FAN
    if _is_strand(tree, way_on(tree, shape.pair.match.first), STRAND_LINKS):
        return Reason.STRAND
    shorter, longer = sorted(shape.links.lengths)
    return Reason.UNEVEN if shorter < BALANCE * longer else None


def _feathers(tree: JointTree, shape: Shape) -> int:
    """Number of joints with long branches that begin beside the limb."""
    way = _way_between(tree, shape.pair.match.first, shape.links.tip if shape.links.tip >= 0 else shape.links.mid)
    return sum(
        any(_is_feather(tree, child, joint, after) for child in tree.children[joint] if child != after)
        for joint, after in pairwise(way)
    )


def _is_feather(tree: JointTree, child: int, start: int, end: int) -> bool:
    length = tree.edges[end]
    long = tree.depths[child] + float(np.linalg.norm(tree.ends[child] - tree.places[child])) >= FEATHER * length
    return long and off_line(tree.places[child], tree.places[start], tree.places[end]) >= FEATHER_OFF * length


def _is_strand(tree: JointTree, way: Sequence[int], fewest: int) -> bool:
    """Whether all links of a branch, which are not too few, are alike and nearly in line."""
    steps = np.diff(tree.places[list(way)], axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    if len(steps) < fewest or lengths.min() <= 0.0 or lengths.max() > STRAND_EVEN * lengths.min():
        return False
    along = steps / lengths[:, None]
    turns = np.arctan2(np.linalg.norm(np.cross(along[:-1], along[1:]), axis=1), np.sum(along[1:] * along[:-1], axis=1))
    is_jointed = turns.min() <= PIECE_TURN and turns.max() >= ELBOW_TURN
    return bool(turns.max() <= STRAND_TURN and not is_jointed)
