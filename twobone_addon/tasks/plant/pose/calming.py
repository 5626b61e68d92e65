"""Knees that do not pop: what stands gives way a little, and the root and the ways of free feet are bent to it."""

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
"""The root's moves change how knees are bent, which is then seen again."""

CALM, POPS, ABRUPT = 1.25, 1.5, 2.0
"""Times the largest acceleration that a knee has anyway: what is above is calmed, what is seen, and what is far above."""

UNSEEN_BEND = 15.0
"""Radians a second squared, 4 degrees in a tenth of a second: a knee that is hardly bent is not seen to pop with less. In a walk
it is bent by eight times as much."""

ROOT_GIVES, FOOT_GIVES = 2e-3, 1e-2
"""Legs by which the root, and a foot on its way, give way to a knee at most: of the root nobody is to see that."""


def sudden_bends(leg: PlantedLeg, moves: Array, rate: float, times: float) -> Mask:
    """Frames `(F,)` at which the knee is accelerated so many `times` more than it is anyway: far more than it may be."""
    return np.abs(accelerations(_knee(leg, moves))) > times * _largest_bend(leg, rate)


def while_standing(leg: PlantedLeg) -> Mask:
    """Frames `(F,)` at which the foot stands, or just before and after: elsewhere its own way can make up for a bend."""
    return np.convolve(leg.goals.pinned[::SAMPLES_PER_FRAME], np.ones(3), mode="same") > 0.0


def worst_bend(planted: Planted, rate: float) -> float:
    """How many times more a knee is accelerated than it is anyway, at the worst frame of the worst leg."""
    bends = [float(np.abs(accelerations(_knee(leg, planted.moves))).max(initial=0.0)) for leg in planted.legs]
    return max((now / _largest_bend(leg, rate) for now, leg in zip(bends, planted.legs, strict=True)), default=0.0)


def pops(leg: PlantedLeg, moves: Array, rate: float, but: PlantedLeg) -> bool:
    """Whether the knee is seen to pop at a frame at which it does not where the leg does what the other one does."""
    bends, others = (np.abs(accelerations(_knee(each, moves))) for each in (leg, but))
    return bool(np.any(bends > np.maximum(POPS * _largest_bend(leg, rate), others)))


def _largest_bend(leg: PlantedLeg, rate: float) -> float:
    """Largest second difference of the knee's angle as the leg moves now; at least what nobody sees."""
    joints = leg.before.joints[::SAMPLES_PER_FRAME]
    angles = knee_angles(joints[:, 2] - joints[:, 0], links_of(joints))
    return float(np.abs(accelerations(angles)).max(initial=UNSEEN_BEND / rate**2))


def _knee(leg: PlantedLeg, moves: Array, more: Array | float = 0.0) -> Array:
    """Angles `(F,)` of the knee with the root moved by `moves` `(S, 3)`, and the ankle `more` `(F, 3)` away from it."""
    joints = leg.before.joints[::SAMPLES_PER_FRAME]
    return knee_angles((leg.ankles - moves)[::SAMPLES_PER_FRAME] + more - joints[:, 0], links_of(joints))


def with_calm_root(footing: Footing, planted: Planted) -> Steps[Planted]:
    """The same with the root giving way a little where knees are bent too suddenly.

    Pinned feet show what a recording has shaken the whole body by, feet included; the knees would have to make up for it.
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
            return np.stack([_knee(leg, base.moves, more) for leg, more in zip(base.legs, up, strict=True)])

        found = calming_moves(angles, len(plan.frames), limits, pinned, most=ROOT_GIVES)
        if not found.any():
            break
        calming = np.clip(calming + found * length, -ROOT_GIVES * length, ROOT_GIVES * length)
        on_samples = np.interp(plan.samples, plan.frames, calming)
        planted = stand_still(footing, [leg.states for leg in legs], on_samples)
    return planted


def with_calm_ease(plan: PlantingPlan, planted: Planted) -> Planted:
    """The same with feet giving way a little where knees are bent too suddenly.

    Those on their way to a contact, or from it, come nearer to the hip or go away from it; those that stand on their heel or
    ball alone pitch about that.
    """
    legs = []
    for leg in planted.legs:
        foot, pinned = leg.before.foot, leg.goals.pinned
        ways = leg.ankles - planted.moves - leg.before.joints[:, 0]
        along = unit(ways)[::SAMPLES_PER_FRAME]
        free = leg.changed & ~pinned
        gives = free[::SAMPLES_PER_FRAME].copy()
        axes, rolls = leg.turns @ unit(np.cross(foot.ball, foot.heel)), []
        for state, point in ((ContactState.HEEL, foot.heel), (ContactState.BALL, foot.ball)):
            on_it = pinned[::SAMPLES_PER_FRAME] & (leg.states == state)
            tangents = np.cross(axes, -foot.ways(leg.turns, point))[::SAMPLES_PER_FRAME]
            along[on_it] = unit(tangents[on_it])
            gives |= on_it & np.any(tangents, axis=1)
            rolls.append((point, on_it / np.maximum(magnitude(tangents), np.finfo(float).tiny)))
        along *= leg.before.length

        def angles(moves: Array, leg: PlantedLeg = leg, along: Array = along, gives: Mask = gives) -> Array:
            return _knee(leg, planted.moves, (moves * gives)[:, None] * along)[None]

        limits = np.array([CALM * _largest_bend(leg, plan.frames_per_second)])
        found = calming_moves(angles, len(plan.frames), limits, leg.changed[None, ::SAMPLES_PER_FRAME], most=FOOT_GIVES)
        found = found * gives
        if not found.any():
            legs.append(leg)
            continue
        on_samples = np.interp(plan.samples, plan.frames, found * free[::SAMPLES_PER_FRAME])
        ankles, turns = leg.ankles + (on_samples * free)[:, None] * unit(ways) * leg.before.length, leg.turns
        for point, per_length in rolls:
            pitches = np.interp(plan.samples, plan.frames, found * per_length * leg.before.length)
            if pitches.any():
                before = foot.ways(turns, point)
                turns = np.where((pitches != 0.0)[:, None, None], about_axis(axes, pitches) @ turns, turns)
                ankles = ankles + before - foot.ways(turns, point)
        legs.append(replace(leg, ankles=ankles, turns=turns))
    return Planted(legs, planted.moves)
