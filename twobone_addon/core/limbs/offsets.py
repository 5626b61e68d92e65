"""Read the offsets between bones: whether the rest is a pose, which feet are parented elsewhere, which joints are noisy."""

from __future__ import annotations

import numpy as np

from ...records import replace
from ..array_types import Array
from .body.shapes import BALANCE
from .pairs import LimbBones, LimbPair
from .skeleton import Skeleton, hang

LAID_OUT = 0.9
"""Length of the sum of all offsets between bones, relative to the sum of their lengths, from which the rest is not a pose: all
offsets lie along one axis, as motion exporters lay them out. Standing bodies reach both up and down."""

NOISE_RANGE = (1e-3, 0.3)
"""Range of the standard deviation over time of a bone's offset length, relative to its median, that counts as noise.
Recordings from markers and video have it; greater changes are intended."""

RIGID_CHANGE = 0.03
"""Greatest change of a foot's distance from both ends of the bone it follows, relative to that bone's link."""

BENDING_CHANGE = 0.01
"""Least change of the foot's distance from the limb's root, relative to the same link, that shows the limb bending."""

LEG_BONES = 4
"""Least number of bones from a skeleton's root to the end of a leg without a foot: root, hips, two of the leg."""

LEAST_POSES = 3
"""Least number of poses for a meaningful median length."""


def is_laid_out(skeleton: Skeleton) -> bool:
    """Whether all offsets between bones at rest lie along one axis, so that the rest is not a pose."""
    children = [bone for bone, above in enumerate(skeleton.parents) if above >= 0]
    if not children:
        return False
    offsets = skeleton.heads[children] - skeleton.heads[[skeleton.parents[bone] for bone in children]]
    total = float(np.linalg.norm(offsets, axis=1).sum())
    return total > 0.0 and float(np.linalg.norm(offsets.sum(axis=0))) >= LAID_OUT * total


def with_loose_ends(skeleton: Skeleton, poses: Array, tolerance: float) -> tuple[int, ...]:
    """The parents, with loose feet reparented to the limb at whose end they begin in all poses.

    Some rigs parent feet to the root and let them follow by constraints or keys. For bones whose tails an importer made up, the
    motion shows where they end: at a foot that stays fixed relative to the bone while the limb bends.
    """
    rest = np.stack([skeleton.heads, skeleton.tails], axis=1)[None]
    parents, placed = list(skeleton.parents), poses if len(poses) and is_laid_out(skeleton) else np.concatenate([rest, poses])
    carried = skeleton.carried()
    loose = [bone for bone, above in enumerate(parents) if carried[bone] and (above < 0 or parents[above] < 0)]
    # First feet that begin where a branch ends, in all poses; then those that keep their distance from its last bone.
    has_children = set(parents)
    for leaf, above in enumerate(skeleton.parents):
        if leaf in has_children or above < 0:
            continue
        ends = [(leaf, placed[:, leaf, 1])]
        # Without a layer of controls the last bone of a branch may be no more than its end.
        if not skeleton.copies and np.linalg.norm(placed[0, leaf, 0] - placed[0, above, 0]) > tolerance:
            ends.append((above, placed[:, leaf, 0]))
        for carrier, end in ends:
            far = np.linalg.norm(placed[:, loose, 0] - end[:, None], axis=2).max(axis=0)
            for bone in (loose[number] for number in np.flatnonzero(far <= 2.0 * tolerance)):
                if len(skeleton.way_up(leaf)) >= LEG_BONES:
                    hang(parents, bone, carrier)
    heads, has_children = placed[:, loose, 0], set(parents)
    following: list[tuple[float, int, int]] = []
    for leaf in (bone for bone in range(len(parents)) if bone not in has_children and len(skeleton.way_up(bone)) >= LEG_BONES):
        above = parents[leaf]
        link = float(np.linalg.norm(placed[0, leaf, 0] - placed[0, above, 0]))
        off, off_tail, off_above = (
            np.linalg.norm(heads - end[:, None], axis=2) for end in (placed[:, leaf, 0], placed[:, leaf, 1], placed[:, above, 0])
        )
        changes = np.maximum(np.ptp(off, axis=0), np.ptp(off_tail, axis=0))
        follows = (changes <= RIGID_CHANGE * link) & (np.ptp(off_above, axis=0) > 2.0 * changes + BENDING_CHANGE * link)
        is_link = (off[0] >= BALANCE * link) & (BALANCE * off[0] <= link)
        following += [(float(off[0, number]), loose[number], leaf) for number in np.flatnonzero(follows & is_link)]
    # Legs that move alike keep their distances from each other's feet too: each foot belongs to the nearest.
    nearest: dict[int, float] = {}
    for off_bone, bone, leaf in sorted(following):
        is_taken = skeleton.parents[bone] in nearest or nearest.get(leaf, off_bone) < off_bone - 2.0 * tolerance
        if parents[bone] == skeleton.parents[bone] and not is_taken and hang(parents, bone, leaf):
            nearest[bone], nearest[leaf] = off_bone, off_bone
    return tuple(parents)


