"""What names add to the limbs that shapes show, and what they take away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..array_types import Array
from .body.facing import Place
from .body.judging import Kind
from .body.shapes import BALANCE, Reason
from .lone import is_even
from .names import Family, NamedLimb, NameReading, Rank, Side
from .offsets import as_parented, is_known_at_rest, is_loose
from .pairs import Found, LimbBones, LimbPair, in_order
from .skeleton import Skeleton


def with_names(skeleton: Skeleton, reading: NameReading, found: Found, seen: Array, tolerance: float) -> Found:
    """The findings after names had their say: what they call something else goes, what they call a limb comes.

    A limb that both tell keeps the bones that geometry found, which are those that pose it in a rig with controls.
    """
    places = seen[0, :, 0] if len(seen) else skeleton.heads
    named = _apart(places, reading.limbs(), tolerance)

    def same(bones: LimbBones, limb: NamedLimb) -> bool:
        return all(
            np.linalg.norm(places[a] - places[b]) <= tolerance for a, b in ((bones.upper, limb.upper), (bones.lower, limb.lower))
        )

    def overlaps(bones: LimbBones, limb: NamedLimb) -> bool:
        own, other = skeleton.between(bones.upper, bones.tip), skeleton.between(limb.upper, limb.lower)
        return bool(own & other)

    def is_other(bones: LimbBones) -> bool:
        meanings = [reading.meanings[bone] for bone in (bones.upper, bones.lower)]
        return all(
            meaning.family in {Family.OTHER, Family.HELPER, Family.TRUNK} or min(meaning.ranks, default=Rank.BEFORE) >= Rank.END
            for meaning in meanings
        )

    kept: list[LimbPair] = []
    left_out = list(found.left_out)
    matched: set[NamedLimb] = set()
    for pair in found.pairs:
        partners = [next((limb for limb in named if same(bones, limb)), None) for bones in pair.both]
        told = {limb for limb in partners if limb is not None}
        if len(told) == len(pair.both):
            matched |= told
            kind = _kind(pair.kind, next(iter(told)).family, hand=pair.hand)
            kept.append(replace(pair, kind=kind, against=None if kind is pair.kind else pair.kind))
        elif told or any(is_other(bones) or any(overlaps(bones, limb) for limb in named) for bones in pair.both):
            left_out.append((tuple(bones.upper for bones in pair.both), Reason.NAMED))
        else:
            kept.append(pair)
    for rescued in _rescued(skeleton, reading, [limb for limb in named if limb not in matched], places):
        pair = as_parented(skeleton, rescued, tolerance)
        bones = pair.both[0]
        if any(_ends_nowhere(skeleton, places, each) for each in pair.both):
            left_out = [entry for entry in left_out if not {each.upper for each in pair.both} & set(entry[0])]
            left_out.append((tuple(each.upper for each in pair.both), Reason.LOOSE))
        elif len(pair.both) > 1 or bones.tip == bones.lower or is_even(skeleton, (bones.upper, bones.lower, bones.tip)):
            way = {bone for each in pair.both for bone in skeleton.way_up(each.lower)}
            against = next((reason for first, reason in found.left_out if way & set(first)), None)
            kept.append(replace(pair, against=Reason.LOOSE if is_loose(skeleton, bones) else against))
        else:
            left_out.append(((bones.upper,), Reason.UNEVEN))
    return Found(in_order(kept), tuple(left_out))


def _apart(places: Array, limbs: Sequence[NamedLimb], tolerance: float) -> list[NamedLimb]:
    """The limbs, each of those that are in one place (layers of a rig) once."""
    found: list[NamedLimb] = []
    for limb in limbs:
        ends = places[[limb.upper, limb.lower]]
        others = (places[[each.upper, each.lower]] for each in found if each.side is limb.side)
        if all(np.linalg.norm(ends - other, axis=1).max() > tolerance for other in others):
            found.append(limb)
    return found


def _kind(seen: Kind, family: Family, *, hand: bool) -> Kind:
    """What a limb is that geometry and names tell: legs with the name of arms are an animal's, unless they end in fingers."""
    if family is Family.LEG:
        return Kind.LEG
    return Kind.ARM if hand else seen


def _rescued(skeleton: Skeleton, reading: NameReading, limbs: Sequence[NamedLimb], places: Array) -> list[LimbPair]:
    """Limbs that only names tell, in pairs."""
    rights = [limb for limb in limbs if limb.side is Side.RIGHT]
    pairs: list[LimbPair] = []

    def lengths(limb: NamedLimb) -> Array:
        return np.array([np.linalg.norm(places[limb.lower] - places[limb.upper]), len(skeleton.way_up(limb.upper))])

    for limb in limbs:
        if limb.side is Side.RIGHT:
            continue
        partner = None
        if limb.side is Side.LEFT:
            alike = [other for other in rights if other.family is limb.family]
            partner = min(alike, key=lambda other: float(np.abs(lengths(other) - lengths(limb)).sum()), default=None)
        both = [limb] if partner is None else [limb, partner]
        rights = [other for other in rights if other is not partner]
        pairs.append(_named_pair(skeleton, reading, both))
    pairs += [_named_pair(skeleton, reading, [limb]) for limb in rights]
    return pairs


def _ends_nowhere(skeleton: Skeleton, places: Array, bones: LimbBones) -> bool:
    """Whether a limb ends at a tail that importers made up: too near for a link, and the hand or foot is parented elsewhere.

    Or whether it is not known at rest where that hand or foot is.
    """
    if bones.tip != bones.lower:
        return not is_known_at_rest(skeleton, bones)
    link = float(np.linalg.norm(skeleton.tails[bones.lower] - skeleton.heads[bones.lower]))
    return link < BALANCE * float(np.linalg.norm(places[bones.lower] - places[bones.upper]))


def _named_pair(skeleton: Skeleton, reading: NameReading, limbs: Sequence[NamedLimb]) -> LimbPair:
    kind = Kind.LEG if limbs[0].family is Family.LEG else Kind.ARM
    both = tuple(_named_bones(skeleton, reading, limb) for limb in limbs)
    return LimbPair(kind, Place(len(skeleton.names), 1), both, 0.0)


def _named_bones(skeleton: Skeleton, reading: NameReading, limb: NamedLimb) -> LimbBones:
    """The bones of a limb that only names tell; its tip is where the hand or foot begins, else where the lower bone ends."""
    tip = limb.end
    if tip < 0:
        on = [
            bone
            for bone, above in enumerate(skeleton.parents)
            if above == limb.lower and reading.meanings[bone].family is Family.UNKNOWN
        ]
        tip = on[0] if len(on) == 1 else limb.lower
    toe = next(
        (
            bone
            for bone, meaning in enumerate(reading.meanings)
            if Rank.AFTER in meaning.ranks and bone != tip and tip in reading.above(bone) and tip != limb.lower
        ),
        -1,
    )
    return LimbBones(limb.upper, limb.lower, tip, toe, toe if toe >= 0 else tip)
