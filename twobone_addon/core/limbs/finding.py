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
from .names import BEHIND, LIMBS, Family, NamedLimb, NameReading, Rank, Side
from .offsets import is_known_at_rest, is_laid_out, is_loose, steadied, with_ends, with_loose_ends
from .one_pose import search_pose
from .pairs import NOTHING, Found, LimbBones, LimbPair, in_order, without_listed
from .skeleton import Skeleton
from .tree.joints import SAME_PLACE
from .tree.links import ON_LINK, off_line


def with_names(skeleton: Skeleton, tree_like: Skeleton, reading: NameReading, found: Found, seen: Array) -> Found:
    """The findings with bone names taken into account: what names call a limb is one, and what they call otherwise is none.

    A limb found both ways keeps the bones that geometry found, which are the posing ones in a rig with controls.
    `tree_like` has loose feet parented to their limbs; `seen` are the poses `(P, B, 2, 3)` that show the limbs.
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

    kept: list[LimbPair] = []
    left_out = list(found.left_out)
    matched: set[NamedLimb] = set()
    for pair in found.pairs:
        partners = [next((limb for limb in named if is_same(bones, limb)), None) for bones in pair.both]
        named_limbs = [limb for limb in partners if limb is not None]
        if len(named_limbs) == len(pair.both) and all(
            _ends_there(skeleton, places, bones, limb) for bones, limb in zip(pair.both, named_limbs, strict=True)
        ):
            if any(
                reading.namesakes.get(limb.upper, -1) not in {-1, *(other.upper for other in named_limbs)} for limb in named_limbs
            ):
                continue  # Each belongs with its own namesake, and is paired with it below.
            matched |= set(named_limbs)
            kept.append(replace(pair, named=named_limbs[0].family))
        elif any(overlaps(bones, limb) for bones in pair.both for limb in named) or _is_named_otherwise(reading, pair):
            left_out.append((tuple(bones.upper for bones in pair.both), Reason.NAMED))
        else:
            kept.append(pair)
    rest = [limb for limb in named if limb not in matched]
    for limbs in _in_pairs(reading, rest):
        pair = with_ends(skeleton, _named_pair(tree_like, reading, limbs), tolerance)
        uppers, reason = tuple(limb.upper for limb in limbs), _hindrance(skeleton, reading, limbs, pair, places)
        if reason is None:
            path = {bone for bones in pair.both for bone in skeleton.way_up(bones.lower)}
            against = next((reason for first, reason in found.left_out if path & set(first)), None)
            kept.append(replace(pair, against=Reason.LOOSE if is_loose(skeleton, pair.both[0]) else against))
        else:
            left_out = [(uppers, reason), *(entry for entry in left_out if not set(uppers) & set(entry[0]))]
    return Found(in_order(_with_kinds(skeleton, kept), skeleton.names), tuple(left_out))


def _hindrance(
    skeleton: Skeleton, reading: NameReading, limbs: Sequence[NamedLimb], pair: LimbPair, places: Array
) -> Reason | None:
    """Why what names alone call a limb is none that can be listed; `None` if it is."""
    if any(_joints_passed(skeleton, reading, limb) for limb in limbs):
        return Reason.LINKS
    return Reason.LOOSE if any(_has_unknown_end(skeleton, places, bones) for bones in pair.both) else None


def _ends_there(skeleton: Skeleton, places: Array, bones: LimbBones, limb: NamedLimb) -> bool:
    """Whether a limb ends where the bone of its hand or foot begins, if that is named, and not at a mark beside it."""
    if limb.end < 0:
        return True
    is_mark = any(skeleton.weighted) and (bones.tip == bones.lower or bones.tip in skeleton.end_marks())
    return not is_mark and float(np.linalg.norm(places[bones.tip] - places[limb.end])) <= SAME_PLACE * skeleton.size


def _is_named_otherwise(reading: NameReading, pair: LimbPair) -> bool:
    """Whether the names of a pair say that it is none: wings or tails, bones further down a limb, or no namesakes."""
    for bones in pair.both:
        upper, lower, tip = (reading.meanings[bone] for bone in (bones.upper, bones.lower, bones.tip))
        if Family.OTHER in {upper.family, lower.family, tip.family} or min(lower.ranks, default=Rank.BEFORE) >= Rank.END:
            return True
        if {upper.family, lower.family} <= {Family.HELPER, Family.TRUNK}:
            return True
    first, second = pair.both[0], pair.both[-1]
    sides = [reading.meanings[bone].side for bones in pair.both for bone in bones.key]
    return any(side is not Side.CENTER for side in sides) and any(
        reading.namesakes.get(bone) != other for bone, other in zip(first.key, second.key, strict=True)
    )


def _joints_passed(skeleton: Skeleton, reading: NameReading, limb: NamedLimb) -> bool:
    """Whether a limb has a joint between its upper and lower bone: one of its own family, or one that is off the link."""
    between = skeleton.way_up(limb.lower)[1:]
    between = between[: between.index(limb.upper)]
    start, end = skeleton.heads[limb.upper], skeleton.heads[limb.lower]
    near = ON_LINK * float(np.linalg.norm(end - start))
    meanings = [reading.meanings[bone] for bone in between]
    of_limb = any(meaning.family is limb.family and meaning.ranks for meaning in meanings)
    return of_limb or any(
        meaning.family is not Family.HELPER and off_line(skeleton.heads[bone], start, end) > near
        for bone, meaning in zip(between, meanings, strict=True)
    )


RAISED = 0.3
"""Least height of the end of an arm at rest above the ground, relative to the height of the hips; from .15 to .3 the same
characters are right."""

UPRIGHT = 0.7
"""Cosine between legs and the line from hips to shoulders from which a body stands upright."""

HINTED = 0.95
"""Least cosine between the world's down, or else an axis of the armature, and that of the legs at which it counts."""

