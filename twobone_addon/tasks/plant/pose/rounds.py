"""A cycle is planted as one round of many, so that what comes last still fits what comes first. Numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array
from ....core.curves.frames import NEAR_FRAME
from ....core.planting.cycles import Rounds, round_way, stance_beside, ways_gone
from ....core.planting.goals import SAMPLES_PER_FRAME, FootGoals
from ....core.planting.ground import moving_ground
from ....core.planting.knees import STRETCH
from ....core.planting.pins import Pin
from ....pipeline.pose.limb_plane import hinges_of
from ..plan.contacts import Standing
from ..plan.feet import LegMotion
from .standing import Footing, Planted, PlantedLeg, smoothing_window

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan

FURTHER = 2
"""Times as far as corrections reach that the rounds beside the one that is meant are looked at."""


@dataclass(frozen=True, slots=True)
class ManyRounds:
    """A cycle, over and over."""

    footing: Footing
    standing: Standing
    one: Sequence[LegMotion]
    """The legs in the round that is meant."""
    frames: Rounds
    samples: Rounds

    def middle(self, planted: Planted) -> Planted:
        """What the legs and the root do in the round that is meant."""
        legs = [self._leg(leg, before) for leg, before in zip(planted.legs, self.one, strict=True)]
        return Planted(legs, self.samples.middle(planted.moves))

    def _leg(self, leg: PlantedLeg, before: LegMotion) -> PlantedLeg:
        one, goals = self.samples.middle, leg.goals
        goals = FootGoals(one(goals.ankles), one(goals.turns), one(goals.pinned), one(goals.turned))
        states, pins = self.frames.middle(leg.states), list(self._pins(leg.pins))
        return PlantedLeg(before, states, goals, one(leg.turns), one(leg.ankles), one(leg.changed), pins)

    def _pins(self, pins: Sequence[Pin]) -> Iterator[Pin]:
        last_row = self.frames.count - 1
        for pin in pins:
            first, last = pin.first - self.frames.beside, pin.last - self.frames.beside
            if last >= 0 and first <= last_row:
                yield replace(pin, first=max(first, 0), last=min(last, last_row))


def many_rounds(footing: Footing, standing: Standing) -> ManyRounds | None:
    """The cycle that the legs go through; `None` where their motion is none, goes on outside the range, or is on a mesh."""
    plan, legs = footing.plan, footing.legs
    if standing.found.plan.surface is not None or any(_goes_on(plan, leg) for leg in legs):
        return None
    gone = [ways_gone(leg.joints, leg.foot.points(leg.foot.heel), leg.foot.points(leg.foot.ball)) for leg in legs]
    way = round_way(np.concatenate(gone), max(leg.length for leg in legs))
    count = len(plan.frames)
    if way is None:
        return None
    window = math.ceil(smoothing_window(plan) / SAMPLES_PER_FRAME)
    beside = stance_beside(standing.states) + FURTHER * (math.ceil(footing.ease.most / SAMPLES_PER_FRAME) + window + STRETCH)
    frames, samples = Rounds(count, beside), Rounds(len(plan.samples), beside * SAMPLES_PER_FRAME)
    step = (plan.frames[-1] - plan.frames[0]) / (count - 1)
    over_and_over = replace(
        plan,
        frames=frames.times(plan.frames[0], step),
        samples=samples.times(plan.samples[0], step / SAMPLES_PER_FRAME),
    )
    seconds = over_and_over.samples / plan.frames_per_second
    moving = moving_ground(seconds, standing.found.ground_velocity, since=plan.samples[0] / plan.frames_per_second)
    return ManyRounds(
        replace(
            footing,
            plan=over_and_over,
            legs=[_repeated(leg, samples, way) for leg in legs],
            ground=replace(footing.ground, world_from_ground=moving.world_from_ground),
        ),
        replace(
            standing,
            states=[frames.states(states) for states in standing.states],
            by_hand=[by_hand[frames.rows()] for by_hand in standing.by_hand],
        ),
        [_of_rounds(leg, samples) for leg in legs],
        frames,
        samples,
    )


def _goes_on(plan: PlantingPlan, leg: LegMotion) -> bool:
    """Whether the leg has keys outside the range, with which its motion goes on from there."""
    first, last = plan.frames[0] - NEAR_FRAME, plan.frames[-1] + NEAR_FRAME
    tables = [keyed.table["co"][:, 0] for keyed in leg.leg.plan.keyed.values() if keyed.table is not None]
    return any(frames.min() < first or frames.max() > last for frames in tables if len(frames))


def _of_rounds(leg: LegMotion, samples: Rounds) -> LegMotion:
    """The leg in one round, whose bends continue those of the round before, and lead to those of the next one."""
    hinges = hinges_of(leg.leg.plan, leg.motion, samples.rows())
    return replace(leg, hinges=None if hinges is None else hinges.on(samples.meant))


def _repeated(leg: LegMotion, samples: Rounds, way: Array) -> LegMotion:
    """The leg in all rounds, each `way` `(3,)` farther than the one before; what its bones do stays that of one round."""
    rows, along = samples.rows(), samples.numbers()[:, None] * way
    foot = leg.foot.on(rows)
    return replace(
        leg,
        foot=replace(foot, ankles=foot.ankles + along),
        joints=leg.joints[rows] + along[:, None],
        lengths=leg.lengths[rows],
    )
