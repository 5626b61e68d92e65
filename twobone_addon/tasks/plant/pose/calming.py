"""Keep knees from popping: small moves of the root, of feet in the air, and of feet that roll on heel or ball."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Mask
from ....core.arrays import magnitude
from ....core.contacts.states import ContactState
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.heels import pitches_within_reach
from ....core.planting.knees import accelerations, calming_moves, knee_angles, links_of
from ....core.rig.rotations import about_axis, unit
from ....scene.sampling.stepping import Steps
from .standing import DOWN, STRAIGHT, Footing, Planted, PlantedLeg, stand_still

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


def with_calm_root(footing: Footing, planted: Planted, *, leaves_balls: bool) -> Steps[Planted]:
    """Planted legs with the root moved slightly where knees bend too suddenly.

    In a recording that shakes the whole body, feet included, pinning the feet would leave the knees to absorb the shaking.
    With `leaves_balls`, knees are not watched while their foot is on its ball alone: it pitches for them, see `with_calm_ease`.
    """
    plan, legs = footing.plan, planted.legs
    length = max(leg.before.length for leg in legs)
    limits = np.array([CALM * _largest_bend(leg, plan.frames_per_second) for leg in legs])
    calming, gives = np.zeros(len(plan.frames)), np.full(len(plan.frames), ROOT_GIVES)
    for _ in range(ROUNDS):
        yield 1.0
        pinned = np.stack([leg.goals.pinned[::SAMPLES_PER_FRAME] for leg in planted.legs])
        left = np.stack([leg.states == ContactState.BALL for leg in planted.legs]) & leaves_balls

        def angles(moves: Array, base: Planted = planted, pinned: Mask = pinned, already: Array = calming) -> Array:
            up = ((moves - already) * pinned * length)[..., None] * -DOWN
            return np.stack([_knee_angles(leg, base.moves, more) for leg, more in zip(base.legs, up, strict=True)])

        calmer = calming_moves(angles, calming, limits, pinned & ~left, low=-gives, high=gives)
        if np.array_equal(calmer, calming):
            break
        calming = calmer
        on_samples = np.interp(plan.samples, plan.frames, calming * length)
        planted = stand_still(footing, [leg.states for leg in legs], on_samples)
    return planted


def with_calm_ease(plan: PlantingPlan, planted: Planted, *, only_up: bool = False) -> Planted:
    """Planted legs with feet moved slightly, within reach, where knees bend too suddenly.

    Feet in an ease to or from a contact move towards the hip or away from it, with `only_up` only towards it; feet that stand on
    heel or ball alone pitch about that point.
    """
    return Planted([_with_calm_ease(plan, leg, planted.moves, only_up=only_up) for leg in planted.legs], planted.moves)


def _with_calm_ease(plan: PlantingPlan, leg: PlantedLeg, root_moves: Array, *, only_up: bool) -> PlantedLeg:
    whole, foot, length = slice(None, None, SAMPLES_PER_FRAME), leg.before.foot, leg.before.length
    ways = leg.ankles - root_moves - leg.before.joints[:, 0]
    reaches = (1.0 - STRAIGHT) * (leg.ratios * leg.before.lengths)[whole]
    free, along, axes = leg.changed & ~leg.goals.pinned, unit(ways), leg.turns @ unit(np.cross(foot.ball, foot.heel))
    room = np.maximum(reaches - magnitude(ways[whole]), 0.0) / length
    low = -FOOT_GIVES * free[whole]
    high = np.zeros(len(low)) if only_up else np.minimum(room, FOOT_GIVES) * free[whole]
    # Rodrigues' formula: the ankle goes along `tangents` by the sine of the pitch, and along `inwards` by 1 minus its cosine.
    tangents, inwards, rolls = np.zeros((len(low), 3)), np.zeros((len(low), 3)), []
    for state, point in ((ContactState.HEEL, foot.heel), (ContactState.BALL, foot.ball)):
        on_it = leg.goals.pinned[whole] & (leg.states == state)
        arms, around = -foot.ways(leg.turns, point)[whole][on_it], axes[whole][on_it]
        tangents[on_it], inwards[on_it] = np.cross(around, arms), np.cross(around, np.cross(around, arms))
        per_length = np.zeros(len(low))
        per_length[on_it] = length / np.maximum(magnitude(tangents[on_it]), np.finfo(float).tiny)
        reached = pitches_within_reach(arms, around, arms - ways[whole][on_it], reaches[on_it])
        least, most = (each / per_length[on_it] for each in reached)
        low[on_it], high[on_it] = np.clip(least, -FOOT_GIVES, 0.0), np.clip(most, 0.0, FOOT_GIVES)
        rolls.append((point, per_length))
    per_pitch = np.sum([per_length for _, per_length in rolls], axis=0)

    def angles(moves: Array) -> Array:
        pitches = (moves * per_pitch)[:, None]
        arc = np.sin(pitches) * tangents + (1.0 - np.cos(pitches)) * inwards
        return _knee_angles(leg, root_moves, (moves * free[whole] * length)[:, None] * along[whole] + arc)[None]

    limits = np.array([CALM * _largest_bend(leg, plan.frames_per_second)])
    calmer = calming_moves(angles, np.zeros(len(low)), limits, leg.changed[None, whole], low=low, high=high, solves_again=False)
    if not calmer.any():
        return leg
    on_samples = np.interp(plan.samples, plan.frames, calmer * free[whole])
    ankles, turns = leg.ankles + (on_samples * free)[:, None] * along * length, leg.turns
    for point, per_length in rolls:
        pitches = np.interp(plan.samples, plan.frames, calmer * per_length)
        if pitches.any():
            before = foot.ways(turns, point)
            turns = np.where((pitches != 0.0)[:, None, None], about_axis(axes, pitches) @ turns, turns)
            ankles = ankles + before - foot.ways(turns, point)
    return replace(leg, ankles=ankles, turns=turns)