TWO_PAIRS = 2
"""Number of named pairs of which the height at rest tells arms from front legs."""


def _with_kinds(skeleton: Skeleton, pairs: Sequence[LimbPair]) -> list[LimbPair]:
    """The pairs with the kind that their names say; of two named pairs the height of their ends tells whether both are legs."""
    named = [pair for pair in pairs if pair.named is not None and len(pair.both) > 1]

    def middle(pair: LimbPair, *, end: bool) -> Array:
        upper = skeleton.heads[[bones.upper for bones in pair.both]]
        ends = [(skeleton.tails if bones.tip == bones.lower else skeleton.heads)[bones.tip] for bones in pair.both]
        return np.mean(ends if end else upper, axis=0)

    raised: dict[int, bool] = {}
    if len(named) == TWO_PAIRS and not is_laid_out(skeleton):
        reaches = [middle(pair, end=True) - middle(pair, end=False) for pair in named]
        legs = [number for number, pair in enumerate(named) if pair.named is Family.LEG]
        down = _unit(reaches[legs[0]] if len(legs) == 1 else np.sum(reaches, axis=0))
        # A body that lies was made upright along an axis.
        hints = [_unit(np.array(skeleton.down)), *np.eye(3), *-np.eye(3)]
        hint = next((hint for hint in hints if hint @ down >= HINTED), None)
        if len(legs) != 1 and hint is not None:
            down = hint
        elif len(legs) != 1:
            # Legs slant, but not to both sides of the body's length: what they reach along it does not count.
            along = _unit(middle(named[0], end=False) - middle(named[1], end=False))
            down = _unit(down - (down @ along) * along) if abs(down @ along) <= UPRIGHT else down
        depths = [float(middle(pair, end=True) @ down) for pair in named]
        low = int(np.argmax(depths))
        hips = depths[low] - float(middle(named[low], end=False) @ down)
        raised = {id(pair): max(depths) - depth > RAISED * hips for pair, depth in zip(named, depths, strict=True)}

    def with_kind(pair: LimbPair) -> LimbPair:
        if pair.named is None:
            return pair
        kind = LimbKind.LEG if pair.named is Family.LEG else LimbKind.ARM
        is_behind = all(BEHIND.search(skeleton.names[bone]) for bones in pair.both for bone in bones.key)
        if id(pair) in raised and not is_behind and not (pair.named is Family.ARM and pair.kind is LimbKind.ARM and pair.hand):
            kind = LimbKind.ARM if raised[id(pair)] else LimbKind.LEG
        return replace(pair, kind=kind, against=pair.kind if pair.against is None and kind is not pair.kind else pair.against)

    return [with_kind(pair) for pair in pairs]


