"""Find the facing direction of a body, and which of its sides is left.

Its legs give the down direction, its mirrored branches the two sides. Toes point forwards; without toes, knees bend forwards,
elbows bend backwards, and the head is in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....records import replace
from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from ..tree.links import Judge, Links, best_links
from .judging import Judged, LimbKind
from .shapes import Shape, middle_links, with_links

CLEAR = 0.03
"""Least forward component of a cue, relative to the leg length, for the cue to count."""


@dataclass(frozen=True, slots=True)
class Facing:
    """Unit directions `(3,)` of a body; zeros where no cue gives one."""

    down: Array
    forward: Array
    left: Array


def facing(tree: JointTree, limbs: Sequence[Judged], down: Array) -> Facing:
    """The facing of a body with these limbs."""
    across = _side_axis(tree, limbs)
    along = np.cross(down, across)
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return Facing(down, np.zeros(3), np.zeros(3))
    along = along / length
    legs = [limb.shape for limb in limbs if limb.kind is LimbKind.LEG]
    scale = max((leg.length for leg in legs), default=1.0)
    for cue in _forward_cues(tree, limbs, legs, down):
        if abs(cue @ along) >= CLEAR * scale:
            forward = along if cue @ along > 0.0 else -along
            return Facing(down, forward, np.cross(-down, forward))
    return Facing(down, np.zeros(3), np.zeros(3))


def side_of(tree: JointTree, shape: Shape, left: Array) -> float:
    """Summed distance by which the joints of a pair's first branch are left of the second's; negative to the right."""
    partners = shape.pair.match.partners
    return float(sum((tree.places[joint] - tree.places[partners[joint]]) @ left for joint in shape.path))


def _side_axis(tree: JointTree, limbs: Sequence[Judged]) -> Array:
    """Unit direction `(3,)` from one side to the other; zeros where the limbs of both sides coincide."""
    total = np.zeros(3)
    for limb in limbs:
        partners = limb.shape.pair.match.partners
        for joint in limb.shape.path:
            apart = tree.places[joint] - tree.places[partners[joint]]
            # Which branch of a pair is the first is chance.
            total = total + (apart if apart @ total >= 0.0 else -apart)
    length = float(np.linalg.norm(total))
    return total / length if length > 0.0 else total


def _forward_cues(tree: JointTree, limbs: Sequence[Judged], legs: Sequence[Shape], down: Array) -> Iterator[Array]:
    """Forward cues as directions `(3,)`, the most reliable first."""
    feet = [leg.end - middle_links(tree, leg, leg.links)[2] for leg in legs if leg.links.tip >= 0]
    yield np.mean(feet or [np.zeros(3)], axis=0)
    if len(legs) == 1:
        yield _bend_direction(tree, legs[0])
    yield -np.mean([_bend_direction(tree, limb.shape) for limb in limbs if limb.kind is LimbKind.ARM] or [np.zeros(3)], axis=0)
    if legs:
        # The last bone, head to tail, is a weak cue, because importers make tails up.
        ends = [joint for leg in legs for joint in (leg.path[-1], leg.pair.match.partners[leg.path[-1]])]
        yield np.mean(tree.ends[ends] - tree.places[ends], axis=0)
        if legs[0].pair.attached >= 0:  # The highest joint on the body's middle is the head.
            middle = tree.places[tree.below(legs[0].pair.attached)]
            yield middle[int((middle @ -down).argmax())] - legs[0].root
    yield np.array([0.0, -1.0, 0.0]) if abs(down[2]) > abs(down[1]) else np.array([0.0, 0.0, 1.0])


def _bend_direction(tree: JointTree, shape: Shape) -> Array:
    """Direction `(3,)` in which the limb bends: from the root-tip line to its middle joint."""
    root, mid, tip = middle_links(tree, shape, shape.links)
    share = shape.links.lengths[0] / shape.length
    return mid - (root + share * (tip - root))


# Order of limbs within their kind, and the links of front legs, which bend the other way round.

FOUR_LEGS = 2
"""Number of leg pairs for which front elbows bend backwards and hind knees forwards."""

WRONG_BEND_FACTOR = 0.5
"""Score factor for links that bend the wrong way."""

STRAIGHT = 0.06
"""Distance of an elbow or knee from the straight limb, relative to its length, below which its side is ignored."""


@dataclass(frozen=True, slots=True)
class LimbIndex:
    """Index of a limb among the limbs of its kind on its side, counted from the front."""

    number: int
    count: int


def placed(
    tree: JointTree, limbs: Sequence[Judged], seen: Facing, judge_for: Callable[[Pair], Judge]
) -> list[tuple[Judged, LimbIndex]]:
    """The limbs with their places, legs first, front to back; the links of four-legged animals are chosen by their place."""
    result = []
    for kind in LimbKind:
        group = sorted((limb for limb in limbs if limb.kind is kind), key=lambda limb: -float(limb.shape.root @ seen.forward))
        if kind is LimbKind.LEG and len(group) == FOUR_LEGS and seen.forward.any():
            group = [_with_bend(tree, group[0], -seen.forward, judge_for), _with_bend(tree, group[1], seen.forward, judge_for)]
        result += [(limb, LimbIndex(number, len(group))) for number, limb in enumerate(group)]
    return result


def _with_bend(tree: JointTree, limb: Judged, towards: Array, judge_for: Callable[[Pair], Judge]) -> Judged:
    """The limb with the links of its branch chosen anew, links that do not bend `towards` being marked down."""
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
        # From the line through root and tip to the middle joint.
        off = mid - root - (mid - root) @ along / squared * along
        return WRONG_BEND_FACTOR if off @ towards < -STRAIGHT * np.sqrt(squared) else 1.0

    return judge
