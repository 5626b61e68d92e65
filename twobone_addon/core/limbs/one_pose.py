"""Find the limbs of a single pose by geometry alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from .body.facing import facing, placed, side_of
from .body.judging import Judged, Kind, bodies, judged
from .body.shapes import Reason, candidate
from .controls import Controls
from .lone import completed, is_even
from .pairs import NOTHING, Found, LimbBones, LimbPair
from .skeleton import Skeleton
from .tree.candidates import Anatomy, Pair
from .tree.joints import JointTree, joint_tree
from .tree.links import ON_LINK, PASSED, Judge, Links, off_line

NOT_TURNED_FACTOR = 0.5
"""Score factor for links whose middle joint no control turns."""


def search(skeleton: Skeleton) -> Found:
    """Find the limbs of one pose by geometry alone: among deforming bones, or among all where these have nothing."""
    found = _findings(skeleton, skeleton.deforms)
    if found.pairs or found.left_out or all(skeleton.deforms):
        return _with_lone(skeleton, skeleton.deforms, found)
    everything = [True] * len(skeleton.names)
    return _with_lone(skeleton, everything, _findings(skeleton, everything))


def _with_lone(skeleton: Skeleton, chosen: Sequence[bool], found: Found) -> Found:
    """The findings, with arms without a counterpart added on a single body that has legs and no arms."""
    if not found.pairs or len(found.pairs) != found.pairs[0].place.count or any(pair.kind is Kind.ARM for pair in found.pairs):
        return found
    first, second = ((bones.upper, bones.lower, bones.tip) for bones in found.pairs[0].both)
    whole = completed(skeleton, joint_tree(skeleton, chosen), (first, second))
    if whole is None:
        return found
    count = len(skeleton.names)
    again = _findings(whole, whole.deforms if chosen is skeleton.deforms else [True] * len(whole.names))
    if not {pair.key for pair in found.pairs} <= {pair.key for pair in again.pairs}:
        return found
    arms, left_out = [], []
    for pair in again.pairs:
        lone = [bones for bones in pair.both if max(bones.upper, bones.lower, bones.tip) < count]
        if pair.kind is Kind.ARM and len(lone) == 1:
            if is_even(skeleton, (lone[0].upper, lone[0].lower, lone[0].tip)):
                arms.append(replace(pair, both=(lone[0],), left=pair.left if pair.both[0] is lone[0] else -pair.left))
            else:
                left_out.append(((lone[0].upper,), Reason.UNEVEN))
    images = set(range(count, len(whole.names)))
    for bones, reason in again.left_out:
        mirrored = tuple(bone for bone in bones if bone < count)
        if reason is not Reason.SMALL and images & set(bones):
            left_out.append((mirrored, reason))
    return Found((*found.pairs, *arms), (*found.left_out, *(each for each in left_out if each not in found.left_out)))


def _findings(skeleton: Skeleton, chosen: Sequence[bool]) -> Found:
    if not any(chosen):
        return NOTHING
    tree, hint = joint_tree(skeleton, chosen), np.asarray(skeleton.down)
    limbs: list[LimbPair] = []
    left_out: list[tuple[tuple[int, ...], Reason]] = []
    controls = Controls(skeleton)
    judge_for = partial(_turning_judge, tree, controls)
    pairs = Anatomy(tree).pairs
    found = [candidate(tree, pair, judge_for(pair)) for pair in pairs]
    left_out += [(_first_bones(tree, pair), Reason.SMALL) for pair, option in zip(pairs, found, strict=True) if option is None]
    for body in bodies(tree, [option for option in found if option is not None], hint):
        verdict = judged(tree, body, hint)
        direction = facing(tree, verdict.limbs, verdict.down)
        for limb, place in placed(tree, verdict.limbs, direction, judge_for):
            both = tuple(_bones(tree, controls, limb, second=second) for second in (False, True))
            left = side_of(tree, limb.shape, direction.left) * (-1.0 if skeleton.mirrored else 1.0)
            limbs.append(LimbPair(limb.kind, place, both, left, limb.shape.hand))
        left_out += [(_first_bones(tree, pair), reason) for pair, reason in verdict.left_out]
    return Found(tuple(limbs), tuple(left_out))


def _turning_judge(tree: JointTree, controls: Controls, pair: Pair) -> Judge:
    """A judge that prefers joints turned by controls; joints between the pieces of a cut bone are not."""
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
        return (1.0 if turn(links.root, links.mid) else NOT_TURNED_FACTOR) / PASSED**passed

    return judge


def _bones(tree: JointTree, controls: Controls, limb: Judged, *, second: bool) -> LimbBones:
    """The bones of a limb on one side."""
    partners, links, way = limb.shape.pair.match.partners, limb.shape.links, limb.shape.way

    def on_side(joint: int) -> int:
        return partners[joint] if second else joint

    root, mid = on_side(links.root), on_side(links.mid)
    tip = on_side(links.tip) if links.tip >= 0 else mid
    shown = tuple(tree.bones[joint][0] for joint in (root, mid, tip))
    found = controls.posing(tree.places[root], tree.places[mid], tree.places[tip], shown)
    after = [on_side(joint) for joint in way[way.index(links.tip) :]] if links.tip in way and limb.kind is Kind.LEG else []
    toe = _toe(tree, controls, found.tip, after)
    return LimbBones(found.upper, found.lower, found.tip, toe, tree.bones[on_side(way[-1])][0])


def _toe(tree: JointTree, controls: Controls, foot: int, way: Sequence[int]) -> int:
    """The bone that poses the toes, on the path `way` from the ankle on; -1 where there are none."""
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


def _first_bones(tree: JointTree, pair: Pair) -> tuple[int, int]:
    first, second = (tree.bones[joint][0] for joint in (pair.match.first, pair.match.second))
    return first, second
