"""From legs that slide to legs that stand: pins, the root's move, the ankles' ways. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....core.array_types import Codes
from ....core.planting.goals import without_ways
from ....core.planting.knees import NEAR, NEAR_IN_SECONDS, gentler
from ....scene.sampling.stepping import Steps
from ..plan.contacts import Standing
from ..plan.feet import at_frames
from .calming import sudden_bends, with_calm_ease, with_calm_root
from .clearing import with_clear_ways
from .rounds import many_rounds
from .standing import Footing, Planted, stand_still

MOST_ROLLED = 40
"""Times that stances are shortened at most, a little each time."""

UNSEEN = 5.0 / 900.0
"""Leg lengths, 5 mm of a leg of 0.9 m, by which feet may slide in a motion that is right, and is left as it is."""

HARDLY_SEEN = 20.0 / 900.0
"""The same, 2 cm, where the body is kept."""


def solve_planting(footing: Footing, standing: Standing) -> Steps[Planted]:
    """What legs and root are to do while legs stand on the ground; the rounds of a cycle are all the same."""
    rounds = many_rounds(footing, standing)
    if rounds is None:
        return _with_pins(footing, (yield from _solved(footing, standing)))
    return rounds.middle(_with_pins(rounds.footing, (yield from _solved(rounds.footing, rounds.standing))))


def _with_pins(footing: Footing, planted: Planted) -> Planted:
    return replace(planted, legs=[replace(leg, pins=footing.pins(leg.before, leg.states)) for leg in planted.legs])


def _solved(footing: Footing, standing: Standing) -> Steps[Planted]:
    """The same for whatever motion.

    On a new ground the root goes where that wants it: there only feet on their way give way to knees, and stay clear of it.
    """
    by_hand, feet = standing.by_hand, [at_frames(footing.foot(leg)) for leg in footing.legs]

    def shortened(states: Sequence[Codes]) -> list[Codes]:
        firm = [without_ways(foot, each, leg.length) for foot, each, leg in zip(feet, states, footing.legs, strict=True)]
        return [np.where(own, old, new) for own, old, new in zip(by_hand, standing.states, firm, strict=True)]

    yield 0.0
    if footing.ground.is_new:
        planted = stand_still(footing, standing.states)
        yield 0.5
        return with_clear_ways(footing, with_calm_ease(footing.plan, with_clear_ways(footing, planted)))
    states = shortened(standing.states)
    if footing.ground.surface is None and not any(each.any() for each in by_hand):
        as_it_is = stand_still(replace(footing, slack=UNSEEN), states)
        if not any(leg.goals.pinned.any() for leg in as_it_is.legs):
            return as_it_is
        yield 0.2
    if footing.plan.settings.priority == "BODY":
        footing = replace(footing, slack=HARDLY_SEEN)
    near = max(NEAR, round(NEAR_IN_SECONDS * footing.plan.frames_per_second))
    planted = stand_still(footing, states)
    for number in range(MOST_ROLLED):
        yield 1.0 - 0.6 * 0.9**number
        gentle = shortened([gentler(leg.states, sudden_bends(leg, planted.moves), near) for leg in planted.legs])
        if all(np.array_equal(new, leg.states) for new, leg in zip(gentle, planted.legs, strict=True)):
            break
        planted = stand_still(footing, gentle)
    calm = (yield from with_calm_root(footing, planted)) if footing.moves_root else planted
    return with_clear_ways(footing, with_calm_ease(footing.plan, calm))
