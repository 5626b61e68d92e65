"""Find the limbs of a skeleton: from its rest or from poses of its action, by geometry first, with names judged at the end."""

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

BRANCHED = 4
"""Ends of branches from which a skeleton may have limbs; ropes and snakes have fewer."""


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb by the names of its bones."""

    kind: Kind
    side: Side
    place: Place
    """Where it is among others of its kind on its side."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip."""
    tip_at_tail: bool
    toe: str
    """Bone of the toes; empty for an arm, and where there is none."""
    against: Kind | Reason | None
    """What the shape says where names decide otherwise."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What looks a little like limbs, and is not."""

    bones: tuple[str, ...]
    """First bones of both sides, or of the only one."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class Findings:
    """What a skeleton has."""

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]
    limbs_from: str = "REST"
    """`MOTION` where poses of the action showed limbs that the rest does not."""
    laid_out: bool = False
    """Whether nothing was found because the rest is no pose, and there is no motion."""
    sides_differ: bool = False
    """Whether names call left what the feet, knees or elbows say is right."""


def find_limbs(skeleton: Skeleton) -> Findings:
    """The arms and legs of all characters of a skeleton: by the bones that deform, or by all where these have no pairs.

    A rest that a quarter of the poses confirm goes first; else those limbs are taken that most of the poses show.
    """
    if not skeleton.names:
        return Findings((), ())
    reading = NameReading(skeleton.names, skeleton.parents)
    poses = np.empty((0, len(skeleton.names), 2, 3)) if skeleton.poses is None else skeleton.poses
    tolerance = SAME_PLACE * skeleton.size
    tree_like = replace(skeleton, parents=with_loose_ends(skeleton, poses, tolerance))
    poses = steadied(tree_like, poses)
    laid_out = is_laid_out(skeleton)
    found, from_motion, seen = NOTHING if laid_out else search(tree_like), False, poses[:0]
    if len(poses):
        found, from_motion, seen = voted(tree_like, found, poses)
    pairs = [as_parented(skeleton, pair, tolerance) for pair in found.pairs]
    known = [pair for pair in pairs if all(is_known_at_rest(skeleton, bones) for bones in pair.both)]
    lost = [(tuple(bones.upper for bones in pair.both), Reason.LOOSE) for pair in pairs if pair not in known]
    found = Found(tuple(known), (*lost, *found.left_out))
    if laid_out and not len(seen):
        seen = poses
    elif not from_motion:
        seen = np.concatenate([np.stack([skeleton.heads, skeleton.tails], axis=1)[None], seen])
    if len(seen) > 1 or from_motion:
        found = replace(found, pairs=sides_over_time(skeleton, found.pairs, seen))
    if reading.parts_hold:
        found = with_names(skeleton, reading, found, seen, tolerance)
    found = without_listed(tree_like, found)
    limbs, differ = _limbs(skeleton, reading, found.pairs)
    left_out = (LeftOut(tuple(skeleton.names[bone] for bone in bones), reason) for bones, reason in found.left_out)
    told = "MOTION" if from_motion and limbs else "REST"
    branches = len(skeleton.names) - len(set(skeleton.parents) - {-1})
    return Findings(limbs, tuple(left_out), told, laid_out and branches >= BRANCHED and not limbs and not len(poses), differ)


def _limbs(skeleton: Skeleton, reading: NameReading, pairs: Sequence[LimbPair]) -> tuple[tuple[FoundLimb, ...], bool]:
    """The limbs by names, left ones first, and whether names and geometry say different sides."""
    names, limbs, differ = skeleton.names, [], False
    for pair in pairs:
        seen = Side.LEFT if pair.left > 0.0 else Side.RIGHT if pair.left < 0.0 else Side.CENTER
        named = [_named_side(reading, bones) for bones in pair.both]
        sides = [own if own is not Side.CENTER else named[-1 - number].other for number, own in enumerate(named)]
        if sides[0] is Side.CENTER:
            sides = [seen, seen.other]
        differ |= Side.CENTER not in (seen, sides[0]) and len(named) > 1 and seen is not sides[0]
        for bones, side in sorted(zip(pair.both, sides, strict=False), key=lambda entry: entry[1] is not Side.LEFT):
            toe = names[bones.toe] if bones.toe >= 0 and pair.kind is Kind.LEG else ""
            tip_at_tail = bones.tip == bones.lower
            upper, lower, tip = (names[bone] for bone in (bones.upper, bones.lower, bones.tip))
            limbs.append(FoundLimb(pair.kind, side, pair.place, upper, lower, tip, tip_at_tail, toe, pair.against))
    return tuple(limbs), differ


def _named_side(reading: NameReading, bones: LimbBones) -> Side:
    """Side of a limb as the names of its bones tell it; `CENTER` where they do not, or not the same."""
    told = {reading.meanings[bone].side for bone in (bones.upper, bones.lower, bones.tip)} - {Side.CENTER}
    return told.pop() if reading.sides_hold and len(told) == 1 else Side.CENTER
