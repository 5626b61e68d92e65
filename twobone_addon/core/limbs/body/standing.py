"""Find the possible stances of a body: its down direction and the pairs of branches it stands on.

A pair of branches that reaches further in its direction than anything else may be legs, and that direction down. A plane on
which several pairs end that all point towards it may be the ground.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...array_types import Array
from ..tree.joints import JointTree
from .shapes import Candidate

OUTERMOST = 0.15
"""Greatest height of a leg's end above the lowest joint, relative to its reach down: heels and lifted feet."""

LEAST_FALL = 0.35
"""Least reach down of a leg, relative to its length; arms in a T-pose reach less."""

LEAST_GROUND_COSINE = 0.8
"""Least cosine between down and two pairs that define the ground; the legs of more pairs may be flatter, as a spider's."""

MANY_PAIRS = 3
"""Number of pairs whose ends lie in one plane not by chance."""

MOST_GROUND_PAIRS = 16
"""Number of longest pairs that may define the ground; it bounds the time for crowds of hair and cloth."""

LEAST_FALL_OF_MANY = 0.15
"""Least reach down of a leg, relative to its length, where `MANY_PAIRS` pairs end on the ground."""

HINT_COSINE = 0.5
"""Least cosine to the hint at which a down direction agrees with it."""

HINT_WEIGHT = 0.3
"""Share added to a stance's likelihood where its down agrees with the hint, and taken off where it is opposite."""


@dataclass(frozen=True, slots=True)
class Stance:
    """A down direction and the pairs of branches on the ground."""

    down: Array
    """Unit vector `(3,)`."""
    feet: tuple[Candidate, ...]
    """Pairs that end on the ground, the longest first."""
    likely: float
    """Sum of their reaches down, by which stances are ranked."""


def stances(tree: JointTree, candidates: Sequence[Candidate], able: Sequence[Candidate], down_hint: Array) -> list[Stance]:
    """The possible stances of a body, the likeliest first; `able` are the candidates that may be legs."""
    joints = {joint for each in candidates for both in each.pair.match.partners.items() for joint in both}
    places = tree.places[sorted(joints)]
    found = [_stance(places, able, each.legs.reach, [each]) for each in able]
    for down, needed in _grounds(able):
        found.append(_stance(places, able, down, needed))
    hinted = [(stance.likely * _hint_factor(stance.down, down_hint), stance) for stance in found if stance is not None]
    return [stance for _, stance in sorted(hinted, key=lambda entry: -entry[0])]


def _stance(places: Array, able: Sequence[Candidate], down: Array, needed: Sequence[Candidate]) -> Stance | None:
    """The stance with this down direction; `None` where a `needed` pair does not end on the ground."""
    length = float(np.linalg.norm(down))
    if length == 0.0:
        return None
    down = down / length
    lowest = float((places @ down).max())
    fallen = [(float(each.legs.reach @ down), each) for each in able]
    feet = [(fall, each) for fall, each in fallen if fall > 0.0 and (each.legs.ends @ down).max() >= lowest - OUTERMOST * fall]
    least = LEAST_FALL_OF_MANY if len(feet) >= MANY_PAIRS else LEAST_FALL
    feet = [(fall, each) for fall, each in feet if fall >= least * each.legs.length]
    standing = [each for _, each in feet]
    if any(each not in standing for each in needed):
        return None
    if len(needed) > 1 and len(feet) < MANY_PAIRS and any(_slope(each, down) < LEAST_GROUND_COSINE for each in needed):
        return None
    ordered = [each for _, each in sorted(feet, key=lambda entry: -entry[0])]
    return Stance(down, tuple(ordered), sum(fall for fall, _ in feet))


def _slope(each: Candidate, down: Array) -> float:
    return float(each.legs.reach @ down) / float(np.linalg.norm(each.legs.reach))


def _grounds(able: Sequence[Candidate]) -> Iterator[tuple[Array, list[Candidate]]]:
    """Down directions from planes through the ends of two pairs, each with these pairs."""
    longest = sorted(able, key=lambda each: -each.legs.length)[:MOST_GROUND_PAIRS]
    for first, second in combinations([each for each in able if each in longest], 2):
        across, along = first.legs.ends[0] - first.legs.ends[1], first.legs.end - second.legs.end
        normal = np.cross(across, along)
        for down in (normal, -normal):
            yield down, [first, second]


def _hint_factor(down: Array, down_hint: Array) -> float:
    """Likelihood factor that favours down directions that agree with the hint."""
    length = float(np.linalg.norm(down_hint))
    cosine = float(down @ down_hint) / length if length > 0.0 else 0.0
    return 1.0 + HINT_WEIGHT * (float(cosine > HINT_COSINE) - float(cosine < -HINT_COSINE))