def _unit(direction: Array) -> Array:
    return direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)


def _without_duplicates(places: Array, limbs: Sequence[NamedLimb], tolerance: float) -> list[NamedLimb]:
    """The limbs without duplicates at the same position, which come from layers of a rig."""
    kept: list[NamedLimb] = []
    for limb in limbs:
        ends = places[[limb.upper, limb.lower]]
        others = (places[[other.upper, other.lower]] for other in kept if other.side is limb.side)
        if all(np.linalg.norm(ends - other, axis=1).max() > tolerance for other in others):
            kept.append(limb)
    return kept


def _in_pairs(reading: NameReading, limbs: Sequence[NamedLimb]) -> list[list[NamedLimb]]:
    """Limbs known by name only, each with that of its namesakes; alone where these are missing."""
    known = {(limb.upper, limb.lower): limb for limb in limbs}
    pairs: list[list[NamedLimb]] = []
    taken: set[NamedLimb] = set()
    for limb in limbs:
        if limb not in taken:
            other = known.get((reading.namesakes.get(limb.upper, -1), reading.namesakes.get(limb.lower, -1)))
            pairs.append([limb] if other is None else [limb, other])
            taken |= set(pairs[-1])
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
    return LimbPair(kind, LimbIndex(len(skeleton.names), 1), both, 0.0, hand, limbs[0].family)


def _is_named_hand(reading: NameReading, bone: int) -> bool:
    """Whether a bone is named a hand and has as many branches as a hand has fingers at least."""
    meaning = reading.meanings[bone]
    return meaning.family is Family.ARM and Rank.END in meaning.ranks and list(reading.parents).count(bone) >= FINGERS


def _named_bones(skeleton: Skeleton, reading: NameReading, limb: NamedLimb) -> LimbBones:
    """The bones of a limb known by name only; its tip is the head of the hand or foot, else the tail of the lower bone.

    The skeleton has loose feet parented to their limbs.
    """
    tip = limb.end
    if tip < 0:
        children = [bone for bone, above in enumerate(skeleton.parents) if above == limb.lower]
        ends = [bone for bone in children if reading.meanings[bone].family is Family.UNKNOWN or _is_named_hand(reading, bone)]
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
    if toe < 0 and len(after) == 1:
        toe = after[0]
    return LimbBones(limb.upper, limb.lower, tip, toe, toe if toe >= 0 else tip)


LEAST_SHOWING = 0.25
"""Least share of the views that must show limbs for these to be taken."""

MOST_VIEWS = 0.75
"""Least share of the views that must show the same limbs where these have all their bones; else all views must."""


def shown(skeleton: Skeleton, poses: Array, *, rest: bool) -> tuple[Found, bool, Array]:
    """What the poses and, with `rest`, the rest show by geometry alone; whether that is sure; the views that do `(P, B, 2, 3)`.

    Of views that differ those count that most agree on, the rest first; views without any limbs show nothing. It is sure where
    all show the same. Of limbs that end in bones a few views may differ: others may lack a bone, for which another is taken.
    """
    at_rest = np.stack([skeleton.heads, skeleton.tails], axis=1)[None]
    views = np.concatenate([at_rest, poses]) if rest else poses
    searched = [search_pose(replace(skeleton, heads=view[:, 0], tails=view[:, 1])) for view in views]
    showing = [(view, found) for view, found in zip(views, searched, strict=True) if found.pairs]
    if not showing:
        return (searched[0] if searched else NOTHING), False, views[:0]
    votes = Counter(found.shape for _, found in showing)
    most = searched[0].shape if rest and searched[0].pairs else votes.most_common(1)[0][0]
    agreeing = [(view, found) for view, found in showing if found.shape == most]
    first = agreeing[0][1]
    least = MOST_VIEWS if _is_complete(skeleton, first) else 1.0
    is_sure = len(showing) >= LEAST_SHOWING * len(views) and len(agreeing) >= least * len(showing)
    seldom = [pair for _, found in showing for pair in found.pairs if pair.key not in {key for key, _ in most}]
    left_out = (*first.left_out, *((tuple(bones.upper for bones in pair.both), Reason.SELDOM) for pair in seldom))
    return replace(first, left_out=left_out), is_sure, np.stack([view for view, _ in agreeing])


