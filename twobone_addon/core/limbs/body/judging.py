"""Which pairs of branches are legs, which are arms, and why the others are neither.

Legs are the longest pair whose ends are the outermost of the body on their own side of it: where they point is down, whatever
the armature's axes. More pairs that end as low are legs as well; what hangs between the body and its head, and ends higher,
is an arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from .shapes import Candidate, Reason, Shape, middle_links
from .standing import Stance, stances


class Kind(Enum):
    """What a limb is."""

    LEG = "LEG"
    ARM = "ARM"


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair of limbs."""

    kind: Kind
    shape: Shape


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found on one body."""

    limbs: tuple[Judged, ...]
    left_out: tuple[tuple[Pair, Reason], ...]
    down: Array
    """`(3,)` where its legs point; zeros without legs."""


LEAST = 0.2
"""Length of a limb relative to the longest one of its body."""

SPLAYED = 0.75
"""How far a single pair of legs stands apart at most, on each side, relative to its reach; fins do more."""

FOOTLESS = 0.35
"""The same for legs that end without feet."""

LOW = 0.38
"""Height of its end above the ground, relative to a leg's reach, up to which a pair is one more pair of legs."""

ALONG = 0.6
"""Cosine to the first pair's direction from which it is."""

APART = 0.25
"""Distance of its ends or its root from the first pair's, relative to the reach, from which it is; skirts hang close."""

SHOULDER = 0.65
"""Height at which arms begin, relative to the hips'."""

BEHIND = 0.05
"""How far behind the foremost pair, relative to the legs, another one begins that is no arm if that one may be: wings."""

MANY_ARMS = 0.7
"""Length of a second pair of arms relative to the first one's."""


CROWD = 4
"""Pairs that begin in one place from which on only the longest one may be a limb: others are faces, hair and skirts."""

LONGEST = 0.7
"""Length, relative to the longest pair in a crowd, from which one is as long."""

RAISED = 0.3
"""How far above the hips shoulders are, relative to the legs' fall, whose arms touch the ground."""

EQUAL = 0.02
"""Difference of links, relative to a limb's length, up to which they are equally long."""

TURNED = np.radians(30.0)
"""Turn at the ankle from which there is a foot."""


