"""Which pairs of branches are legs, which are arms, and why the others are neither.

Legs are the longest pair whose ends are the outermost of the body on their own side of it: where they point is down, whatever
the armature's axes. More pairs that end as low are legs as well; what hangs between the body and its head, and ends higher,
is an arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ..array_types import Array
from .candidates import Pair
from .joints import JointTree
from .shapes import Candidate, Reason, Shape


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

OUTERMOST = 0.15
"""How far from the outermost joint, relative to its reach, a leg may end: heels and lifted feet."""

SPREAD = 0.35
"""How far down a leg reaches at least, relative to its length; arms of a T-pose do not."""

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

MANY_ARMS = 0.7
"""Length of a second pair of arms relative to the first one's."""

WORLD = 0.5
"""Cosine to the world's down from which a pair that hangs down is more likely the legs."""

HINT = 0.3
"""How much likelier; with what hangs up it is as much less likely."""


def judged(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> Verdict:
    """The limbs among the candidates of one body."""
    longest = max((each.arms.length for each in candidates if each.reason is None), default=0.0)
    able: list[Candidate] = []
    left_out: list[tuple[Pair, Reason]] = []
    for each in candidates:
        reason = each.reason or (Reason.SMALL if each.arms.length < LEAST * longest else None)
        if reason is None:
            able.append(each)
        else:
            left_out.append((each.pair, reason))
    for first in _standing(tree, candidates, able, down_hint):
        verdict = _around(first.legs, [each for each in able if each is not first], left_out)
        if verdict is not None:
            return verdict
    lone = Reason.SPLAYED if len(able) == 1 else Reason.HIGH
    return Verdict((), (*left_out, *((each.pair, lone) for each in able)), np.zeros(3))


def _standing(tree: JointTree, candidates: Sequence[Candidate], able: Sequence[Candidate], down_hint: Array) -> list[Candidate]:
    """The pairs that may stand on the ground, the likeliest first."""
    joints = {joint for each in candidates for both in each.pair.match.partners.items() for joint in both}
    places = tree.places[sorted(joints)]
    found: list[tuple[float, Candidate]] = []
    for each in able:
        reach = float(np.linalg.norm(each.legs.reach))
        if reach < SPREAD * each.legs.length:
            continue
        down = each.legs.reach / reach
        if (each.legs.ends @ down).max() >= (places @ down).max() - OUTERMOST * reach:
            found.append((reach * _hinted(down, down_hint), each))
    return [each for _, each in sorted(found, key=lambda entry: -entry[0])]


def _hinted(down: Array, down_hint: Array) -> float:
    """A factor that is greater for what hangs down in the world."""
    length = float(np.linalg.norm(down_hint))
    cosine = float(down @ down_hint) / length if length > 0.0 else 0.0
    return 1.0 + HINT * (float(cosine > WORLD) - float(cosine < -WORLD))


def _around(first: Shape, others: Sequence[Candidate], misshapen: Sequence[tuple[Pair, Reason]]) -> Verdict | None:
    """More legs, and arms, around one pair of legs; `None` where that pair is too little like legs."""
    left_out = list(misshapen)
    legs, high = [first], []
    reach = float(np.linalg.norm(first.reach))
    down = first.reach / reach
    for each in others:
        leg = each.legs
        height = float((first.end - leg.end) @ down) / reach
        if height >= LOW or float(leg.reach @ down) < ALONG * float(np.linalg.norm(leg.reach)):
            high.append(each.arms)
        elif all(_apart(leg, other, reach) for other in legs):
            legs.append(leg)
        else:
            left_out.append((each.pair, Reason.AROUND))
    arms = _arms(legs, high, down, left_out)
    if _is_doubtful(legs, arms, reach):
        return None
    limbs = [*(Judged(Kind.LEG, leg) for leg in legs), *(Judged(Kind.ARM, arm) for arm in arms)]
    return Verdict(tuple(limbs), tuple(left_out), down)


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


def _arms(legs: Sequence[Shape], shapes: Sequence[Shape], down: Array, left_out: list[tuple[Pair, Reason]]) -> list[Shape]:
    """The arms among pairs that end high; what else there is goes to `left_out`."""
    hips = float(legs[0].reach @ down)
    able: list[Shape] = []
    for shape in shapes:
        height = float((legs[0].end - shape.root) @ down) / hips
        no_end = shape.links.tip < 0 <= legs[0].links.tip
        if height < SHOULDER or no_end or (len(legs) > 1 and not shape.hand):
            left_out.append((shape.pair, Reason.HIGH))
        else:
            able.append(shape)
    if not able:
        return []
    best = max(able, key=lambda shape: (-shape.pair.generation, shape.length * (2.0 if shape.hand else 1.0)))
    arms = [shape for shape in able if shape is best or (shape.hand and best.hand and shape.length >= MANY_ARMS * best.length)]
    left_out += [(shape.pair, Reason.HEAD) for shape in able if shape not in arms]
    return arms
