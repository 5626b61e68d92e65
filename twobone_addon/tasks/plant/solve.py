"""Solve a planting plan: from the sampled motion of legs to planted feet and their keys. Numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array, Codes
from ...core.curves.frames import cuts
from ...core.planting.goals import SAMPLES_PER_FRAME
from ...records import replace
from ...said import Sentence, note
from ...scene.sampling.quantities import Samples
from ...scene.sampling.stepping import Steps, part_of
from ..find_contacts.solve import FoundContacts
from .keys.curves import ChannelPieces, keys_of
from .plan.contacts import ground_of, standing_of, travel_of
from .plan.feet import leg_motion
from .pose.standing import Footing, Planted, on_their_belt, restless_notes, solve_takes, within_repair_of_takes

if TYPE_CHECKING:
    from .plan.planning import PlantPlan


@dataclass(frozen=True, slots=True)
class PlantSolution:
    """Planted legs and root, and their keys."""

    found: FoundContacts
    """Contacts found in the motion, whether used or not."""
    given: Sequence[Codes]
    """`(F,)` contact states of each leg that planting started from."""
    footing: Footing
    planted: Planted
    samples: Samples
    """The motion before planting."""
    keys: Sequence[ChannelPieces]
    travel: Array
    """`(S, 3)` added root motion, world space."""
    notes: tuple[Sentence, ...]


def solve_plan(plan: PlantPlan, found: FoundContacts, samples: Samples, given: Mapping[str, Codes]) -> Steps[PlantSolution]:
    """Plant legs and root by the contacts `given` to an earlier planting, else by keyed ones, else by those found."""
    settings = plan.settings
    contacts = found.plan
    soles = [foot.points for foot in contacts.feet]
    legs = [leg_motion(replace(leg, points=points), samples) for leg, points in zip(plan.legs, soles, strict=True)]
    standing = standing_of(plan, found, legs)
    if all(leg.chain in given for leg in plan.legs):
        standing = replace(standing, states=[given[leg.chain] for leg in plan.legs])
    states_given = standing.states
    standing = on_their_belt(contacts, standing, legs)
    ground = ground_of(plan, contacts, standing, samples, legs)
    joints = np.concatenate([leg.joints[::SAMPLES_PER_FRAME] for leg in legs], axis=1)
    takes = cuts(joints, max(leg.length for leg in legs))
    footing = Footing(plan, legs, ground, settings.ease, settings.max_tilt, cuts=takes)
    standing, left = within_repair_of_takes(footing, standing)
    planted = replace((yield from part_of(solve_takes(footing, standing), 0, 2)), left=left)
    travel = travel_of(plan, settings, standing.found.ground_velocity, legs)
    keys = yield from part_of(keys_of(plan, samples, planted, travel), 1, 2)
    notes = (*_missing_travel_notes(plan, travel), *restless_notes(planted, plan.frames, plan.frames_per_second))
    return PlantSolution(standing.found, states_given, footing, planted, samples, keys, travel, notes)


def _missing_travel_notes(plan: PlantPlan, travel: Array) -> tuple[Sentence, ...]:
    """Note why there is no root motion although the settings request it."""
    settings = plan.settings
    if settings.root_motion == "KEEP" or plan.root is None or np.any(travel):
        return ()
    if settings.root_motion == "ADD":
        return (
            note("The ground does not move under the feet, so there is no root motion to add. Give its velocity if it should."),
        )
    return (note("The character stays in place, so there is no root motion to remove."),)