def _ends_at_joints(skeleton: Skeleton, found: Found) -> bool:
    """Whether all limbs end where bones that carry a mesh begin; without a mesh nothing tells bones from ends."""
    marks = skeleton.end_marks()
    tips = ((bones.lower, bones.tip) for pair in found.pairs for bones in pair.both)
    return not any(skeleton.weighted) or all(tip != lower and tip not in marks for lower, tip in tips)


def _is_complete(skeleton: Skeleton, found: Found) -> bool:
    """Whether no limb ends at a tail or a mark, where a bone may be missing."""
    marks = skeleton.end_marks()
    limbs = [bones for pair in found.pairs for bones in pair.both]
    return all(bones.tip != bones.lower and not marks & {bones.tip, bones.last} for bones in limbs)


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
    """Find the arms and legs of all characters in a skeleton, among the bones that carry a mesh.

    Names that both sides share, and that hang alike there, say what is a limb. Otherwise rest and poses must all show the same.
    """
    if not skeleton.names:
        return Findings((), ())
    marks, carried = skeleton.end_marks(), skeleton.carried()
    deforms = tuple(deforms and (carried[bone] or bone in marks) for bone, deforms in enumerate(skeleton.deforms))
    skeleton = replace(skeleton, deforms=deforms)
    reading = NameReading(skeleton.names, skeleton.parents, marks)
    poses = np.empty((0, len(skeleton.names), 2, 3)) if skeleton.poses is None else skeleton.poses
    tolerance = SAME_PLACE * skeleton.size
    tree_like = replace(skeleton, parents=with_loose_ends(skeleton, poses, tolerance))
    poses = steadied(tree_like, poses)
    laid_out = is_laid_out(skeleton)
    found, is_sure, agreeing = shown(tree_like, poses, rest=not laid_out)
    pairs = [with_ends(skeleton, pair, tolerance) for pair in found.pairs]
    known = [pair for pair in pairs if all(is_known_at_rest(skeleton, bones) for bones in pair.both)]
    lost = [(tuple(bones.upper for bones in pair.both), Reason.LOOSE) for pair in pairs if pair not in known]
    found = Found(tuple(known), (*lost, *found.left_out))
    if laid_out and not len(agreeing):
        agreeing = poses
    if len(agreeing) > 1 or laid_out:
        found = replace(found, pairs=sides_over_time(skeleton, found.pairs, agreeing))
    if not reading.is_trusted and not (is_sure and _ends_at_joints(skeleton, found)):
        found = Found((), (*_doubted(reading, found.pairs), *found.left_out))
    if reading.is_trusted:
        found = with_names(skeleton, tree_like, reading, found, agreeing)
        if not is_sure:
            doubted = _doubted(reading, [pair for pair in found.pairs if pair.named is None])
            named = in_order([pair for pair in found.pairs if pair.named is not None], skeleton.names)
            found = Found(named, (*doubted, *found.left_out))
    found = without_listed(tree_like, found)
    limbs, differ = _limbs(skeleton, reading, found.pairs)
    left_out = (LeftOut(tuple(skeleton.names[bone] for bone in bones), reason) for bones, reason in found.left_out)
    limbs_from = "MOTION" if laid_out and limbs and len(poses) else "REST"
    branches = len(skeleton.names) - len(set(skeleton.parents) - {-1})
    return Findings(
        limbs, tuple(left_out), limbs_from, laid_out and branches >= BRANCH_ENDS and not limbs and not len(poses), differ
    )


def _doubted(reading: NameReading, pairs: Sequence[LimbPair]) -> list[tuple[tuple[int, ...], Reason]]:
    """Pairs that not all poses show, each as left out; where names call them limbs, names and shape disagree."""
    doubted = []
    for pair in pairs:
        is_named = any(reading.meanings[bone].family in LIMBS for bones in pair.both for bone in bones.key)
        doubted.append((tuple(bones.upper for bones in pair.both), Reason.DISAGREE if is_named else Reason.SELDOM))
    return doubted


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
    return sides.pop() if reading.is_trusted and len(sides) == 1 else Side.CENTER
