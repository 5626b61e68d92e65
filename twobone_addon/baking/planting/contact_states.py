"""What stands when, as it is stored on the chains."""

from __future__ import annotations

import numpy as np

from ...array_types import Codes
from ...scene.keys.reading import moving_curves
from ...scene.lookup import object_named
from .planning import PlantingPlan


def contact_states(plan: PlantingPlan) -> list[Codes]:
    """The states `(F,)` of each leg's contact at the plan's frames: those that are keyed on its stored chain."""
    armature = object_named(plan.armature)
    found = []
    for leg in plan.legs:
        path = f"twobone.chains[{armature.twobone.chains.find(leg.chain)}].contact"
        curves = moving_curves(armature, path)
        values = [curves[0].evaluate(frame) for frame in plan.frames.tolist()] if curves else np.zeros(len(plan.frames))
        found.append(np.round(np.array(values)).astype(int))
    return found
