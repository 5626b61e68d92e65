"""Find the limbs that most poses show, and their sides from feet, knees and elbows over all poses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..array_types import Array
from .body.facing import CLEAR
from .body.judging import Kind
from .body.shapes import Reason
from .one_pose import search
from .pairs import Found, LimbBones, LimbKey, LimbPair, in_order
from .skeleton import Skeleton
from .tree.joints import SAME_PLACE

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
    for left, number in zip(reversed(range(len(poses))), order, strict=True):
        found = searched[number] = search(replace(skeleton, heads=poses[number, :, 0], tails=poses[number, :, 1]))
        votes.update(key for pair in found.pairs for key in pair.key)
        if rest_keys and rest_keys <= {pair.key for pair in found.pairs}:
            confirming.append(number)
            if len(confirming) >= CONFIRMING_SHARE * len(poses):
                return rest, False, poses[confirming]
        is_hopeless = not rest_keys or len(confirming) + left < CONFIRMING_SHARE * len(poses)
        showing = sum(bool(each.pairs) for each in searched.values())
        if is_hopeless and 2 * showing > len(poses) and min(votes.values()) == showing:
            break
    kept = {key for key, count in votes.items() if 2 * count > showing and count >= CONFIRMING_SHARE * len(poses)}
    pairs = [pair for each in searched.values() for pair in each.pairs]
    others = [pair.both for pair in (*pairs, *rest.pairs) if not kept & set(pair.key)]
    seldom = Counter(tuple(bones.upper for bones in both) for both in others)
    agreeing = {number: len(kept & {key for pair in found.pairs for key in pair.key}) for number, found in searched.items()}
    best = searched[max(agreeing, key=agreeing.__getitem__)]
    left_out = (*best.left_out, *((bones, Reason.SELDOM) for bones, _ in seldom.most_common()))
    agreeing_poses = [number for number, count in agreeing.items() if count]
    return Found(in_order(_elected(kept, pairs)), left_out), bool(kept), poses[agreeing_poses]


def _elected(kept: set[LimbKey], pairs: Sequence[LimbPair]) -> list[LimbPair]:
    """The pairs whose limbs are kept, each limb with its most frequent partner."""
    found: list[LimbPair] = []
    taken: set[LimbKey] = set()
    for key, _ in Counter(pair.key for pair in pairs).most_common():
        if not set(key) <= kept - taken:
            continue
        taken |= set(key)
        turned = [pair if pair.both[0].key == key[0] else pair.swapped() for pair in pairs if pair.key == key]
        (kind, place, both), _ = Counter((pair.kind, pair.place, pair.both) for pair in turned).most_common(1)[0]
        hand = 2 * sum(pair.hand for pair in turned) > len(turned)
        found.append(LimbPair(kind, place, both, float(np.sum([np.sign(pair.left) for pair in turned])), hand))
    for key in sorted(kept - taken):
        pair_with_key = next(pair for pair in pairs if key in pair.key)
        pair_with_key = pair_with_key if pair_with_key.both[0].key == key else pair_with_key.swapped()
        found.append(replace(pair_with_key, both=pair_with_key.both[:1]))
    return found


def sides_over_time(skeleton: Skeleton, pairs: Sequence[LimbPair], poses: Array) -> tuple[LimbPair, ...]:
    """The pairs with sides decided by toes, else knees, else elbows over all poses; unchanged where none is clear.

    In one pose a foot may point anywhere; over time feet and knees go forwards. Arms take their side from the legs.
    """
    legs = [pair for pair in pairs if pair.kind is Kind.LEG and len(pair.both) > 1]
    arms = [pair for pair in pairs if pair.kind is Kind.ARM and len(pair.both) > 1]
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
    if max(float(np.linalg.norm(hip, axis=1).mean()) for hip in hips) < SAME_PLACE * scale:
        hips = [apart(pair, 2) for pair in legs]
    for hip in hips:
        across += hip * np.sign(np.sum(hip * hips[0], axis=1).sum() or 1.0)
    along = np.cross(down, across)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(float).tiny)
    cues = [np.mean([end - tip for _, _, tip, end in sides], axis=0)]
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
