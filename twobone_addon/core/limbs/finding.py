"""Find the limbs of a skeleton in its rest pose or in poses of its action: by geometry first, then by bone names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...records import replace
from ..array_types import Array
from .body.facing import CLEAR, LimbIndex
from .body.judging import MANY_PAIRS, LimbKind
from .body.shapes import BALANCE, FINGERS, Reason
from .lone import is_even
from .names import Family, NamedLimb, NameReading, Rank, Side
from .offsets import as_parented, is_known_at_rest, is_laid_out, is_loose, steadied, with_loose_ends
from .one_pose import search
from .pairs import NOTHING, Found, LimbBones, LimbKey, LimbPair, in_order, without_listed
from .skeleton import Skeleton
from .tree.joints import SAME_PLACE


def with_names(skeleton: Skeleton, tree_like: Skeleton, reading: NameReading, found: Found, seen: Array) -> Found:
    """The findings with bone names taken into account: limbs named otherwise are removed, named limbs are added.

    A limb found both ways keeps the bones that geometry found, which are the posing ones in a rig with controls.
    `tree_like` has loose feet parented to their limbs.
    """
    tolerance = SAME_PLACE * skeleton.size
    places = seen[0, :, 0] if len(seen) else skeleton.heads
    named = _without_duplicates(places, reading.limbs(), tolerance)

    def is_same(bones: LimbBones, limb: NamedLimb) -> bool:
        return all(
            np.linalg.norm(places[a] - places[b]) <= tolerance for a, b in ((bones.upper, limb.upper), (bones.lower, limb.lower))
        )

    def overlaps(bones: LimbBones, limb: NamedLimb) -> bool:
        return bool(skeleton.between(bones.upper, bones.tip) & skeleton.between(limb.upper, limb.lower))

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
    for rescued in _rescued(tree_like, reading, [limb for limb in named if limb not in matched], places):
        pair = _with_kind_seen(skeleton, as_parented(skeleton, rescued, tolerance), found)
        limb, uppers = pair.both[0], tuple(bones.upper for bones in pair.both)
        if any(_has_unknown_end(skeleton, places, bones) for bones in pair.both):
            left_out = [entry for entry in left_out if not set(uppers) & set(entry[0])]
            left_out.append((uppers, Reason.LOOSE))
        elif len(pair.both) > 1 or limb.tip == limb.lower or is_even(skeleton, (limb.upper, limb.lower, limb.tip)):
            path = {bone for bones in pair.both for bone in skeleton.way_up(bones.lower)}
            against = next((reason for first, reason in found.left_out if path & set(first)), None)
            kept.append(replace(pair, against=Reason.LOOSE if is_loose(skeleton, limb) else against))
        else:
            left_out.append((uppers, Reason.UNEVEN))
    return Found(in_order(kept, skeleton.names), tuple(left_out))


def _with_kind_seen(skeleton: Skeleton, pair: LimbPair, found: Found) -> LimbPair:
    """A named pair as arms where it ends in hands and geometry saw arms there, though it may be named front legs."""
    seen = (bones for arms in found.pairs if arms.kind is LimbKind.ARM for bones in arms.both)
    bones_seen = {bone for bones in seen for bone in skeleton.between(bones.upper, bones.tip)}
    is_arm = pair.hand and all(skeleton.between(bones.upper, bones.tip) & bones_seen for bones in pair.both)
    return replace(pair, kind=LimbKind.ARM) if is_arm else pair


def _without_duplicates(places: Array, limbs: Sequence[NamedLimb], tolerance: float) -> list[NamedLimb]:
    """The limbs without duplicates at the same position, which come from layers of a rig."""
    kept: list[NamedLimb] = []
    for limb in limbs:
        ends = places[[limb.upper, limb.lower]]
        others = (places[[other.upper, other.lower]] for other in kept if other.side is limb.side)
        if all(np.linalg.norm(ends - other, axis=1).max() > tolerance for other in others):
            kept.append(limb)
    return kept


def _kind(seen: LimbKind, family: Family, *, hand: bool) -> LimbKind:
    """Kind of a limb found by geometry and names: legs named arms are an animal's front legs unless they end in fingers."""
    if family is Family.LEG:
        return LimbKind.LEG
    return LimbKind.ARM if hand else seen


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
    kind = LimbKind.LEG if limbs[0].family is Family.LEG else LimbKind.ARM
    both = tuple(_named_bones(skeleton, reading, limb) for limb in limbs)
    hand = all(_is_named_hand(reading, bones.tip) for bones in both)
    return LimbPair(kind, LimbIndex(len(skeleton.names), 1), both, 0.0, hand)


def _is_named_hand(reading: NameReading, bone: int) -> bool:
    """Whether a bone is named a hand and has as many branches as a hand has fingers at least."""
    meaning = reading.meanings[bone]
    return meaning.family is Family.ARM and Rank.END in meaning.ranks and list(reading.parents).count(bone) >= FINGERS


