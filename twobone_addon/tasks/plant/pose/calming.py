"""Keep knees from popping: small moves of the root, of feet in the air, and of feet that roll on heel or ball."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Mask
from ....core.arrays import magnitude
from ....core.contacts.states import ContactState
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.knees import accelerations, calming_moves, knee_angles, links_of
from ....core.rig.rotations import about_axis, unit
from ....scene.sampling.stepping import Steps
from .standing import DOWN, Footing, Planted, PlantedLeg, stand_still

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan

ROUNDS = 3
"""Iterations of root calming: the root's moves change the knee angles, which are then evaluated again."""

CALM, POPS, ABRUPT = 1.25, 1.5, 2.0
"""Multiples of the largest acceleration of a knee in the original motion: calmed above the first, visible as a pop above the
second, a reason to shorten stances above the third."""

UNSEEN_BEND = 15.0
"""Knee acceleration below which no pop is visible, radians per second squared: 4 degrees in a tenth of a second. A walk has eight
times as much."""

ROOT_GIVES, FOOT_GIVES = 2e-3, 1e-2
"""Largest moves of the root and of a foot for calmer knees, leg lengths; the move of the root must be invisible."""


def sudden_bends(leg: PlantedLeg, moves: Array, rate: float, times: float) -> Mask:
    """Frames `(F,)` at which the knee's acceleration exceeds `times` its largest one in the original motion."""
    return np.abs(accelerations(_knee_angles(leg, moves))) > times * _largest_bend(leg, rate)


def while_standing(leg: PlantedLeg) -> Mask:
    """Frames `(F,)` at which the foot stands, and one to either side: elsewhere the foot's own path can absorb a bend."""
    return np.convolve(leg.goals.pinned[::SAMPLES_PER_FRAME], np.ones(3), mode="same") > 0.0


def worst_bend(planted: Planted, rate: float) -> float:
    """Largest ratio, over all legs and frames, of a knee's acceleration to its largest one in the original motion."""
    bends = [float(np.abs(accelerations(_knee_angles(leg, planted.moves))).max(initial=0.0)) for leg in planted.legs]
    return max((now / _largest_bend(leg, rate) for now, leg in zip(bends, planted.legs, strict=True)), default=0.0)


def pops(leg: PlantedLeg, moves: Array, rate: float, but: PlantedLeg) -> bool:
    """Whether the knee visibly pops at a frame at which it does not with the leg as in `but`."""
    bends, others = (np.abs(accelerations(_knee_angles(each, moves))) for each in (leg, but))
    return bool(np.any(bends > np.maximum(POPS * _largest_bend(leg, rate), others)))


def _largest_bend(leg: PlantedLeg, rate: float) -> float:
    """Largest second difference of the knee angle in the original motion; at least `UNSEEN_BEND`."""
    joints = leg.before.joints[::SAMPLES_PER_FRAME]
    angles = knee_angles(joints[:, 2] - joints[:, 0], links_of(joints))
    return float(np.abs(accelerations(angles)).max(initial=UNSEEN_BEND / rate**2))


def _knee_angles(leg: PlantedLeg, moves: Array, more: Array | float = 0.0) -> Array:
    """Knee angles `(F,)` with the root moved by `moves` `(S, 3)`, and the ankle by an additional `more` `(F, 3)`."""
    joints, ratios = leg.before.joints[::SAMPLES_PER_FRAME], leg.ratios[::SAMPLES_PER_FRAME]
    return knee_angles((leg.ankles - moves)[::SAMPLES_PER_FRAME] + more - joints[:, 0], links_of(joints) * ratios[:, None])


def with_calm_root(footing: Footing, planted: Planted) -> Steps[Planted]:
    """Planted legs with the root moved slightly where knees bend too suddenly.

    In a recording that shakes the whole body, feet included, pinning the feet would leave the knees to absorb the shaking.
    """
    plan, legs = footing.plan, planted.legs
    length = max(leg.before.length for leg in legs)
    limits = np.array([CALM * _largest_bend(leg, plan.frames_per_second) for leg in legs])
    calming = np.zeros(len(plan.frames))
    for _ in range(ROUNDS):
        yield 1.0
        base = planted
        pinned = np.stack([leg.goals.pinned[::SAMPLES_PER_FRAME] for leg in base.legs])

        def angles(moves: Array, base: Planted = base, pinned: Mask = pinned) -> Array:
            up = (moves * pinned * length)[..., None] * -DOWN
            return np.stack([_knee_angles(leg, base.moves, more) for leg, more in zip(base.legs, up, strict=True)])

        calmer = calming_moves(angles, len(plan.frames), limits, pinned, most=ROOT_GIVES)
        if not calmer.any():
            break
        calming = np.clip(calming + calmer * length, -ROOT_GIVES * length, ROOT_GIVES * length)
        on_samples = np.interp(plan.samples, plan.frames, calming)
        planted = stand_still(footing, [leg.states for leg in legs], on_samples)
    return planted


def with_calm_ease(plan: PlantingPlan, planted: Planted) -> Planted:
    """Planted legs with feet moved slightly where knees bend too suddenly.

    Feet in an ease to or from a contact move towards the hip or away from it; feet that stand on heel or ball alone pitch about
    that point.
    """
    legs = []
    for leg in planted.legs:
        foot, pinned = leg.before.foot, leg.goals.pinned
        ways = leg.ankles - planted.moves - leg.before.joints[:, 0]
        along = unit(ways)[::SAMPLES_PER_FRAME]
        free = leg.changed & ~pinned
        can_move = free[::SAMPLES_PER_FRAME].copy()
        axes, rolls = leg.turns @ unit(np.cross(foot.ball, foot.heel)), []
        for state, point in ((ContactState.HEEL, foot.heel), (ContactState.BALL, foot.ball)):
            on_it = pinned[::SAMPLES_PER_FRAME] & (leg.states == state)
            tangents = np.cross(axes, -foot.ways(leg.turns, point))[::SAMPLES_PER_FRAME]
            along[on_it] = unit(tangents[on_it])
            can_move |= on_it & np.any(tangents, axis=1)
            rolls.append((point, on_it / np.maximum(magnitude(tangents), np.finfo(float).tiny)))
        along *= leg.before.length

        def angles(moves: Array, leg: PlantedLeg = leg, along: Array = along, can_move: Mask = can_move) -> Array:
            return _knee_angles(leg, planted.moves, (moves * can_move)[:, None] * along)[None]

        limits = np.array([CALM * _largest_bend(leg, plan.frames_per_second)])
        calmer = calming_moves(angles, len(plan.frames), limits, leg.changed[None, ::SAMPLES_PER_FRAME], most=FOOT_GIVES)
        calmer = calmer * can_move
        if not calmer.any():
            legs.append(leg)
            continue
        on_samples = np.interp(plan.samples, plan.frames, calmer * free[::SAMPLES_PER_FRAME])
        ankles, turns = leg.ankles + (on_samples * free)[:, None] * unit(ways) * leg.before.length, leg.turns
        for point, per_length in rolls:
            pitches = np.interp(plan.samples, plan.frames, calmer * per_length * leg.before.length)
            if pitches.any():
                before = foot.ways(turns, point)
                turns = np.where((pitches != 0.0)[:, None, None], about_axis(axes, pitches) @ turns, turns)
                ankles = ankles + before - foot.ways(turns, point)
        legs.append(replace(leg, ankles=ankles, turns=turns))
    return Planted(legs, planted.moves)
