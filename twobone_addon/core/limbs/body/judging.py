"""Classify pairs of branches as legs or arms, or give the reason why they are neither.

Legs are the longest pair whose ends are the outermost of the body on their side of it; the direction in which they point is
down, whatever the armature's axes. Other pairs that end as low are legs too; a pair that branches off between hips and head and
ends higher is a pair of arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...array_types import Array
from ..tree.candidates import Pair
from ..tree.joints import JointTree
from .shapes import Candidate, Reason, Shape, middle_links

OUTERMOST = 0.15
"""Greatest height of a leg's end above the lowest joint, relative to its reach down: heels and lifted feet."""

LEAST_FALL = 0.15
"""Least reach down of a leg, relative to its length; arms in a T-pose reach less."""

LEAST_GROUND_COSINE = 0.8
"""Least cosine between down and two pairs that define the ground; the legs of more pairs may be flatter, as a spider's."""

MANY_PAIRS = 3
"""Number of pairs whose ends lie in one plane not by chance, and of pairs of legs from which feet point to all sides."""

MOST_GROUND_PAIRS = 16
"""Number of longest pairs that may define the ground; it bounds the time for crowds of hair and cloth."""

HINT_COSINE = 0.5
"""Least cosine to the hint at which a down direction agrees with it."""

HINT_WEIGHT = 0.3
"""Share added to a stance's likelihood where its down agrees with the hint, and taken off where it is opposite."""


@dataclass(frozen=True, slots=True)
class BodyStance:
    """A down direction and the pairs of branches on the ground."""

    down: Array
    """Unit vector `(3,)`."""
    feet: tuple[Candidate, ...]
    """Pairs that end on the ground, the longest first."""
    likely: float
    """Sum of their reaches down, by which stances are ranked."""


def stances(tree: JointTree, candidates: Sequence[Candidate], able: Sequence[Candidate], down_hint: Array) -> list[BodyStance]:
    """The possible stances of a body, the likeliest first; `able` are the candidates that may be legs."""
    joints = {joint for candidate in candidates for both in candidate.pair.match.partners.items() for joint in both}
    places = tree.places[sorted(joints)]
    tried = [_stance(tree, places, able, candidate.legs.reach, [candidate]) for candidate in able]
    # The ends of two pairs span a plane, which is the ground if all others end on it.
    longest = sorted(able, key=lambda candidate: -candidate.legs.length)[:MOST_GROUND_PAIRS]
    for first, second in combinations([candidate for candidate in able if candidate in longest], 2):
        normal = np.cross(first.legs.ends[0] - first.legs.ends[1], first.legs.end - second.legs.end)
        tried += [_stance(tree, places, able, down, [first, second]) for down in (normal, -normal)]
    hinted = [(stance.likely * _hint_factor(stance.down, down_hint), stance) for stance in tried if stance is not None]
    return [stance for _, stance in sorted(hinted, key=lambda entry: -entry[0])]


def _stance(
    tree: JointTree, places: Array, able: Sequence[Candidate], down: Array, needed: Sequence[Candidate]
) -> BodyStance | None:
    """The stance with this down direction; `None` where a `needed` pair does not end on the ground."""
    length = float(np.linalg.norm(down))
    if length == 0.0:
        return None
    down = down / length
    lowest = float((places @ down).max())

    def is_standing(fall: float, candidate: Candidate) -> bool:
        is_low = fall > 0.0 and (candidate.legs.ends @ down).max() >= lowest - OUTERMOST * fall
        return is_low and fall >= LEAST_FALL * candidate.legs.length

    # Most directions fail here, before all pairs are looked at.
    if not all(is_standing(_fall(tree, candidate.legs, down), candidate) for candidate in needed):
        return None
    fallen = [(_fall(tree, candidate.legs, down), candidate) for candidate in able]
    feet = [(fall, candidate) for fall, candidate in fallen if is_standing(fall, candidate)]
    # Any two pairs span a plane; that it is the ground shows in legs that point straight at it, or in many that end there.
    reaches = [leg.legs.reach for leg in needed] if len(needed) > 1 and len(feet) < MANY_PAIRS else []
    if any(float(reach @ down) < LEAST_GROUND_COSINE * float(np.linalg.norm(reach)) for reach in reaches):
        return None
    ordered = [candidate for _, candidate in sorted(feet, key=lambda entry: -entry[0])]
    return BodyStance(down, tuple(ordered), sum(fall for fall, _ in feet))


def _fall(tree: JointTree, leg: Shape, down: Array) -> float:
    """Reach down of a leg: of the legs of a spider, whose hips may be as low as its feet, from the highest knee on."""
    if not leg.pair.of_fan:
        return float(leg.reach @ down)
    partners = [leg.pair.match.partners[joint] for joint in leg.path]
    middle = (tree.places[list(leg.path)] + tree.places[partners]) / 2.0
    return float(leg.end @ down - (middle @ down).min())


