"""From legs that slide to legs that stand: pins, the root's move, the ankles' ways. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Codes
from ...planting.knees import gentler
from ...scene.walk.evaluate import Samples
from .calming import sudden_bends, with_calm_ease, with_calm_root
from .feet import leg_motion
from .planning import PlantingPlan
from .standing import Planted, stand_still

MOST_ROLLED = 40
"""Times that stances are shortened at most, a little each time."""


def solve_planting(plan: PlantingPlan, samples: Samples, states: Sequence[Codes], *, ease: int, may_roll: bool) -> Planted:
    """What legs and root are to do, from the states `(F,)` of each leg's contacts; eased over `ease` frames.

    may_roll : whether heel and ball may stand together for a shorter time than the states say, where knees would pop
    """
    legs = [leg_motion(leg, samples) for leg in plan.legs]
    planted = stand_still(plan, legs, states, ease)
    for _ in range(MOST_ROLLED if may_roll else 0):
        gentle = [gentler(leg.states, sudden_bends(leg, planted.moves)) for leg in planted.legs]
        if all(np.array_equal(new, leg.states) for new, leg in zip(gentle, planted.legs, strict=True)):
            break
        planted = stand_still(plan, legs, gentle, ease)
    return with_calm_ease(plan, planted if plan.root is None else with_calm_root(plan, planted, ease))