def judged(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> Verdict:
    """The limbs among the candidates of one body."""
    longest = max((each.arms.length for each in candidates if each.reason is None), default=0.0)
    able: list[Candidate] = []
    left_out: list[tuple[Pair, Reason]] = []
    crowded = _crowded(candidates)
    for each in candidates:
        reason = each.reason or (Reason.SMALL if each.arms.length < LEAST * longest else None)
        if each.arms.length < LONGEST * crowded.get(each.pair.attached, 0.0):
            reason = reason or Reason.SMALL
        if reason is None:
            able.append(each)
        else:
            left_out.append((each.pair, reason))
    for stance in stances(tree, candidates, [each for each in able if not each.plain], down_hint):
        verdict = _around(tree, stance, [each for each in able if each not in stance.feet], left_out, crowded)
        if verdict is not None:
            return verdict
    lone = Reason.SPLAYED if len(able) == 1 else Reason.HIGH
    return Verdict((), (*left_out, *((each.pair, lone) for each in able)), np.zeros(3))


def _crowded(candidates: Sequence[Candidate]) -> dict[int, float]:
    """Joints from which too many pairs hang, with the length of the longest one's links."""
    lengths: dict[int, list[float]] = {}
    for each in candidates:
        lengths.setdefault(each.pair.attached, []).append(each.arms.length)
    return {joint: max(found) for joint, found in lengths.items() if len(found) > CROWD}


def _around(
    tree: JointTree,
    stance: Stance,
    others: Sequence[Candidate],
    misshapen: Sequence[tuple[Pair, Reason]],
    crowded: Mapping[int, float],
) -> Verdict | None:
    """Legs and arms of a body that stands this way; `None` where it has too little like legs."""
    left_out, down = list(misshapen), stance.down
    touching = _touching_arms(stance)
    feet = [*(each for each in stance.feet if each not in touching), *touching]
    first = feet[0].legs
    fall = float(first.reach @ down)
    legs: list[Shape] = [first]
    high: list[Shape] = []
    for each in (*feet[1:], *others):
        leg = each.legs
        height = float((first.end - leg.end) @ down) / fall
        lies = float(leg.reach @ down) < ALONG * float(np.linalg.norm(leg.reach))
        if each.plain or each in touching or (each in others and (lies or height >= LOW)):
            high.append(each.arms)
        elif all(_apart(leg, other, fall) for other in legs):
            legs.append(leg)
        else:
            left_out.append((each.pair, Reason.AROUND))
    left_out += [(shape.pair, Reason.HIGH) for shape in high if shape.pair.attached in crowded]
    high = [shape for shape in high if shape.pair.attached not in crowded]
    arms = _arms(legs, high, down, _front(tree, legs, down), left_out)
    if len(legs) == 1 and first.hand and _turn(tree, first) < TURNED:
        return Verdict((Judged(Kind.ARM, feet[0].arms),), (*left_out, *((arm.pair, Reason.HIGH) for arm in arms)), down)
    if _is_doubtful(legs, arms, fall) or (len(legs) == 1 and not arms and _turn(tree, first) < TURNED):
        return None
    limbs = [*(Judged(Kind.LEG, leg) for leg in legs)]
    limbs += [Judged(Kind.LEG if any(_same_build(arm, leg) for leg in legs) else Kind.ARM, arm) for arm in arms]
    return Verdict(tuple(limbs), tuple(left_out), down)


def _touching_arms(stance: Stance) -> list[Candidate]:
    """What touches the ground with fingers and hangs from high above the legs, as a gorilla's arms do and no paws."""
    bare = [each.legs for each in stance.feet if not each.legs.hand]
    if not bare:
        return []
    leg = max(bare, key=lambda each: float(each.reach @ stance.down))
    least = RAISED * float(leg.reach @ stance.down)
    return [each for each in stance.feet if each.legs.hand and float((leg.root - each.legs.root) @ stance.down) >= least]


def _same_build(shape: Shape, leg: Shape) -> bool:
    """Whether a pair hangs where a pair of legs does and is as long in each link: one more pair of a spider's."""
    differences = (abs(one - other) for one, other in zip(shape.links.lengths, leg.links.lengths, strict=True))
    return shape.pair.attached == leg.pair.attached and max(differences) <= EQUAL * leg.length


def _turn(tree: JointTree, leg: Shape) -> float:
    """Rotation from the lower link to the foot, which ends where its bone does if it has no child."""
    _, mid, tip = middle_links(tree, leg, leg.links)
    joint, other = leg.way[-1], leg.pair.match.partners[leg.way[-1]]
    end = leg.end if joint != leg.links.tip else (tree.ends[joint] + tree.ends[other]) / 2.0
    lower, foot = tip - mid, end - tip
    return float(np.arctan2(np.linalg.norm(np.cross(lower, foot)), lower @ foot))


def _front(tree: JointTree, legs: Sequence[Shape], down: Array) -> Array:
    """Where the feet point, `(3,)`, along the ground."""
    total = np.zeros(3)
    for leg in legs:
        total += leg.end - middle_links(tree, leg, leg.links)[2]
    return total - (total @ down) * down


def _is_doubtful(legs: Sequence[Shape], arms: Sequence[Shape], reach: float) -> bool:
    """Whether a single pair is too little like legs: far apart, or without feet where nothing else speaks for legs."""
    first = legs[0]
    no_feet = first.links.tip < 0
    if len(legs) > 1 or (arms and not no_feet):
        return False
    most = FOOTLESS if no_feet else SPLAYED
    return (no_feet and not arms) or float(np.linalg.norm(first.ends[0] - first.ends[1])) > 2.0 * most * reach


def _apart(leg: Shape, other: Shape, reach: float) -> bool:
    """Whether a pair stands away from another one: skirts and coats hang around the legs."""
    return bool(np.linalg.norm(leg.end - other.end) >= APART * reach or np.linalg.norm(leg.root - other.root) >= APART * reach)


def _arms(
    legs: Sequence[Shape], shapes: Sequence[Shape], down: Array, front: Array, left_out: list[tuple[Pair, Reason]]
) -> list[Shape]:
    """The arms among pairs that end high; what else there is goes to `left_out`."""
    hips = float(legs[0].reach @ down)
    able: list[Shape] = []
    for shape in shapes:
        height = float((legs[0].end - shape.root) @ down) / hips
        no_end = shape.links.tip < 0 <= legs[0].links.tip
        at_hips = any(np.linalg.norm(shape.root - leg.root) < APART * hips for leg in legs)
        if at_hips:
            left_out.append((shape.pair, Reason.AROUND))
        elif height < SHOULDER or no_end or (len(legs) > 1 and not shape.hand):
            left_out.append((shape.pair, Reason.HIGH))
        else:
            able.append(shape)
    if not able:
        return []
    lowest = min(shape.pair.generation for shape in able)
    near = [shape for shape in able if shape.pair.generation == lowest]
    foremost = max(float(shape.root @ front) for shape in near)
    behind = BEHIND * hips * float(np.linalg.norm(front))
    best = max(near, key=lambda shape: (shape.hand, float(shape.root @ front) >= foremost - behind, shape.length))
    arms = [shape for shape in able if shape is best or (shape.hand and best.hand and shape.length >= MANY_ARMS * best.length)]
    left_out += [(shape.pair, Reason.HEAD) for shape in able if shape not in arms]
    return arms


# Several bodies in one skeleton: characters whose limbs have nothing to do with one another.

WHOLE = 2
"""Pairs of limbs from which a part of the skeleton may be a body of its own, not half of one."""


def bodies(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> list[list[Candidate]]:
    """The candidates of each body."""
    return _split(tree, [joint for joint, parent in enumerate(tree.parents) if parent < 0], list(candidates), down_hint)


def _split(tree: JointTree, joints: Sequence[int], candidates: list[Candidate], down_hint: Array) -> list[list[Candidate]]:
    parts = {joint: _hanging(tree, joint, candidates) for joint in joints}
    whole = {joint: part for joint, part in parts.items() if _is_whole(tree, part, down_hint)}
    rest = [each for each in candidates if not any(each in part for part in whole.values())]
    if not whole or (len(whole) == 1 and rest):
        return [candidates]
    found = [body for joint, part in whole.items() for body in _split(tree, tree.children[joint], part, down_hint)]
    return [*found, rest] if rest else found


def _hanging(tree: JointTree, joint: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    below = set(tree.below(joint))
    return [each for each in candidates if each.pair.attached in below]


def _is_whole(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> bool:
    return len(candidates) >= WHOLE and len(judged(tree, candidates, down_hint).limbs) >= WHOLE
