"""Where a body faces, and which of its sides is left.

What is down is known from its legs, and the sides from what is mirrored. Toes point forwards; where there are none, knees do,
elbows do not, and the head is in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from ..tree.links import Judge, Links, best_links
from .judging import Judged, Kind
from .shapes import Shape, middle_links, with_links

CLEAR = 0.03
"""How far something points forwards, relative to the length of the leg, for that to count."""


@dataclass(frozen=True, slots=True)
class Facing:
    """Directions `(3,)` of a body, each of length 1, or zeros where nothing tells it."""

    down: Array
    forward: Array
    left: Array


def facing(tree: JointTree, limbs: Sequence[Judged], down: Array) -> Facing:
    """Where a body with these limbs faces."""
    across = _across(tree, limbs)
    along = np.cross(down, across)
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return Facing(down, np.zeros(3), np.zeros(3))
    along = along / length
    legs = [limb.shape for limb in limbs if limb.kind is Kind.LEG]
    scale = max((leg.length for leg in legs), default=1.0)
    for vote in _votes(tree, limbs, legs, down):
        if abs(vote @ along) >= CLEAR * scale:
            forward = along if vote @ along > 0.0 else -along
            return Facing(down, forward, np.cross(-down, forward))
    return Facing(down, np.zeros(3), np.zeros(3))


def side_of(tree: JointTree, shape: Shape, left: Array) -> float:
    """How far the first branch of a pair is to the left of the second one; negative to its right."""
    partners = shape.pair.match.partners
    return float(sum((tree.places[joint] - tree.places[partners[joint]]) @ left for joint in shape.way))


def _across(tree: JointTree, limbs: Sequence[Judged]) -> Array:
    """A direction `(3,)` from one side to the other, zeros where limbs rest in the same place."""
    total = np.zeros(3)
    for limb in limbs:
        partners = limb.shape.pair.match.partners
        for joint in limb.shape.way:
            apart = tree.places[joint] - tree.places[partners[joint]]
            total = total + (apart if apart @ total >= 0.0 else -apart)
    length = float(np.linalg.norm(total))
    return total / length if length > 0.0 else total


def _votes(tree: JointTree, limbs: Sequence[Judged], legs: Sequence[Shape], down: Array) -> Iterator[Array]:
    """Directions `(3,)` that point forwards, what tells most first."""
    yield np.mean([leg.end - _middle(tree, leg, leg.links.tip) for leg in legs if leg.links.tip >= 0] or [np.zeros(3)], axis=0)
    if len(legs) == 1:
        yield _bend(tree, legs[0])
    yield -np.mean([_bend(tree, limb.shape) for limb in limbs if limb.kind is Kind.ARM] or [np.zeros(3)], axis=0)
    if legs:
        yield np.mean([_tail(tree, leg) for leg in legs], axis=0)
        yield _head(tree, legs, down)
    yield np.array([0.0, -1.0, 0.0]) if abs(down[2]) > abs(down[1]) else np.array([0.0, 0.0, 1.0])


def _middle(tree: JointTree, shape: Shape, joint: int) -> Array:
    return (tree.places[joint] + tree.places[shape.pair.match.partners[joint]]) / 2.0


def _bend(tree: JointTree, shape: Shape) -> Array:
    """Where the middle joints point, `(3,)`."""
    root, mid, tip = middle_links(tree, shape, shape.links)
    share = shape.links.lengths[0] / shape.length
    return mid - (root + share * (tip - root))


def _tail(tree: JointTree, shape: Shape) -> Array:
    """Where the bone at the end points, `(3,)`; importers make that up, so it tells little."""
    last = shape.way[-1]
    other = shape.pair.match.partners[last]
    return (tree.ends[last] - tree.places[last] + tree.ends[other] - tree.places[other]) / 2.0


def _head(tree: JointTree, legs: Sequence[Shape], down: Array) -> Array:
    """Where the highest of what hangs in the middle is, seen from the hips, `(3,)`."""
    attached = legs[0].pair.attached
    if attached < 0:
        return np.zeros(3)
    middle = tree.places[tree.below(attached)]
    return middle[int((middle @ -down).argmax())] - legs[0].root


# Places of limbs among others of their kind, and the links of front legs, which bend the other way round.

FOUR_LEGS = 2
"""Pairs of legs that animals have which are built as we know it."""

WRONG_WAY = 0.5
"""What bending the wrong way takes from a choice of links."""

STRAIGHT = 0.06
"""Distance of an elbow or knee from the straight limb, relative to its length, up to which its side tells nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a limb is among those of its kind on its side, from the front."""

    number: int
    count: int


def placed(
    tree: JointTree, limbs: Sequence[Judged], seen: Facing, judge_for: Callable[[Pair], Judge]
) -> list[tuple[Judged, Place]]:
    """The limbs with their places, legs first, from the front to the back, with the links that suit their places."""
    found = []
    for kind in Kind:
        own = sorted((limb for limb in limbs if limb.kind is kind), key=lambda limb: -float(limb.shape.root @ seen.forward))
        if kind is Kind.LEG and len(own) == FOUR_LEGS and seen.forward.any():
            own = [_bending(tree, own[0], -seen.forward, judge_for), _bending(tree, own[1], seen.forward, judge_for)]
        found += [(limb, Place(number, len(own))) for number, limb in enumerate(own)]
    return found


def _bending(tree: JointTree, limb: Judged, towards: Array, judge_for: Callable[[Pair], Judge]) -> Judged:
    """The same limb, or with other links of its branch if these bend the wrong way: hind knees forwards, front elbows back."""
    pair = limb.shape.pair
    judge, bends = judge_for(pair), _bend_judge(tree, limb.shape, towards)
    links = best_links(tree, set(pair.match.partners), pair.match.first, lambda links: judge(links) * bends(links))
    return replace(limb, shape=with_links(tree, pair, links)) if links else limb


def _bend_judge(tree: JointTree, shape: Shape, towards: Array) -> Judge:
    def judge(links: Links) -> float:
        root, mid, tip = middle_links(tree, shape, links)
        along = tip - root
        squared = float(along @ along)
        if squared == 0.0:
            return 1.0
        off = mid - root - (mid - root) @ along / squared * along
        return WRONG_WAY if off @ towards < -STRAIGHT * np.sqrt(squared) else 1.0

    return judge
