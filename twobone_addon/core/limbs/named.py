"""Correct the limbs found by geometry with bone names: reclassify, remove and add limbs."""

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
    """The findings with bone names taken into account: limbs named otherwise are removed, named limbs are added.

    A limb found both ways keeps the bones that geometry found, which are the posing ones in a rig with controls.
    """
    places = seen[0, :, 0] if len(seen) else skeleton.heads
    named = _without_duplicates(places, reading.limbs(), tolerance)

    def is_same(bones: LimbBones, limb: NamedLimb) -> bool:
        return all(
            np.linalg.norm(places[a] - places[b]) <= tolerance for a, b in ((bones.upper, limb.upper), (bones.lower, limb.lower))
        )

    def overlaps(bones: LimbBones, limb: NamedLimb) -> bool:
        own, other = skeleton.between(bones.upper, bones.tip), skeleton.between(limb.upper, limb.lower)
        return bool(own & other)

    def is_named_otherwise(bones: LimbBones) -> bool:
        meanings = [reading.meanings[bone] for bone in (bones.upper, bones.lower)]
        return all(
            meaning.family in {Family.OTHER, Family.HELPER, Family.TRUNK} or min(meaning.ranks, default=Rank.BEFORE) >= Rank.END
            for meaning in meanings
        )

    kept: list[LimbPair] = []
    left_out = list(found.left_out)
    matched: set[NamedLimb] = set()
    for pair in found.pairs:
        partners = [next((limb for limb in named if is_same(bones, limb)), None) for bones in pair.both]
        named_limbs = {limb for limb in partners if limb is not None}
        if len(named_limbs) == len(pair.both):
            matched |= named_limbs
            kind = _kind(pair.kind, next(iter(named_limbs)).family, hand=pair.hand)
            kept.append(replace(pair, kind=kind, against=None if kind is pair.kind else pair.kind))
        elif named_limbs or any(is_named_otherwise(bones) or any(overlaps(bones, limb) for limb in named) for bones in pair.both):
            left_out.append((tuple(bones.upper for bones in pair.both), Reason.NAMED))
        else:
            kept.append(pair)
    for rescued in _rescued(skeleton, reading, [limb for limb in named if limb not in matched], places):
        pair = as_parented(skeleton, rescued, tolerance)
        bones = pair.both[0]
        if any(_has_unknown_end(skeleton, places, each) for each in pair.both):
            left_out = [entry for entry in left_out if not {each.upper for each in pair.both} & set(entry[0])]
            left_out.append((tuple(each.upper for each in pair.both), Reason.LOOSE))
        elif len(pair.both) > 1 or bones.tip == bones.lower or is_even(skeleton, (bones.upper, bones.lower, bones.tip)):
            way = {bone for each in pair.both for bone in skeleton.way_up(each.lower)}
            against = next((reason for first, reason in found.left_out if way & set(first)), None)
            kept.append(replace(pair, against=Reason.LOOSE if is_loose(skeleton, bones) else against))
        else:
            left_out.append(((bones.upper,), Reason.UNEVEN))
    return Found(in_order(kept), tuple(left_out))


def _without_duplicates(places: Array, limbs: Sequence[NamedLimb], tolerance: float) -> list[NamedLimb]:
    """The limbs without duplicates at the same position, which come from layers of a rig."""
    found: list[NamedLimb] = []
    for limb in limbs:
        ends = places[[limb.upper, limb.lower]]
        others = (places[[each.upper, each.lower]] for each in found if each.side is limb.side)
        if all(np.linalg.norm(ends - other, axis=1).max() > tolerance for other in others):
            found.append(limb)
    return found


def _kind(seen: Kind, family: Family, *, hand: bool) -> Kind:
    """Kind of a limb found by geometry and names: legs named arms are an animal's front legs unless they end in fingers."""
    if family is Family.LEG:
        return Kind.LEG
    return Kind.ARM if hand else seen


def _rescued(skeleton: Skeleton, reading: NameReading, limbs: Sequence[NamedLimb], places: Array) -> list[LimbPair]:
    """Limbs known by name only, in pairs."""
    rights = [limb for limb in limbs if limb.side is Side.RIGHT]
    pairs: list[LimbPair] = []

    def features(limb: NamedLimb) -> Array:
        return np.array([np.linalg.norm(places[limb.lower] - places[limb.upper]), len(skeleton.way_up(limb.upper))])

    for limb in limbs:
        if limb.side is Side.RIGHT:
            continue
        partner = None
        if limb.side is Side.LEFT:
            alike = [other for other in rights if other.family is limb.family]
            partner = min(alike, key=lambda other: float(np.abs(features(other) - features(limb)).sum()), default=None)
        both = [limb] if partner is None else [limb, partner]
        rights = [other for other in rights if other is not partner]
        pairs.append(_named_pair(skeleton, reading, both))
    pairs += [_named_pair(skeleton, reading, [limb]) for limb in rights]
    return pairs


def _has_unknown_end(skeleton: Skeleton, places: Array, bones: LimbBones) -> bool:
    """Whether a limb's end is unknown.

    Its lower bone ends it at a tail too near for a link, as importers make up, or the rest does not show its loose hand or foot.
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
    """The bones of a limb known by name only; its tip is the head of the hand or foot, else the tail of the lower bone."""
    tip = limb.end
    if tip < 0:
        children = [
            bone
            for bone, above in enumerate(skeleton.parents)
            if above == limb.lower and reading.meanings[bone].family is Family.UNKNOWN
        ]
        tip = children[0] if len(children) == 1 else limb.lower
    toe = next(
        (
            bone
            for bone, meaning in enumerate(reading.meanings)
            if Rank.AFTER in meaning.ranks and bone != tip and tip in reading.above(bone) and tip != limb.lower
        ),
        -1,
    )
    return LimbBones(limb.upper, limb.lower, tip, toe, toe if toe >= 0 else tip)
