"""Legs that stand, and the root that lets them: for given contacts, without a look at what the knees make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...array_types import Array, Codes, Mask
from ...contacts.states import on_ball, on_heel
from ...planting.goals import SAMPLES_PER_FRAME, FootGoals, eased_ankles, foot_goals
from ...planting.pins import Foot
from ...planting.root_fit import needed_moves, smooth_moves
from ...settings.planting import RootSettings
from .feet import LegMotion
from .planning import PlantingPlan

SETTLED = 3e-6
"""Part of the leg's length by which a foot may be off its pins and still count as standing: single precision."""

STRAIGHT = 1e-6
"""Part of the leg's length that is always kept back: what is farther away cannot be told from out of reach."""

DEFAULT_MOVE = 0.1
"""Part of the leg's length that the root moves at most, where nobody says."""

NOTHING = 1e-7
"""Part of the leg's length below which the root is not moved."""

ROUNDS = 3
"""Feet on the way to a contact move with the root, so what they need of it is found again when it has moved."""

DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, slots=True)
class PlantedLeg:
    """A leg, and what it is to do."""

    before: LegMotion
    states: Codes
    """`(F,)`"""
    goals: FootGoals
    ankles: Array
    """`(S, 3)` in the world."""
    changed: Mask
    """`(S,)` where the leg does not just follow the root."""

    @property
    def on_points(self) -> tuple[Mask, Mask]:
        """`(F,)` where the heel stands, and where the ball does."""
        return on_heel(self.states), on_ball(self.states)


@dataclass(frozen=True, slots=True)
class Planted:
    """All legs and their root."""

    legs: list[PlantedLeg]
    moves: Array
    """`(S, 3)` of the root, in the world."""


def stand_still(
    plan: PlantingPlan, legs: Sequence[LegMotion], states: Sequence[Codes], ease: int, calming: Array | None = None
) -> Planted:
    """Legs and root for these states; `calming` `(S,)` is added to what the root moves down."""
    goals = [_goals(leg, each) for leg, each in zip(legs, states, strict=True)]
    calming = np.zeros(len(plan.samples)) if calming is None else calming
    moves = calming[:, None] * DOWN
    ways = [eased_ankles(goal, leg.foot.ankles + moves, ease=ease) for goal, leg in zip(goals, legs, strict=True)]
    if plan.root is not None:
        pinned = np.stack([goal.pinned for goal in goals])
        needs = root_needs(plan, legs, np.stack([ankles for ankles, _ in ways]), pinned)
        for _ in range(ROUNDS):
            moves = smoothed_moves(plan, needs) + calming[:, None] * DOWN
            ways = [eased_ankles(goal, leg.foot.ankles + moves, ease=ease) for goal, leg in zip(goals, legs, strict=True)]
            touched = np.stack([touched for _, touched in ways])
            more = root_needs(plan, legs, np.stack([ankles for ankles, _ in ways]), touched, moved=moves)
            more = np.where(more == 0.0, 0.0, more - calming)
            if np.all(np.abs(more) <= np.abs(needs)):
                break
            needs = np.where(np.abs(more) > np.abs(needs), more, needs)
    planted = [
        PlantedLeg(leg, state, goal, ankles, touched | goal.turned)
        for leg, state, goal, (ankles, touched) in zip(legs, states, goals, ways, strict=True)
    ]
    return Planted(planted, moves)


def _goals(leg: LegMotion, states: Codes) -> FootGoals:
    afar = float(np.abs(leg.joints).max())
    settled = SETTLED * (leg.length + 0.1 * afar)
    return foot_goals(leg.foot, on_heel(states), on_ball(states), settled=settled)


def at_frames(foot: Foot) -> Foot:
    """A foot known at samples, at the frames."""
    return replace(foot, ankles=foot.ankles[::SAMPLES_PER_FRAME], turns=foot.turns[::SAMPLES_PER_FRAME])


def root_needs(
    plan: PlantingPlan,
    legs: Sequence[LegMotion],
    ankles: Array,
    wanted: Mask,
    *,
    moved: Array | None = None,
    keeps_straight: bool = True,
) -> Array:
    """How far `(S,)` the root has to go down for legs to reach `ankles` `(C, S, 3)`, world space, where `wanted` `(C, S)`.

    moved : (S, 3) how far the root has moved already; where that is enough, 0
    keeps_straight : whether a leg that is straighter now than the reserve allows may stay so
    """
    settings = plan.settings
    done = np.zeros((len(plan.samples), 3)) if moved is None else moved
    hips = np.stack([leg.joints[:, 0] for leg in legs]) + done
    length = max(leg.length for leg in legs)
    most, least = (value or DEFAULT_MOVE * length for value in (settings.max_lower, settings.max_raise))
    reaches = np.stack([reach_limits(leg, settings, keeps_straight=keeps_straight) for leg in legs])
    needs = needed_moves(ankles - hips, reaches, wanted, DOWN, least=-least, most=most).moves
    return np.where(np.abs(needs) > NOTHING * length, np.clip(needs + done @ DOWN, -least, most), 0.0)


def smoothed_moves(plan: PlantingPlan, needs: Array) -> Array:
    """Moves `(S, 3)` of the root, world space, that are as large as `needs` `(S,)` and smooth."""
    window = max(1, round(plan.settings.window * plan.frames_per_second * SAMPLES_PER_FRAME)) | 1
    return smooth_moves(needs, window)[:, None] * DOWN


def reach_limits(leg: LegMotion, settings: RootSettings, *, keeps_straight: bool) -> Array:
    """Farthest `(S,)` that the ankle may be from the hip: the reserve is kept, where the leg is not straighter anyway."""
    straightest = np.clip(leg.extensions, 1.0 - settings.reserve, 1.0 - STRAIGHT) if keeps_straight else 1.0 - settings.reserve
    return leg.lengths * np.minimum(straightest, 1.0 - STRAIGHT)
