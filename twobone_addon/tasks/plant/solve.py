"""From the motion of legs to feet that stand, and the keys of all that. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array
from ...said import Sentence, note
from ...scene.sampling.quantities import Samples
from ...scene.sampling.stepping import Steps, part_of
from ..find_contacts.solve import FoundContacts
from .keys.curves import ChannelPieces, keys_of
from .plan.contacts import ground_of, standing_of, travel_of
from .plan.feet import leg_motion
from .pose.belt import on_their_belt
from .pose.solving import solve_planting
from .pose.standing import Footing, Planted

if TYPE_CHECKING:
    from .plan.planning import PlantPlan


@dataclass(frozen=True, slots=True)
class PlantSolution:
    """What was planted, and with which keys."""

    found: FoundContacts
    """What the motion says about contacts, whether it counts or not."""
    footing: Footing
    planted: Planted
    samples: Samples
    """The motion before."""
    keys: Sequence[ChannelPieces]
    travel: Array
    """`(S, 3)` how far the root goes along more than it did, world space."""
    notes: tuple[Sentence, ...]


def solve_plan(plan: PlantPlan, found: FoundContacts, samples: Samples) -> Steps[PlantSolution]:
    """Legs and root that stand as is keyed or, where nothing is, as was found."""
    settings = plan.settings
    contacts, standing = found.plan, standing_of(plan, found)
    soles = [foot.points for foot in contacts.feet]
    legs = [leg_motion(replace(leg, points=points), samples) for leg, points in zip(plan.legs, soles, strict=True)]
    standing = on_their_belt(contacts, standing, legs)
    ground = ground_of(plan, contacts, standing, samples, legs)
    footing = Footing(plan, legs, ground, settings.ease, settings.max_tilt)
    planted = yield from part_of(solve_planting(footing, standing), 0, 2)
    travel = travel_of(plan, settings, standing.found.ground_velocity, legs)
    keys = yield from part_of(keys_of(plan, samples, planted, travel), 1, 2)
    return PlantSolution(standing.found, footing, planted, samples, keys, travel, _without_travel(plan, travel))


def _without_travel(plan: PlantPlan, travel: Array) -> tuple[Sentence, ...]:
    """Why there is no root motion where some was asked for."""
    settings = plan.settings
    if settings.root_motion == "KEEP" or plan.root is None or np.any(travel):
        return ()
    if settings.root_motion == "ADD":
        return (
            note("The ground does not move under the feet, so there is no root motion to add. Give its velocity if it should."),
        )
    return (note("The character stays in place, so there is no root motion to remove."),)