def _hint_factor(down: Array, down_hint: Array) -> float:
    """Likelihood factor that favours down directions that agree with the hint."""
    length = float(np.linalg.norm(down_hint))
    cosine = float(down @ down_hint) / length if length > 0.0 else 0.0
    return 1.0 + HINT_WEIGHT * (float(cosine > HINT_COSINE) - float(cosine < -HINT_COSINE))


class LimbKind(Enum):
    """Kind of a limb."""

    LEG = "LEG"
    ARM = "ARM"


@dataclass(frozen=True, slots=True)
class Judged:
    """A classified pair of limbs."""

    kind: LimbKind
    shape: Shape


class Rejected(NamedTuple):
    """A pair that is no limb."""

    pair: Pair
    reason: Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """Limbs and rejected pairs of one body."""

    limbs: tuple[Judged, ...]
    left_out: tuple[Rejected, ...]
    down: Array
    """`(3,)` direction of its legs; zeros without legs."""


LEAST = 0.2
"""Least length of a limb, relative to the longest candidate of its body."""

SPLAYED = 0.75
"""Greatest distance of each foot from the middle for a single pair of legs, relative to its reach; fins are wider apart."""

FOOTLESS = 0.35
"""Greatest distance of each end from the middle for legs without feet, relative to their reach."""

MOST_FOOT_HEIGHT = 0.38
"""Greatest height above the ground, relative to a leg's reach, at which a further pair of legs may end."""

LEAST_LEG_COSINE = 0.6
"""Least cosine between the direction of a further pair of legs and down."""

SPACING = 0.25
"""Least distance of a further pair's ends or root from other legs, relative to their reach; skirts hang closer."""

SHORT, SHORT_OF_LEGS = 0.5, 0.4
"""Length of arms relative to the longest pair that may be arms and to the legs; what is below both is strings of a hood."""

LEAST_RAISED = 0.3
"""Least height of shoulders above the hips, relative to the legs' vertical reach, for arms that touch the ground."""

EQUAL_LENGTHS = 0.02
"""Greatest length difference of links, relative to the limb, that counts as equal."""

LEAST_FOOT_ANGLE = np.radians(30.0)
"""Least angle between lower leg and foot, in radians, that shows a foot."""


