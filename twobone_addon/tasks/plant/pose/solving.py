"""Solve for planted legs: pins, root moves and ankle paths, with stances shortened where knees would pop. Numbers only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ....core.array_types import Codes, Mask
from ....core.planting.goals import without_ways
from ....core.planting.knees import NEAR, NEAR_IN_SECONDS, gentler
from ....scene.sampling.stepping import Steps
from ..plan.contacts import Standing
from ..plan.feet import at_frames
from .calming import ABRUPT, POPS, sudden_bends, while_standing, with_calm_ease, with_calm_root, worst_bend
from .clearing import with_clear_ways
from .rounds import many_rounds
from .standing import Footing, Planted, stand_still

MOST_SHORTENED_BEFORE, MOST_SHORTENED_AFTER = 40, 8
"""Most times that stances are shortened, a little each time, before and after knees are calmed."""

UNSEEN_SLIDE = 5.0 / 900.0
"""Slide up to which a motion counts as right and is left unchanged, leg lengths: 5 mm of a leg of 0.9 m."""

HARDLY_SEEN_SLIDE = 20.0 / 900.0
"""Slide up to which a stance is left unchanged if the body has priority, leg lengths: 2 cm of a leg of 0.9 m."""


def solve_planting(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root; a cycle is solved as one of many equal rounds."""
    rounds = many_rounds(footing, standing)
    if rounds is None:
        return _with_pins(footing, (yield from _solved(footing, standing)))
    return rounds.middle(_with_pins(rounds.footing, (yield from _solved(rounds.footing, rounds.standing))))


def _with_pins(footing: Footing, planted: Planted) -> Planted:
    return replace(planted, legs=[replace(leg, pins=footing.pins(leg.before, leg.states)) for leg in planted.legs])


def _solved(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root, cycle or not.

    On new ground the root follows the ground, so knees are calmed by feet only, which also stay clear of the ground.
    """
    by_hand, feet = standing.by_hand, [at_frames(footing.foot(leg)) for leg in footing.legs]

    def shortened(states: Sequence[Codes]) -> list[Codes]:
        rate, per_foot = footing.plan.frames_per_second, zip(feet, states, footing.legs, strict=True)
        trimmed = [without_ways(foot, each, leg.length, rate) for foot, each, leg in per_foot]
        return [np.where(fixed, old, new) for fixed, old, new in zip(by_hand, standing.states, trimmed, strict=True)]

    yield 0.0
    if footing.ground.is_new:
        planted = stand_still(footing, standing.states)
        yield 0.5
        return _calm_and_clear(footing, planted)
    states = shortened(standing.states)
    if footing.ground.surface is None and not any(each.any() for each in by_hand):
        as_it_is = replace(footing, slack=UNSEEN_SLIDE)
        if not any(as_it_is.goals(leg, each).pinned.any() for leg, each in zip(footing.legs, states, strict=True)):
            return stand_still(as_it_is, states)
        yield 0.2
    if footing.plan.settings.priority == "BODY":
        footing = replace(footing, slack=HARDLY_SEEN_SLIDE)
    return (yield from _calm(footing, states, shortened))


def _calm_and_clear(footing: Footing, planted: Planted) -> Planted:
    """Lift feet in the air clear of the ground and calm the knees that this bends, at last by moves towards the hip alone."""
    for only_up in (False,) if footing.ground.is_new else (False, True):
        planted = with_calm_ease(footing.plan, with_clear_ways(footing, planted), only_up=only_up)
    return with_clear_ways(footing, planted)


def _calm(footing: Footing, states: Sequence[Codes], shortened: Callable[[Sequence[Codes]], list[Codes]]) -> Steps[Planted]:
    """Plant legs by `states`, with shorter stances where knees would pop."""
    rate = footing.plan.frames_per_second
    near = max(NEAR, round(NEAR_IN_SECONDS * rate))

    def gentle(planted: Planted, sudden: Sequence[Mask]) -> Planted | None:
        shorter_states = shortened([gentler(leg.states, each, near) for leg, each in zip(planted.legs, sudden, strict=True)])
        same = all(np.array_equal(new, leg.states) for new, leg in zip(shorter_states, planted.legs, strict=True))
        return None if same else stand_still(footing, shorter_states)

    def calmed(planted: Planted, *, leaves_balls: bool) -> Steps[Planted]:
        rooted = (yield from with_calm_root(footing, planted, leaves_balls=leaves_balls)) if footing.moves_root else planted
        return _calm_and_clear(footing, with_calm_ease(footing.plan, rooted))

    whole = planted = stand_still(footing, states)
    for number in range(MOST_SHORTENED_BEFORE):
        yield 1.0 - 0.6 * 0.9**number
        shorter = gentle(planted, [sudden_bends(leg, planted.moves, rate, ABRUPT) & while_standing(leg) for leg in planted.legs])
        if shorter is None:
            break
        planted = shorter
    tried: list[Planted] = []
    # Where shorter stances have only moved a pop to another frame, moves of root and free feet may suffice with the longer ones;
    # and a root that leaves feet on their balls to themselves has more room for the others.
    starts = (planted,) if planted is whole else (planted, whole)
    for leaves_balls, start in product((False, True) if footing.moves_root else (False,), starts):
        calm = yield from calmed(start, leaves_balls=leaves_balls)
        for _ in range(MOST_SHORTENED_AFTER):
            shorter = gentle(calm, [sudden_bends(leg, calm.moves, rate, POPS) for leg in calm.legs])
            if shorter is None:
                break
            calm = yield from calmed(shorter, leaves_balls=leaves_balls)
        if worst_bend(calm, rate) <= POPS:
            return calm
        tried.append(calm)
    return min(tried, key=lambda calm: worst_bend(calm, rate))
