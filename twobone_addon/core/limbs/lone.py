"""Find limbs without a counterpart: the one arm of a figure that has lost the other.

A branch that lies entirely on one side of the legs' middle, with no similar branch on the other side, gets its mirror image as
a counterpart. If the pair is a pair of limbs, so is the branch alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records import replace
from ..array_types import Array
from .skeleton import Skeleton
from .tree.candidates import Anatomy, Mirror
from .tree.joints import JointTree

FEWEST_JOINTS = 3
"""Number of joints of a limb with wrist or ankle."""

ARM_LENGTH = 0.4
"""Least length of a branch that may be an arm, relative to the legs."""

HIP_WIDTH = 0.05
"""Least distance between the hips, relative to the legs, at which they define the middle plane."""

ASIDE = 0.02
"""Least distance from the middle, relative to the legs, of all joints after a branch's first."""

EVENNESS = 0.5
"""Least ratio of a lone arm's shorter link to its longer one; stricter than for pairs, for want of a counterpart."""


def completed(skeleton: Skeleton, tree: JointTree, legs: tuple[Sequence[int], Sequence[int]]) -> Skeleton | None:
    """The skeleton with mirror images of its one-sided branches appended to its bones; `None` where there are no such branches.

    legs : upper, lower and tip bone of each leg
    """
    first, second = (skeleton.heads[list(side)] for side in legs)
    widths = np.linalg.norm(first - second, axis=1)
    length = float(np.linalg.norm(np.diff(first, axis=0), axis=1).sum())
    # Hips stay in the middle however the legs rest, but the hips of a flat figure coincide.
    across = 0 if widths[0] > HIP_WIDTH * length else int(widths.argmax())
    if widths[across] <= ASIDE * length:
        return None
    normal, hips = (first[across] - second[across]) / widths[across], (first[0] + second[0]) / 2.0
    branches = _lone_branches(tree, normal, hips, length)
    return _with_images(skeleton, tree, branches, normal) if branches else None


def is_even(skeleton: Skeleton, bones: Sequence[int]) -> bool:
    """Whether the two links between the heads of three bones are as similar in length as an arm's."""
    heads = skeleton.heads[list(bones)]
    shorter, longer = sorted(np.linalg.norm(np.diff(heads, axis=0), axis=1))
    return bool(shorter >= EVENNESS * longer)


def _lone_branches(tree: JointTree, normal: Array, hips: Array, length: float) -> list[int]:
    """First joints of unpaired branches that are as long as arms, lie on one side, and start below the head."""
    paired = {joint for pair in Anatomy(tree).pairs for both in pair.match.partners.items() for joint in both}
    lone: list[int] = []
    waiting = [joint for joint, parent in enumerate(tree.parents) if parent < 0]
    # The list grows as it is read: where a branch is no arm, one may begin further down.
    for joint in waiting:
        if joint in paired:
            continue
        below, above = tree.below(joint), tree.parents[joint]
        aside = (tree.places[below[1:]] - tree.places[above]) @ normal
        is_aside = len(below) >= FEWEST_JOINTS and (aside.min() > ASIDE * length or aside.max() < -ASIDE * length)
        if above >= 0 and is_aside and tree.depths[joint] >= ARM_LENGTH * length and _is_at_chest(tree, paired, joint, hips):
            lone.append(joint)
        else:
            waiting.extend(tree.children[joint])
    return lone


def _is_at_chest(tree: JointTree, paired: set[int], branch: int, hips: Array) -> bool:
    """Whether the body's middle continues away from the hips beside a branch: true at a chest, false at a head."""
    joint = tree.parents[branch]
    beside = [below for child in tree.children[joint] if child not in paired | {branch} for below in tree.below(child)]
    off = np.linalg.norm(tree.places[[joint, *beside]] - hips, axis=1)
    return bool((off[1:] > off[0]).any())


def _with_images(skeleton: Skeleton, tree: JointTree, branches: Sequence[int], normal: Array) -> Skeleton:
    """The skeleton with mirrored copies of the bones of these branches, each branch mirrored at its parent joint."""
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
        copies=(*skeleton.copies, *((image[bone], image.get(other, other)) for bone, other in skeleton.copies if bone in image)),
        weighted=(*skeleton.weighted, *(skeleton.weighted[bone] for bone in bones if skeleton.weighted)),
        bound=skeleton.bound | {image[bone] for bone in bones if bone in skeleton.bound},
    )