def judged(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> Verdict:
    """Pick the limbs among the candidates of one body; give the reason for each of the others."""
    longest = max((candidate.arms.length for candidate in candidates if candidate.reason is None), default=0.0)
    able: list[Candidate] = []
    left_out: list[Rejected] = []
    for candidate in candidates:
        reason = candidate.reason or (Reason.SMALL if candidate.arms.length < LEAST * longest else None)
        if reason is None:
            able.append(candidate)
        else:
            left_out.append(Rejected(candidate.pair, reason))
    for stance in stances(tree, candidates, [candidate for candidate in able if not candidate.plain], down_hint):
        others = [candidate for candidate in able if candidate not in stance.feet]
        verdict = _judge_stance(tree, stance, others, left_out)
        if verdict is not None:
            return verdict
    lone = Reason.SPLAYED if len(able) == 1 else Reason.HIGH
    return Verdict((), (*left_out, *(Rejected(candidate.pair, lone) for candidate in able)), np.zeros(3))


def _judge_stance(
    tree: JointTree, stance: BodyStance, others: Sequence[Candidate], misshapen: Sequence[Rejected]
) -> Verdict | None:
    """Legs and arms of a body in this stance; `None` where the feet are too unlike legs."""
    left_out, down = list(misshapen), stance.down

    touching = _touching_arms(stance)
    feet = [*(candidate for candidate in stance.feet if candidate not in touching), *touching]
    first = feet[0].legs
    fall = _fall(tree, first, down)
    legs: list[Shape] = [first]
    high: list[Shape] = []
    for candidate in (*feet[1:], *others):
        leg = candidate.legs
        height = float((first.end - leg.end) @ down) / fall
        lies = not leg.pair.of_fan and float(leg.reach @ down) < LEAST_LEG_COSINE * float(np.linalg.norm(leg.reach))
        if candidate.plain or candidate in touching or (candidate in others and (lies or height >= MOST_FOOT_HEIGHT)):
            high.append(candidate.arms)
        elif all(_apart(leg, other, fall) for other in legs):
            legs.append(leg)
        else:
            left_out.append(Rejected(candidate.pair, Reason.AROUND))
    arms = _arms(legs, high, down, left_out)
    if _is_doubtful(legs, arms, fall) or (len(legs) == 1 and not arms and _ankle_angle(tree, first) < LEAST_FOOT_ANGLE):
        return None
    limbs = [*(Judged(LimbKind.LEG, leg) for leg in legs)]
    limbs += [Judged(LimbKind.LEG if any(_same_build(arm, leg) for leg in legs) else LimbKind.ARM, arm) for arm in arms]
    return Verdict(tuple(limbs), tuple(left_out), down)


def _touching_arms(stance: BodyStance) -> list[Candidate]:
    """Pairs that touch the ground with fingers and begin high above the legs: a gorilla's arms, not paws."""
    bare = [foot.legs for foot in stance.feet if not foot.legs.hand]
    if not bare:
        return []
    leg = max(bare, key=lambda shape: float(shape.reach @ stance.down))
    least = LEAST_RAISED * float(leg.reach @ stance.down)
    return [foot for foot in stance.feet if foot.legs.hand and float((leg.root - foot.legs.root) @ stance.down) >= least]


def _same_build(shape: Shape, leg: Shape) -> bool:
    """Whether a pair starts at the same joint as a pair of legs and has links of equal length: a spider's further legs."""
    differences = (abs(first - second) for first, second in zip(shape.links.lengths, leg.links.lengths, strict=True))
    return shape.pair.attached == leg.pair.attached and max(differences) <= EQUAL_LENGTHS * leg.length


def _ankle_angle(tree: JointTree, leg: Shape) -> float:
    """Angle from the lower link to the foot, in radians; a foot without a child ends at its bone's tail."""
    _, mid, tip = middle_links(tree, leg, leg.links)
    joint, other = leg.path[-1], leg.pair.match.partners[leg.path[-1]]
    end = leg.end if joint != leg.links.tip else (tree.ends[joint] + tree.ends[other]) / 2.0
    lower, foot = tip - mid, end - tip
    return float(np.arctan2(np.linalg.norm(np.cross(lower, foot)), lower @ foot))


def _is_doubtful(legs: Sequence[Shape], arms: Sequence[Shape], reach: float) -> bool:
    """Whether a single pair of legs is unlikely: its ends are far apart, or it has no feet and the body no arms."""
    first = legs[0]
    no_feet = first.links.tip < 0
    if len(legs) > 1 or (arms and not no_feet):
        return False
    most = FOOTLESS if no_feet else SPLAYED
    return (no_feet and not arms) or float(np.linalg.norm(first.ends[0] - first.ends[1])) > 2.0 * most * reach


def _apart(leg: Shape, other: Shape, reach: float) -> bool:
    """Whether a pair is clear of another pair of legs; skirts and coats hang around them."""
    return bool(
        np.linalg.norm(leg.end - other.end) >= SPACING * reach or np.linalg.norm(leg.root - other.root) >= SPACING * reach
    )


def _arms(legs: Sequence[Shape], shapes: Sequence[Shape], down: Array, left_out: list[Rejected]) -> list[Shape]:
    """Pick the arms among pairs that end high; append the others to `left_out`."""
    hips = float(legs[0].reach @ down)
    able: list[Shape] = []
    for shape in shapes:
        no_end = shape.links.tip < 0 <= legs[0].links.tip
        at_hips = any(np.linalg.norm(shape.root - leg.root) < SPACING * hips for leg in legs)
        if at_hips:
            left_out.append(Rejected(shape.pair, Reason.AROUND))
        elif no_end or (len(legs) > 1 and not shape.hand):
            left_out.append(Rejected(shape.pair, Reason.HIGH))
        else:
            able.append(shape)
    if not able:
        return []
    longest = max(shape.length for shape in able)
    long = [shape for shape in able if shape.length >= min(SHORT * longest, SHORT_OF_LEGS * legs[0].length)]
    lowest = min(shape.pair.generation for shape in long)
    near = [shape for shape in long if shape.pair.generation == lowest]
    best = max(near, key=lambda shape: (shape.hand, shape.length))
    left_out += [Rejected(shape.pair, Reason.HEAD) for shape in able if shape is not best]
    return [best]


# Several bodies in one skeleton: characters that share no limbs.

LEAST_BODY_PAIRS = 2
"""Least number of limb pairs of a separate body; a part with fewer may be half a body."""


def bodies(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> list[list[Candidate]]:
    """Group the candidates by body."""
    return _split(tree, [joint for joint, parent in enumerate(tree.parents) if parent < 0], list(candidates), down_hint)


def _split(tree: JointTree, joints: Sequence[int], candidates: list[Candidate], down_hint: Array) -> list[list[Candidate]]:
    below = {joint: set(tree.below(joint)) for joint in joints}
    parts = {joint: [pair for pair in candidates if pair.pair.attached in below[joint]] for joint in joints}
    whole = {joint: part for joint, part in parts.items() if _is_whole(tree, part, down_hint)}
    rest = [candidate for candidate in candidates if not any(candidate in part for part in whole.values())]
    # One whole body with something beside it is one character and what belongs to it.
    if not whole or (len(whole) == 1 and rest):
        return [candidates]
    split = [body for joint, part in whole.items() for body in _split(tree, tree.children[joint], part, down_hint)]
    return [*split, rest] if rest else split


def _is_whole(tree: JointTree, candidates: Sequence[Candidate], down_hint: Array) -> bool:
    return len(candidates) >= LEAST_BODY_PAIRS and len(judged(tree, candidates, down_hint).limbs) >= LEAST_BODY_PAIRS