def _named_bones(skeleton: Skeleton, reading: NameReading, limb: NamedLimb) -> LimbBones:
    """The bones of a limb known by name only; its tip is the head of the hand or foot, else the tail of the lower bone.

    The skeleton has loose feet parented to their limbs; those are known by their motion, whatever they are called.
    """
    tip = limb.end
    if tip < 0:
        children = [bone for bone, above in enumerate(skeleton.parents) if above == limb.lower]
        loose = [bone for bone in children if reading.parents[bone] != limb.lower]
        plain = [bone for bone in children if reading.meanings[bone].family is Family.UNKNOWN or _is_named_hand(reading, bone)]
        ends = loose or plain
        tip = ends[0] if len(ends) == 1 else limb.lower
    toe = next(
        (
            bone
            for bone, meaning in enumerate(reading.meanings)
            if Rank.AFTER in meaning.ranks and bone != tip and tip in reading.above(bone) and tip != limb.lower
        ),
        -1,
    )
    after = [bone for bone, above in enumerate(skeleton.parents) if above == tip != limb.lower]
    if toe < 0 and len(after) == 1 and reading.parents[tip] != limb.lower:
        toe = after[0]
    return LimbBones(limb.upper, limb.lower, tip, toe, toe if toe >= 0 else tip)


CONFIRMING_SHARE = 0.25
"""Share of the poses that must show the rest's limbs for these to be taken."""


def voted(skeleton: Skeleton, rest: Found, poses: Array) -> tuple[Found, bool, Array]:
    """The rest's limbs where enough poses confirm them, else the limbs that most poses show.

    Also returns whether the limbs are from poses, and the poses `(P, B, 2, 3)` that agree. Poses that show nothing do not vote.
    Limbs that only a few poses show are left out.
    """
    rest_keys = {pair.key for pair in rest.pairs}
    votes: Counter[LimbKey] = Counter()
    searched: dict[int, Found] = {}
    confirming: list[int] = []
    showing = 0
    # Poses far apart in time first: the vote may be over before all are searched.
    order = sorted(range(len(poses)), key=lambda number: (5 * number) % 9)
    for remaining, number in zip(reversed(range(len(poses))), order, strict=True):
        found = searched[number] = search(replace(skeleton, heads=poses[number, :, 0], tails=poses[number, :, 1]))
        votes.update(key for pair in found.pairs for key in pair.key)
        if rest_keys and rest_keys <= {pair.key for pair in found.pairs}:
            confirming.append(number)
            if len(confirming) >= CONFIRMING_SHARE * len(poses):
                return rest, False, poses[confirming]
        is_hopeless = not rest_keys or len(confirming) + remaining < CONFIRMING_SHARE * len(poses)
        showing = sum(bool(shown.pairs) for shown in searched.values())
        # The same limbs in each of most poses: the others cannot outvote them.
        if is_hopeless and 2 * showing > len(poses) and min(votes.values()) == showing:
            break
    kept = {key for key, count in votes.items() if 2 * count > showing and count >= CONFIRMING_SHARE * len(poses)}
    pairs = [pair for shown in searched.values() for pair in shown.pairs]
    others = [pair.both for pair in (*pairs, *rest.pairs) if not kept & set(pair.key)]
    seldom = Counter(tuple(bones.upper for bones in both) for both in others)
    agreeing = {number: len(kept & {key for pair in found.pairs for key in pair.key}) for number, found in searched.items()}
    best = searched[max(agreeing, key=agreeing.__getitem__)]
    left_out = (*best.left_out, *((bones, Reason.SELDOM) for bones, _ in seldom.most_common()))
    agreeing_poses = [number for number, count in agreeing.items() if count]
    return Found(in_order(_elected(kept, pairs), skeleton.names), left_out), bool(kept), poses[agreeing_poses]


def _elected(kept: set[LimbKey], pairs: Sequence[LimbPair]) -> list[LimbPair]:
    """The pairs whose limbs are kept, each limb with its most frequent partner."""
    elected: list[LimbPair] = []
    taken: set[LimbKey] = set()
    for key, _ in Counter(pair.key for pair in pairs).most_common():
        if not set(key) <= kept - taken:
            continue
        taken |= set(key)
        turned = [pair if pair.both[0].key == key[0] else pair.swapped() for pair in pairs if pair.key == key]
        (kind, place, both), _ = Counter((pair.kind, pair.place, pair.both) for pair in turned).most_common(1)[0]
        hand = 2 * sum(pair.hand for pair in turned) > len(turned)
        elected.append(LimbPair(kind, place, both, float(np.sum([np.sign(pair.left) for pair in turned])), hand))
    for key in sorted(kept - taken):
        pair_with_key = next(pair for pair in pairs if key in pair.key)
        pair_with_key = pair_with_key if pair_with_key.both[0].key == key else pair_with_key.swapped()
        elected.append(replace(pair_with_key, both=pair_with_key.both[:1]))
    return elected