def is_loose(skeleton: Skeleton, bones: LimbBones) -> bool:
    """Whether the tip of a limb is a foot or hand that is not below its lower bone."""
    return bones.lower not in skeleton.way_up(bones.tip)


def is_known_at_rest(skeleton: Skeleton, bones: LimbBones) -> bool:
    """Whether the rest shows where a limb ends: for a loose foot, the rest must be a pose with a plausible link to the foot."""
    if not is_loose(skeleton, bones):
        return True
    lengths = np.linalg.norm(np.diff(skeleton.heads[[bones.upper, bones.lower, bones.tip]], axis=0), axis=1)
    return not is_laid_out(skeleton) and float(lengths.min()) >= BALANCE * float(lengths.max())


def with_ends(skeleton: Skeleton, pair: LimbPair, tolerance: float) -> LimbPair:
    """The pair with the bones at which its limbs end.

    A loose foot that carries no mesh stands for the lower bone's child or tail at the same place, if there is one.
    """
    carries = skeleton.weighted if any(skeleton.weighted) else None

    def ended(bones: LimbBones) -> LimbBones:
        place = skeleton.tails[bones.tip] if bones.tip == bones.lower else skeleton.heads[bones.tip]
        if not is_loose(skeleton, bones) or (carries and carries[bones.tip]):
            return bones
        ends = {bone: skeleton.heads[bone] for bone, above in enumerate(skeleton.parents) if above == bones.lower}
        ends[bones.lower] = skeleton.tails[bones.lower]
        tip = next((bone for bone, end in ends.items() if np.linalg.norm(end - place) <= 2.0 * tolerance), -1)
        return bones if tip < 0 else replace(bones, tip=tip, toe=-1)

    return replace(pair, both=tuple(map(ended, pair.both)))


def steadied(skeleton: Skeleton, poses: Array) -> Array:
    """The poses `(P, B, 2, 3)` with the length of each noisy offset replaced by its median over time."""
    if len(poses) < LEAST_POSES:
        return poses
    steady = poses.copy()
    # Parents first: a bone is put at its steadied parent.
    paths = sorted((skeleton.way_up(bone) for bone in range(len(skeleton.names))), key=len)
    for bone, above in (path[:2] for path in paths if len(path) > 1):
        offset = poses[:, bone, 0] - poses[:, above, 0]
        lengths = np.linalg.norm(offset, axis=1)
        median = float(np.median(lengths))
        is_noisy = median > 0.0 and NOISE_RANGE[0] <= float(lengths.std()) / median <= NOISE_RANGE[1]
        factor = (median / np.maximum(lengths, np.finfo(float).tiny))[:, None] if is_noisy else 1.0
        steady[:, bone, 0] = steady[:, above, 0] + offset * factor
        steady[:, bone, 1] = steady[:, bone, 0] + poses[:, bone, 1] - poses[:, bone, 0]
    return steady
