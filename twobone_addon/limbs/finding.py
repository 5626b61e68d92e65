"""Find the limbs of a skeleton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from .body.bodies import bodies
from .body.facing import Facing, facing, side_of
from .body.judging import Judged, Kind, judged
from .body.shapes import Reason, candidate
from .controls import Controls
from .lone import completed, is_even
from .places import Place, placed
from .sides import Side, side_by_names
from .skeleton import Skeleton
from .tree.candidates import Anatomy, Pair
from .tree.joints import JointTree, joint_tree
from .tree.links import ON_LINK, PASSED, Judge, Links, off_line

NOT_TURNED = 0.5
"""What joints that no control turns take from a choice of links."""


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


def find_limbs(skeleton: Skeleton) -> Findings:
    """The arms and legs of all characters of a skeleton: by the bones that deform, or by all where these have no pairs."""
    if not skeleton.names:
        return Findings((), ())
    found = _findings(skeleton, skeleton.deforms)
    if found.limbs or found.left_out or all(skeleton.deforms):
        return _with_lone(skeleton, skeleton.deforms, found)
    everything = [True] * len(skeleton.names)
    return _with_lone(skeleton, everything, _findings(skeleton, everything))


def _with_lone(skeleton: Skeleton, chosen: Sequence[bool], found: Findings) -> Findings:
    """The findings with an arm that has no counterpart, on a body that stands on legs and has no arms."""
    if not found.limbs or any(limb.kind is Kind.ARM or 2 * limb.place.count != len(found.limbs) for limb in found.limbs):
        return found
    number_of = {name: number for number, name in enumerate(skeleton.names)}
    first, second = ([number_of[name] for name in (limb.upper, limb.lower, limb.tip)] for limb in found.limbs[:2])
    whole = completed(skeleton, joint_tree(skeleton, chosen), (first, second))
    if whole is None:
        return found
    again = _findings(
        whole.skeleton, whole.skeleton.deforms if chosen is skeleton.deforms else [True] * len(whole.skeleton.names)
    )
    if not set(found.limbs) <= set(again.limbs):
        return found
    pairs = zip(again.limbs[::2], again.limbs[1::2], strict=True)
    arms = [limb for pair in pairs for limb in pair if limb.kind is Kind.ARM and _is_lone(number_of, limb, pair)]
    uneven = [limb for limb in arms if not is_even(skeleton, (limb.upper, limb.lower, limb.tip))]
    left_out = [LeftOut((limb.upper,), Reason.UNEVEN) for limb in uneven]
    left_out += [
        LeftOut(bones, each.reason)
        for each in again.left_out
        if each.reason is not Reason.SMALL and (bones := tuple(name for name in each.bones if name in whole.lone))
    ]
    return Findings(
        (*found.limbs, *(limb for limb in arms if limb not in uneven)),
        (*found.left_out, *(each for each in left_out if each not in found.left_out)),
    )


def _is_lone(known: Mapping[str, int], limb: FoundLimb, pair: tuple[FoundLimb, FoundLimb]) -> bool:
    """Whether a limb is one of the known bones, and the other of its pair is not."""
    return [limb] == [each for each in pair if each.upper in known]


def _findings(skeleton: Skeleton, chosen: Sequence[bool]) -> Findings:
    if not any(chosen):
        return Findings((), ())
    tree, hint = joint_tree(skeleton, chosen), np.asarray(skeleton.down)
    limbs: list[FoundLimb] = []
    left_out: list[LeftOut] = []
    controls = Controls(skeleton)
    judge_for = partial(_turning_judge, tree, controls)
    found = [candidate(tree, pair, judge_for(pair)) for pair in Anatomy(tree).pairs]
    for body in bodies(tree, [each for each in found if each is not None], hint):
        verdict = judged(tree, body, hint)
        seen = facing(tree, verdict.limbs, verdict.down)
        limbs += _named(skeleton, tree, controls, placed(tree, verdict.limbs, seen, judge_for), seen)
        left_out += [LeftOut(_first_bones(skeleton, tree, pair), reason) for pair, reason in verdict.left_out]
    return Findings(tuple(limbs), tuple(left_out))


def _turning_judge(tree: JointTree, controls: Controls, pair: Pair) -> Judge:
    """For all limbs: their joints are those that controls turn, which pieces that a bone was cut into are not."""
    partners = pair.match.partners

    @cache
    def turn(root: int, mid: int) -> bool:
        return controls.turn(tree.places[root], tree.places[mid], tree.places[partners[mid]])

    def above(joint: int) -> list[int]:
        return [each for each in tree.way_up(joint)[1:] if each in partners]

    pieces = {joint for joint in partners if above(joint) and not any(turn(each, joint) for each in above(joint))}

    def judge(links: Links) -> float:
        way = above(links.tip if links.tip >= 0 else links.mid)
        between = set(way[: way.index(links.root)]) - {links.mid}
        passed = len(between & pieces)
        return (1.0 if turn(links.root, links.mid) else NOT_TURNED) / PASSED**passed

    return judge


def _named(
    skeleton: Skeleton, tree: JointTree, controls: Controls, limbs: Sequence[tuple[Judged, Place]], seen: Facing
) -> Iterator[FoundLimb]:
    """The limbs on both sides, by names."""
    for limb, place in limbs:
        both = [_bones(skeleton, tree, controls, limb, second=second) for second in (False, True)]
        side = side_by_names(both[0], both[1])
        if side is Side.CENTER:
            to_left = side_of(tree, limb.shape, seen.left) * (-1.0 if skeleton.mirrored else 1.0)
            side = Side.LEFT if to_left > 0.0 else Side.RIGHT if to_left < 0.0 else Side.CENTER
        ordered = ((both[0], side), (both[1], side.other))
        for (upper, lower, tip, toe), own in sorted(ordered, key=lambda entry: entry[1] is not Side.LEFT):
            yield FoundLimb(limb.kind, own, place, upper, lower, tip, tip == lower, toe)


def _bones(skeleton: Skeleton, tree: JointTree, controls: Controls, limb: Judged, *, second: bool) -> tuple[str, str, str, str]:
    """Names of upper, lower, tip and toe bone on one side."""
    partners, links, way = limb.shape.pair.match.partners, limb.shape.links, limb.shape.way

    def own(joint: int) -> int:
        return partners[joint] if second else joint

    root, mid = own(links.root), own(links.mid)
    tip = own(links.tip) if links.tip >= 0 else mid
    shown = tuple(tree.bones[joint][0] for joint in (root, mid, tip))
    found = controls.posing(tree.places[root], tree.places[mid], tree.places[tip], shown)
    after = [own(joint) for joint in way[way.index(links.tip) :]] if links.tip in way and limb.kind is Kind.LEG else []
    toe = _toe(tree, controls, found.tip, after)
    names = skeleton.names
    return names[found.upper], names[found.lower], names[found.tip], names[toe] if toe >= 0 else ""


def _toe(tree: JointTree, controls: Controls, foot: int, way: Sequence[int]) -> int:
    """The bone that poses the toes, on the way on from a foot; -1 where there are none."""
    below = (controls.below(foot, tree.places[joint], tree.bones[joint][0]) for joint in way[1:])
    toe = next((bone for bone in below if bone >= 0), -1)
    if toe >= 0:
        return toe
    for number, joint in enumerate(way[1:], start=1):
        ankle, after = tree.places[way[0]], way[number + 1 : number + 2]
        beyond = tree.places[after[0]] if after else ankle
        if not after or off_line(tree.places[joint], ankle, beyond) > ON_LINK * np.linalg.norm(beyond - ankle):
            return controls.anywhere(tree.places[joint], tree.bones[joint][0])
    return -1


def _first_bones(skeleton: Skeleton, tree: JointTree, pair: Pair) -> tuple[str, str]:
    first, second = (skeleton.names[tree.bones[joint][0]] for joint in (pair.match.first, pair.match.second))
    return first, second
