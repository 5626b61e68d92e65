"""Plant a cycle as the middle one of many rounds, so that its last pose still matches its first. Numbers only."""

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

EXTENT = 2
"""Extent of the repeated rounds to either side of the original one, relative to the reach of corrections."""


@dataclass(frozen=True, slots=True)
class ManyRounds:
    """A cycle repeated before and after its original round."""

    footing: Footing
    standing: Standing
    one: Sequence[LegMotion]
    """The legs in the original round."""
    frames: Rounds
    samples: Rounds

    def middle(self, planted: Planted) -> Planted:
        """Planted legs and root in the original round."""
        legs = [self._leg(leg, before) for leg, before in zip(planted.legs, self.one, strict=True)]
        return Planted(legs, self.samples.middle(planted.moves))

    def _leg(self, leg: PlantedLeg, before: LegMotion) -> PlantedLeg:
        middle, goals = self.samples.middle, leg.goals
        goals = FootGoals(middle(goals.ankles), middle(goals.turns), middle(goals.pinned), middle(goals.turned))
        states, pins = self.frames.middle(leg.states), list(self._pins(leg.pins))
        turns, ankles, changed, ratios = (middle(each) for each in (leg.turns, leg.ankles, leg.changed, leg.ratios))
        return PlantedLeg(before, states, goals, turns, ankles, changed, ratios, pins)

    def _pins(self, pins: Sequence[Pin]) -> Iterator[Pin]:
        last_row = self.frames.count - 1
        for pin in pins:
            first, last = pin.first - self.frames.beside, pin.last - self.frames.beside
            if last >= 0 and first <= last_row:
                yield replace(pin, first=max(first, 0), last=min(last, last_row))


def many_rounds(footing: Footing, standing: Standing) -> ManyRounds | None:
    """The repeated cycle; `None` if the motion is no cycle, continues outside the range, or is on a mesh."""
    plan, legs = footing.plan, footing.legs
    if standing.found.plan.surface is not None or any(_continues_outside(plan, leg) for leg in legs):
        return None
    gone = [ways_gone(leg.joints, leg.foot.points(leg.foot.heel), leg.foot.points(leg.foot.ball)) for leg in legs]
    way = round_way(np.concatenate(gone), max(leg.length for leg in legs))
    count = len(plan.frames)
    if way is None:
        return None
    window = math.ceil(smoothing_window(plan) / SAMPLES_PER_FRAME)
    beside = stance_beside(standing.states) + EXTENT * (math.ceil(footing.ease.most / SAMPLES_PER_FRAME) + window + STRETCH)
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
        [_with_cyclic_hinges(leg, samples) for leg in legs],
        frames,
        samples,
    )


def _continues_outside(plan: PlantingPlan, leg: LegMotion) -> bool:
    """Whether the leg has keys outside the range, so that its motion continues there."""
    first, last = plan.frames[0] - NEAR_FRAME, plan.frames[-1] + NEAR_FRAME
    tables = [keyed.table["co"][:, 0] for keyed in leg.leg.plan.keyed.values() if keyed.table is not None]
    return any(frames.min() < first or frames.max() > last for frames in tables if len(frames))


def _with_cyclic_hinges(leg: LegMotion, samples: Rounds) -> LegMotion:
    """The leg in the original round, with bend axes that are continuous with the rounds before and after."""
    hinges = hinges_of(leg.leg.plan, leg.motion, samples.rows())
    return replace(leg, hinges=None if hinges is None else hinges.on(samples.meant))


def _repeated(leg: LegMotion, samples: Rounds, way: Array) -> LegMotion:
    """The leg in all rounds, each displaced by `way` `(3,)` from the one before; `motion` stays that of one round."""
    rows, along = samples.rows(), samples.numbers()[:, None] * way
    foot = leg.foot.on(rows)
    return replace(
        leg,
        foot=replace(foot, ankles=foot.ankles + along),
        joints=leg.joints[rows] + along[:, None],
        lengths=leg.lengths[rows],
    )
