"""Where down is: what a body may stand on.

A pair of branches that reaches further to one side than anything else may be legs, and down is where it points. If several
pairs end on one plane that they all reach for, that plane may be the ground.
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
"""How far from the outermost joint, relative to what it reaches down, a leg may end: heels and lifted feet."""

SPREAD = 0.35
"""How far down a leg reaches at least, relative to its length; arms of a T-pose do not."""

STEEP = 0.8
"""Cosine to the ground's normal from which two pairs stand on it; of more pairs, spiders' legs may be flatter."""

MANY = 3
"""Pairs that end on one plane by no accident."""

MOST = 16
"""Pairs, the longest ones, that are asked what the ground is: crowds of hair and cloth are longer to ask than to see."""

FLAT = 0.15
"""How far down such legs reach at least, relative to their length."""

WORLD = 0.5
"""Cosine to the world's down from which what hangs down is more likely legs."""

HINT = 0.3
"""How much likelier; with what hangs up it is as much less likely."""


@dataclass(frozen=True, slots=True)
class Stance:
    """What a body may stand on."""

    down: Array
    """`(3,)` of length 1."""
    feet: tuple[Candidate, ...]
    """Pairs that end on the ground, the longest first."""
    likely: float
    """To be compared: how far they reach down together."""


def stances(tree: JointTree, candidates: Sequence[Candidate], able: Sequence[Candidate], down_hint: Array) -> list[Stance]:
    """What a body may stand on, the likeliest first; `able` are the candidates that may be legs."""
    joints = {joint for each in candidates for both in each.pair.match.partners.items() for joint in both}
    places = tree.places[sorted(joints)]
    found = [_stance(places, able, each.legs.reach, [each]) for each in able]
    for down, needed in _grounds(able):
        found.append(_stance(places, able, down, needed))
    hinted = [(stance.likely * _hinted(stance.down, down_hint), stance) for stance in found if stance is not None]
    return [stance for _, stance in sorted(hinted, key=lambda entry: -entry[0])]


def _stance(places: Array, able: Sequence[Candidate], down: Array, needed: Sequence[Candidate]) -> Stance | None:
    """The stance with this down; `None` where what is needed does not end on the ground then."""
    length = float(np.linalg.norm(down))
    if length == 0.0:
        return None
    down = down / length
    lowest = float((places @ down).max())
    fallen = [(float(each.legs.reach @ down), each) for each in able]
    feet = [(fall, each) for fall, each in fallen if fall > 0.0 and (each.legs.ends @ down).max() >= lowest - OUTERMOST * fall]
    least = FLAT if len(feet) >= MANY else SPREAD
    feet = [(fall, each) for fall, each in feet if fall >= least * each.legs.length]
    standing = [each for _, each in feet]
    if any(each not in standing for each in needed):
        return None
    if len(needed) > 1 and len(feet) < MANY and any(_slope(each, down) < STEEP for each in needed):
        return None
    ordered = [each for _, each in sorted(feet, key=lambda entry: -entry[0])]
    return Stance(down, tuple(ordered), sum(fall for fall, _ in feet))


def _slope(each: Candidate, down: Array) -> float:
    return float(each.legs.reach @ down) / float(np.linalg.norm(each.legs.reach))


def _grounds(able: Sequence[Candidate]) -> Iterator[tuple[Array, list[Candidate]]]:
    """Directions down to planes through the ends of two pairs, with these pairs."""
    longest = sorted(able, key=lambda each: -each.legs.length)[:MOST]
    for one, other in combinations([each for each in able if each in longest], 2):
        across, along = one.legs.ends[0] - one.legs.ends[1], one.legs.end - other.legs.end
        normal = np.cross(across, along)
        for down in (normal, -normal):
            yield down, [one, other]


def _hinted(down: Array, down_hint: Array) -> float:
    """A factor that is greater for what hangs down in the world."""
    length = float(np.linalg.norm(down_hint))
    cosine = float(down @ down_hint) / length if length > 0.0 else 0.0
    return 1.0 + HINT * (float(cosine > WORLD) - float(cosine < -WORLD))
