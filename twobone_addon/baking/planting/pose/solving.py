"""From legs that slide to legs that stand: pins, the root's move, the ankles' ways. Numbers only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....planting.knees import gentler
from ..plan.contacts import Standing
from .calming import sudden_bends, with_calm_ease, with_calm_root
from .clearing import with_clear_ways
from .rounds import many_rounds
from .standing import Footing, Planted, stand_still

MOST_ROLLED = 40
"""Times that stances are shortened at most, a little each time."""


def solve_planting(footing: Footing, standing: Standing) -> Planted:
    """What legs and root are to do while legs stand on the ground; the rounds of a cycle are all the same."""
    rounds = many_rounds(footing, standing)
    if rounds is None:
        return _with_pins(footing, _solved(footing, standing))
    return rounds.middle(_with_pins(rounds.footing, _solved(rounds.footing, rounds.standing)))


def _with_pins(footing: Footing, planted: Planted) -> Planted:
    return replace(planted, legs=[replace(leg, pins=footing.pins(leg.before, leg.states)) for leg in planted.legs])


def _solved(footing: Footing, standing: Standing) -> Planted:
    """The same for whatever motion.

    On a new ground the root goes where that wants it: there only feet on their way give way to knees, and stay clear of it.
    """
    planted = stand_still(footing, standing.states)
    if footing.ground.is_new:
        return with_clear_ways(footing, with_calm_ease(footing.plan, with_clear_ways(footing, planted)))
    for _ in range(MOST_ROLLED):
        gentle = [
            np.where(by_hand, leg.states, gentler(leg.states, sudden_bends(leg, planted.moves)))
            for leg, by_hand in zip(planted.legs, standing.by_hand, strict=True)
        ]
        if all(np.array_equal(new, leg.states) for new, leg in zip(gentle, planted.legs, strict=True)):
            break
        planted = stand_still(footing, gentle, rounds=1)
    planted = stand_still(footing, [leg.states for leg in planted.legs])
    calm = with_calm_ease(footing.plan, planted if footing.plan.root is None else with_calm_root(footing, planted))
    return with_clear_ways(footing, calm)
