"""Limbs without a counterpart: the arm of a figure that has lost the other one.

A branch that is all on one side of the legs' middle, and that nothing on the other side is like, gets its mirror image as a
counterpart. What is a limb then is one without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..array_types import Array
from .skeleton import Skeleton
from .tree.candidates import Anatomy, Mirror
from .tree.joints import JointTree

FEWEST_JOINTS = 3
"""Of a limb with wrist or ankle."""

LONG = 0.4
"""Length of a branch, relative to the legs', from which it may be an arm."""

APART = 0.05
"""Distance of the hips, relative to the legs, from which they tell where the middle is."""

ASIDE = 0.02
"""Distance from the middle, relative to the legs, that all joints after a branch's first keep at least."""

EVEN = 0.5
"""Ratio of its shorter link to the longer one from which it is an arm: without a counterpart less speaks for it."""


def completed(skeleton: Skeleton, tree: JointTree, legs: tuple[Sequence[int], Sequence[int]]) -> Skeleton | None:
    """The skeleton with mirror images, after its own bones, of what is parented to one side alone; `None` where nothing is.

    legs : upper, lower and tip bones of both
    """
    first, second = (skeleton.heads[list(side)] for side in legs)
    widths = np.linalg.norm(first - second, axis=1)
    length = float(np.linalg.norm(np.diff(first, axis=0), axis=1).sum())
    # Hips stay in the middle however the legs rest, but those of a flat figure are one place.
    across = 0 if widths[0] > APART * length else int(widths.argmax())
    if widths[across] <= ASIDE * length:
        return None
    normal, hips = (first[across] - second[across]) / widths[across], (first[0] + second[0]) / 2.0
    branches = _lone_branches(tree, normal, hips, length)
    return _with_images(skeleton, tree, branches, normal) if branches else None


def is_even(skeleton: Skeleton, bones: Sequence[int]) -> bool:
    """Whether the links between the heads of three bones are about as long, as an arm's are."""
    heads = skeleton.heads[list(bones)]
    shorter, longer = sorted(np.linalg.norm(np.diff(heads, axis=0), axis=1))
    return bool(shorter >= EVEN * longer)


def _lone_branches(tree: JointTree, normal: Array, hips: Array, length: float) -> list[int]:
    """First joints of branches as long as arms that stand aside, below a head, and are not one of a pair."""
    paired = {joint for pair in Anatomy(tree).pairs for both in pair.match.partners.items() for joint in both}
    found: list[int] = []
    waiting = [joint for joint, parent in enumerate(tree.parents) if parent < 0]
    for joint in waiting:
        if joint in paired:
            continue
        below, above = tree.below(joint), tree.parents[joint]
        aside = (tree.places[below[1:]] - tree.places[above]) @ normal
        is_aside = len(below) >= FEWEST_JOINTS and (aside.min() > ASIDE * length or aside.max() < -ASIDE * length)
        if above >= 0 and is_aside and tree.depths[joint] >= LONG * length and _goes_on_beside(tree, paired, joint, hips):
            found.append(joint)
        else:
            waiting.extend(tree.children[joint])
    return found


def _goes_on_beside(tree: JointTree, paired: set[int], branch: int, hips: Array) -> bool:
    """Whether the middle of the body goes on away from the hips beside a branch, as it does at a chest and not at a head."""
    joint = tree.parents[branch]
    beside = [each for child in tree.children[joint] if child not in paired | {branch} for each in tree.below(child)]
    off = np.linalg.norm(tree.places[[joint, *beside]] - hips, axis=1)
    return bool((off[1:] > off[0]).any())


def _with_images(skeleton: Skeleton, tree: JointTree, branches: Sequence[int], normal: Array) -> Skeleton:
    """The skeleton with the bones of these branches once more, each on the other side of its parent joint."""
    middle = {
        bone: tree.places[tree.parents[branch]]
        for branch in branches
        for joint in tree.below(branch)
        for bone in tree.bones[joint]
    }
    bones = sorted(middle)
    image = {bone: len(skeleton.names) + number for number, bone in enumerate(bones)}
    names = [skeleton.names[bone] for bone in bones]
    origins = np.array([middle[bone] for bone in bones])

    def reflected(places: Array) -> Array:
        return Mirror(np.zeros(3), normal).reflected(places - origins) + origins

    return replace(
        skeleton,
        names=(*skeleton.names, *(f"{name}\0" for name in names)),
        poses=None,
        parents=(*skeleton.parents, *(image.get(skeleton.parents[bone], skeleton.parents[bone]) for bone in bones)),
        heads=np.concatenate([skeleton.heads, reflected(skeleton.heads[bones])]),
        tails=np.concatenate([skeleton.tails, reflected(skeleton.tails[bones])]),
        deforms=(*skeleton.deforms, *(skeleton.deforms[bone] for bone in bones)),
        copies=(*skeleton.copies, *((image[one], image.get(other, other)) for one, other in skeleton.copies if one in image)),
        bound=skeleton.bound | {image[bone] for bone in bones if bone in skeleton.bound},
    )
