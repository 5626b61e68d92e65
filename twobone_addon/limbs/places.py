"""Where limbs are among others of their kind, and the links of front legs, which bend the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array
from .body.facing import Facing
from .body.judging import Judged, Kind
from .body.shapes import Shape, middle_links, with_links
from .tree.candidates import Pair
from .tree.joints import JointTree
from .tree.links import Judge, Links, best_links

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