def sides_over_time(skeleton: Skeleton, pairs: Sequence[LimbPair], poses: Array) -> tuple[LimbPair, ...]:
    """The pairs with sides decided by toes, else knees, else elbows over all poses; unchanged where none is clear.

    In one pose a foot may point anywhere; over time feet and knees go forwards. Arms take their side from the legs.
    """
    legs = [pair for pair in pairs if pair.kind is LimbKind.LEG and len(pair.both) > 1]
    arms = [pair for pair in pairs if pair.kind is LimbKind.ARM and len(pair.both) > 1]
    if not legs:
        return tuple(pairs)
    heads = poses[:, :, 0]

    def joints(bones: LimbBones) -> tuple[Array, Array, Array, Array]:
        tip = poses[:, bones.tip, 1] if bones.tip == bones.lower else heads[:, bones.tip]
        end = poses[:, bones.last, 1] if bones.last in (bones.lower, bones.tip) else heads[:, bones.last]
        return heads[:, bones.upper], heads[:, bones.lower], tip, end

    def apart(pair: LimbPair, joint: int) -> Array:
        return joints(pair.both[0])[joint] - joints(pair.both[1])[joint]

    sides = [joints(bones) for pair in legs for bones in pair.both]
    down = np.mean([tip - root for root, _, tip, _ in sides], axis=0)
    scale = float(
        np.mean([np.linalg.norm(tip - mid, axis=1) + np.linalg.norm(mid - root, axis=1) for root, mid, tip, _ in sides])
    )
    across, hips = np.zeros_like(down), [apart(pair, 0) for pair in legs]
    # The hips of a flat figure coincide: there the ends of its legs show the sides.
    if max(float(np.linalg.norm(hip, axis=1).mean()) for hip in hips) < SAME_PLACE * scale:
        hips = [apart(pair, 2) for pair in legs]
    for hip in hips:
        # Pairs list their sides in any order, so each takes the sign that agrees with the first.
        across += hip * np.sign(np.sum(hip * hips[0], axis=1).sum() or 1.0)
    along = np.cross(down, across)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(float).tiny)
    # The feet of many legs point to all sides.
    # The first clear cue tells which of both directions across hips and legs is forward.
    cues = [np.mean([end - tip for _, _, tip, end in sides], axis=0)] if len(legs) < MANY_PAIRS else []
    if len(legs) == 1:
        cues.append(np.mean([_bends(*side[:3]) for side in sides], axis=0))
    if arms:
        cues.append(-np.mean([_bends(*joints(bones)[:3]) for pair in arms for bones in pair.both], axis=0))
    forward = next((clear for cue in cues if abs(clear := float(np.sum(cue * along, axis=1).mean()) / scale) >= CLEAR), 0.0)
    if forward == 0.0:
        return tuple(pairs)
    left = across * np.sign(forward) * (-1.0 if skeleton.mirrored else 1.0)
    return tuple(replace(pair, left=float(np.sum(apart(pair, 0) * left))) if len(pair.both) > 1 else pair for pair in pairs)


def _bends(root: Array, mid: Array, tip: Array) -> Array:
    """Offsets `(P, 3)` of middle joints from the straight limb."""
    first, second = np.linalg.norm(mid - root, axis=1), np.linalg.norm(tip - mid, axis=1)
    share = first / np.maximum(first + second, np.finfo(float).tiny)
    return mid - root - share[:, None] * (tip - root)


BRANCH_ENDS = 4
"""Least number of branch ends of a skeleton with limbs; ropes and snakes have fewer."""


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb, given by the names of its bones."""

    kind: LimbKind
    side: Side
    place: LimbIndex
    """Its index among the limbs of its kind on its side, from the front."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip."""
    tip_at_tail: bool
    toe: str
    """Bone of the toes; empty for arms and for legs without toes."""
    against: LimbKind | Reason | None
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
    # Sides are decided over the poses that agree, and over the rest if that is a pose.
    if laid_out and not len(agreeing):
        agreeing = poses
    elif not from_motion:
        agreeing = np.concatenate([np.stack([skeleton.heads, skeleton.tails], axis=1)[None], agreeing])
    if len(agreeing) > 1 or from_motion:
        found = replace(found, pairs=sides_over_time(skeleton, found.pairs, agreeing))
    if reading.parts_hold:
        found = with_names(skeleton, tree_like, reading, found, agreeing)
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
            toe = names[bones.toe] if bones.toe >= 0 and pair.kind is LimbKind.LEG else ""
            tip_at_tail = bones.tip == bones.lower
            upper, lower, tip = (names[bone] for bone in (bones.upper, bones.lower, bones.tip))
            limbs.append(FoundLimb(pair.kind, side, pair.place, upper, lower, tip, tip_at_tail, toe, pair.against))
    return tuple(limbs), differ


def _named_side(reading: NameReading, bones: LimbBones) -> Side:
    """Side of a limb by its bone names; `CENTER` where they name none, contradict each other, or are not trusted."""
    sides = {reading.meanings[bone].side for bone in (bones.upper, bones.lower, bones.tip)} - {Side.CENTER}
    return sides.pop() if reading.sides_hold and len(sides) == 1 else Side.CENTER
