"""Find the limbs of a skeleton in its rest pose or in poses of its action: by geometry first, then by bone names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .body.facing import Place
from .body.judging import Kind
from .body.shapes import Reason
from .named import with_names
from .names import NameReading, Side
from .offsets import as_parented, is_known_at_rest, is_laid_out, steadied, with_loose_ends
from .one_pose import search
from .pairs import NOTHING, Found, LimbBones, LimbPair, without_listed
from .several_poses import sides_over_time, voted
from .skeleton import Skeleton
from .tree.joints import SAME_PLACE

BRANCH_ENDS = 4
"""Least number of branch ends of a skeleton with limbs; ropes and snakes have fewer."""


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb, given by the names of its bones."""

    kind: Kind
    side: Side
    place: Place
    """Its index among the limbs of its kind on its side, from the front."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip."""
    tip_at_tail: bool
    toe: str
    """Bone of the toes; empty for arms and for legs without toes."""
    against: Kind | Reason | None
    """Verdict of the geometry where the names overruled it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Branches that resemble limbs but are not."""

    bones: tuple[str, ...]
    """First bone of each branch: both sides, or the only one."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class Findings:
    """Limbs and rejected branches of a skeleton."""

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]
    limbs_from: str = "REST"
    """`MOTION` where the limbs come from poses of the action, else `REST`."""
    laid_out: bool = False
    """Whether nothing was found because the rest is not a pose and there is no motion."""
    sides_differ: bool = False
    """Whether names and geometry (feet, knees, elbows) disagree about left and right."""


def find_limbs(skeleton: Skeleton) -> Findings:
    """Find the arms and legs of all characters in a skeleton: among deforming bones, or among all where these have no pairs.

    The limbs of the rest pose are taken if a quarter of the poses confirm them, else the limbs that most poses show.
    """
    if not skeleton.names:
        return Findings((), ())
    reading = NameReading(skeleton.names, skeleton.parents)
    poses = np.empty((0, len(skeleton.names), 2, 3)) if skeleton.poses is None else skeleton.poses
    tolerance = SAME_PLACE * skeleton.size
    tree_like = replace(skeleton, parents=with_loose_ends(skeleton, poses, tolerance))
    poses = steadied(tree_like, poses)
    laid_out = is_laid_out(skeleton)
    found, from_motion, agreeing = NOTHING if laid_out else search(tree_like), False, poses[:0]
    if len(poses):
        found, from_motion, agreeing = voted(tree_like, found, poses)
    pairs = [as_parented(skeleton, pair, tolerance) for pair in found.pairs]
    known = [pair for pair in pairs if all(is_known_at_rest(skeleton, bones) for bones in pair.both)]
    lost = [(tuple(bones.upper for bones in pair.both), Reason.LOOSE) for pair in pairs if pair not in known]
    found = Found(tuple(known), (*lost, *found.left_out))
    if laid_out and not len(agreeing):
        agreeing = poses
    elif not from_motion:
        agreeing = np.concatenate([np.stack([skeleton.heads, skeleton.tails], axis=1)[None], agreeing])
    if len(agreeing) > 1 or from_motion:
        found = replace(found, pairs=sides_over_time(skeleton, found.pairs, agreeing))
    if reading.parts_hold:
        found = with_names(skeleton, reading, found, agreeing, tolerance)
    found = without_listed(tree_like, found)
    limbs, differ = _limbs(skeleton, reading, found.pairs)
    left_out = (LeftOut(tuple(skeleton.names[bone] for bone in bones), reason) for bones, reason in found.left_out)
    limbs_from = "MOTION" if from_motion and limbs else "REST"
    branches = len(skeleton.names) - len(set(skeleton.parents) - {-1})
    return Findings(
        limbs, tuple(left_out), limbs_from, laid_out and branches >= BRANCH_ENDS and not limbs and not len(poses), differ
    )


def _limbs(skeleton: Skeleton, reading: NameReading, pairs: Sequence[LimbPair]) -> tuple[tuple[FoundLimb, ...], bool]:
    """The limbs by bone names, left ones first, and whether names and geometry disagree about sides."""
    names, limbs, differ = skeleton.names, [], False
    for pair in pairs:
        by_geometry = Side.LEFT if pair.left > 0.0 else Side.RIGHT if pair.left < 0.0 else Side.CENTER
        by_name = [_named_side(reading, bones) for bones in pair.both]
        sides = [side if side is not Side.CENTER else by_name[-1 - number].other for number, side in enumerate(by_name)]
        if sides[0] is Side.CENTER:
            sides = [by_geometry, by_geometry.other]
        differ |= Side.CENTER not in (by_geometry, sides[0]) and len(by_name) > 1 and by_geometry is not sides[0]
        for bones, side in sorted(zip(pair.both, sides, strict=False), key=lambda entry: entry[1] is not Side.LEFT):
            toe = names[bones.toe] if bones.toe >= 0 and pair.kind is Kind.LEG else ""
            tip_at_tail = bones.tip == bones.lower
            upper, lower, tip = (names[bone] for bone in (bones.upper, bones.lower, bones.tip))
            limbs.append(FoundLimb(pair.kind, side, pair.place, upper, lower, tip, tip_at_tail, toe, pair.against))
    return tuple(limbs), differ


def _named_side(reading: NameReading, bones: LimbBones) -> Side:
    """Side of a limb by its bone names; `CENTER` where they name none, contradict each other, or are not trusted."""
    sides = {reading.meanings[bone].side for bone in (bones.upper, bones.lower, bones.tip)} - {Side.CENTER}
    return sides.pop() if reading.sides_hold and len(sides) == 1 else Side.CENTER
