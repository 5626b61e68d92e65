"""Calm knees that planting would make bend suddenly, and keep feet in the air clear of the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Mask
from ....core.arrays import magnitude
from ....core.contacts.skating import LOW, LOWEST
from ....core.contacts.states import ContactState, runs
from ....core.planting.clearing import far_from, lifts
from ....core.planting.goals import (
    SAMPLES_PER_FRAME,
)
from ....core.planting.heels import pitches_within_reach
from ....core.planting.knees import accelerations, calming_moves, knee_angles, links_of, steps_seen
from ....core.planting.pins import Foot
from ....core.rig.rotations import about_axis, unit
from ....records import replace
from ....said import Sentence, note
from ....scene.sampling.stepping import Steps
from ..plan.feet import LegMotion
from .standing import DOWN, SETTLED, STRAIGHT, Footing, Planted, PlantedLeg, settled, stand_still

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan

ROUNDS = 3
"""Iterations of root calming: the root's moves change the knee angles, which are then evaluated again."""

CALM, POPS, ABRUPT = 1.25, 1.5, 2.0
"""Multiples of the largest acceleration of a knee in the original motion: calmed above the first, visible as a pop above the
second, a reason to shorten stances above the third."""

USUAL = 0.995
"""Part of the frames of the original motion whose bends are usual: the others may be a fall or a glitch."""

UNSEEN_BEND = 15.0
"""Knee acceleration below which no pop is visible, radians per second squared: 4 degrees in a tenth of a second. A walk has eight
times as much."""

ROOT_GIVES, FOOT_GIVES = 2e-3, 1e-2
"""Largest moves of the root and of a foot for calmer knees, leg lengths; the move of the root must be invisible."""

LEAST_LEVER = 0.03
"""Distance of the ankle from the point about which a foot pitches, leg lengths, below which no pitch calms a knee: a third of the
height of a human ankle. A shorter lever would turn the foot by more than 20 degrees for the largest move."""


def bend_multiples(leg: PlantedLeg, moves: Array, rate: float) -> Array:
    """Accelerations `(F,)` of the knee as multiples of its largest one in the original motion, over the worst of the steps seen.

    The largest one counts as at least `UNSEEN_BEND`.
    """
    angles, largest = _knee_angles(leg, moves), _largest_bends(leg, rate)
    return np.max(
        [np.abs(accelerations(angles, step)) / most for step, most in zip(steps_seen(rate), largest, strict=True)], axis=0
    )


def _largest_bends(leg: PlantedLeg, rate: float, part: float = 1.0) -> list[float]:
    """Largest acceleration of the knee in a `part` of the frames of the original motion, over each of the steps seen."""
    joints = leg.before.joints[::SAMPLES_PER_FRAME]
    angles = knee_angles(joints[:, 2] - joints[:, 0], links_of(joints))
    bends = [np.quantile(np.abs(accelerations(angles, step)), part) for step in steps_seen(rate)]
    return [max(float(most), UNSEEN_BEND / rate**2) for most in bends]


def while_standing(leg: PlantedLeg, rate: float) -> Mask:
    """Frames `(F,)` at which the foot stands, and a step to either side: elsewhere the foot's own path can absorb a bend."""
    pinned, step = leg.goals.pinned[::SAMPLES_PER_FRAME], steps_seen(rate)[-1]
    return np.convolve(pinned, np.ones(2 * step + 1))[step : step + len(pinned)] > 0.0


def worst_bend(planted: Planted, rate: float) -> float:
    """Largest ratio, over all legs and frames, of a knee's acceleration to its largest one in the original motion."""
    return max((float(bend_multiples(leg, planted.moves, rate).max(initial=0.0)) for leg in planted.legs), default=0.0)


def restless_notes(planted: Planted, frames: Array, rate: float) -> tuple[Sentence, ...]:
    """A note on the knee that bends most suddenly although all rounds of calming are spent; none if no knee visibly pops."""
    said = 'The knee of "{chain}" bends {times:.1f} times as suddenly as before at frame {frame:g}. Shorten the contact there.'
    worst, values = POPS, {}
    for leg in planted.legs:
        bends = bend_multiples(leg, planted.moves, rate)
        if bends.max(initial=0.0) > worst:
            worst = bends.max()
            values = {"chain": leg.before.leg.chain, "times": worst, "frame": frames[bends.argmax()]}
    return (note(said, **values),) if values else ()


def pops(leg: PlantedLeg, moves: Array, rate: float, but: PlantedLeg) -> bool:
    """Whether the knee visibly pops at a frame at which it does not with the leg as in `but`."""
    return bool(np.any(bend_multiples(leg, moves, rate) > np.maximum(POPS, bend_multiples(but, moves, rate))))


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
    length, steps = max(leg.before.length for leg in legs), steps_seen(plan.frames_per_second)
    limits = CALM * np.array([_largest_bends(leg, plan.frames_per_second) for leg in legs]).T.ravel()
    calming, gives = np.zeros(len(plan.frames)), np.full(len(plan.frames), ROOT_GIVES)
    for _ in range(ROUNDS):
        yield 1.0
        pinned = np.stack([leg.goals.pinned[::SAMPLES_PER_FRAME] for leg in planted.legs])
        on_balls = np.stack([leg.states == ContactState.BALL for leg in planted.legs]) & leaves_balls

        def angles(moves: Array, base: Planted = planted, pinned: Mask = pinned, already: Array = calming) -> Array:
            # Where a foot is pinned, a root that goes down is an ankle that comes up to the hip.
            up = ((moves - already) * pinned * length)[..., None] * -DOWN
            return np.stack([_knee_angles(leg, base.moves, more) for leg, more in zip(base.legs, up, strict=True)])

        calmer = calming_moves(angles, calming, limits, pinned & ~on_balls, low=-gives, high=gives, steps=steps)
        if np.array_equal(calmer, calming):
            break
        calming = calmer
        on_samples = np.interp(plan.samples, plan.frames, calming * length)
        planted = stand_still(footing, [leg.states for leg in legs], on_samples)
    return planted


def with_calm_ease(plan: PlantingPlan, planted: Planted, *, only_up: bool = False, part: float = 1.0) -> Planted:
    """Planted legs with feet moved slightly, within reach, where knees bend too suddenly beside a `part` of the original motion.

    Feet in an ease to or from a contact move towards the hip or away from it, with `only_up` only towards it; feet that stand on
    heel or ball alone pitch about that point.
    """
    legs = [_with_calm_ease(plan, leg, planted.moves, only_up=only_up, part=part) for leg in planted.legs]
    return Planted(legs, planted.moves)


def calmer_where_free(planted: Planted, calmer: Planted, rate: float) -> Planted:
    """The planted legs, as in `calmer` in each stretch in which it differs and neither a knee nor the ball pays for it."""
    pairs = zip(planted.legs, calmer.legs, strict=True)
    return replace(planted, legs=[_calmer_where_free(*legs, planted.moves, rate) for legs in pairs])


def _calmer_where_free(leg: PlantedLeg, calmer: PlantedLeg, moves: Array, rate: float) -> PlantedLeg:
    reach, foot = steps_seen(rate)[-1], leg.before.foot
    before, now, then = (
        _ball_accelerations(replace(foot, ankles=each.ankles, turns=each.turns), reach) for each in (foot, leg, calmer)
    )
    pays = bend_multiples(calmer, moves, rate) > np.maximum(POPS, bend_multiples(leg, moves, rate))
    pays |= then > np.maximum(now, CALM * np.quantile(before, USUAL))
    moved = magnitude(calmer.ankles - leg.ankles) > settled(leg.before)
    taken = moved | np.any(np.abs(calmer.turns - leg.turns) > SETTLED, axis=(1, 2))
    for first, last in runs(taken):
        around = slice(max(first // SAMPLES_PER_FRAME - reach, 0), last // SAMPLES_PER_FRAME + reach + 2)
        taken[first : last + 1] = not pays[around].any()
    return replace(
        leg,
        ankles=np.where(taken[:, None], calmer.ankles, leg.ankles),
        turns=np.where(taken[:, None, None], calmer.turns, leg.turns),
        changed=leg.changed | (taken & calmer.changed),
    )


def _ball_accelerations(foot: Foot, step: int) -> Array:
    """Lengths `(F,)` of the second differences of the ball over steps of `step` frames, per frame squared."""
    balls = foot.points(foot.ball)[::SAMPLES_PER_FRAME]
    return magnitude(np.stack([accelerations(along, step) for along in balls.T], axis=-1))


def _with_calm_ease(plan: PlantingPlan, leg: PlantedLeg, root_moves: Array, *, only_up: bool, part: float) -> PlantedLeg:
    whole, foot, length = slice(None, None, SAMPLES_PER_FRAME), leg.before.foot, leg.before.length
    from_hip = leg.ankles - root_moves - leg.before.joints[:, 0]
    reaches = (1.0 - STRAIGHT) * (leg.ratios * leg.before.lengths)[whole]
    free, along, axes = leg.changed & ~leg.goals.pinned, unit(from_hip), leg.turns @ unit(np.cross(foot.ball, foot.heel))
    room = np.maximum(reaches - magnitude(from_hip[whole]), 0.0) / length
    low = -FOOT_GIVES * free[whole]
    high = np.zeros(len(low)) if only_up else np.minimum(room, FOOT_GIVES) * free[whole]
    # Rodrigues' formula: the ankle goes along `tangents` by the sine of the pitch, and along `inwards` by 1 minus its cosine.
    tangents, inwards, rolls = np.zeros((len(low), 3)), np.zeros((len(low), 3)), []
    for state, point in ((ContactState.HEEL, foot.heel), (ContactState.BALL, foot.ball)):
        on_it = leg.goals.pinned[whole] & (leg.states == state)
        arms, around = -foot.ways(leg.turns, point)[whole][on_it], axes[whole][on_it]
        tangents[on_it], inwards[on_it] = np.cross(around, arms), np.cross(around, np.cross(around, arms))
        # Moves are lengths, so that those of feet in an ease and of feet that pitch have one measure: the ankle's path.
        levers, per_length = magnitude(tangents[on_it]) / length, np.zeros(len(low))
        has_lever = levers >= LEAST_LEVER
        per_length[on_it] = has_lever / np.maximum(levers, LEAST_LEVER)
        reached = pitches_within_reach(arms, around, arms - from_hip[whole][on_it], reaches[on_it])
        least, most = (np.where(has_lever, pitch * levers, 0.0) for pitch in reached)
        low[on_it], high[on_it] = np.clip(least, -FOOT_GIVES, 0.0), np.clip(most, 0.0, FOOT_GIVES)
        rolls.append((point, per_length))
    per_pitch = np.sum([per_length for _, per_length in rolls], axis=0)

    def angles(moves: Array) -> Array:
        pitches = (moves * per_pitch)[:, None]
        arc = np.sin(pitches) * tangents + (1.0 - np.cos(pitches)) * inwards
        return _knee_angles(leg, root_moves, (moves * free[whole] * length)[:, None] * along[whole] + arc)[None]

    limits = CALM * np.array(_largest_bends(leg, plan.frames_per_second, part))
    bounds, steps = {"low": low, "high": high}, steps_seen(plan.frames_per_second)
    calmer = calming_moves(
        angles, np.zeros(len(low)), limits, leg.changed[None, whole], **bounds, steps=steps, solves_again=False
    )
    if not calmer.any():
        return leg
    on_samples = np.interp(plan.samples, plan.frames, calmer * free[whole])
    ankles, turns = leg.ankles + (on_samples * free)[:, None] * along * length, leg.turns
    for point, per_length in rolls:
        pitches = np.interp(plan.samples, plan.frames, calmer * per_length)
        if pitches.any():
            # The point on which the foot stands stays, the ankle goes round it.
            before = foot.ways(turns, point)
            turns = np.where((pitches != 0.0)[:, None, None], about_axis(axes, pitches) @ turns, turns)
            ankles = ankles + before - foot.ways(turns, point)
    return replace(leg, ankles=ankles, turns=turns)


ALONG = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Points of the sole that must be clear of the ground, as fractions from heel to ball."""

CLEARANCE = 0.5
"""Smallest fraction of its height above the ground that a foot keeps midway between two stances."""

WINDOW = 0.15
"""Seconds over which a lift eases in, and out."""

RAISED, CLEAR, SLOWER = LOW / 3.0, LOW + 0.001, (1.0, 1.5, 2.0, 3.0)
"""Rise of the floor in leg lengths above which swinging feet are lifted with it; height over the floor in leg lengths from which
a foot does not seem to stand; windows from a stance at which such a lift is complete, tried in turn until no knee pops."""


def with_clear_ways(footing: Footing, planted: Planted) -> Planted:
    """Planted legs with feet in the air lifted where they would graze or penetrate the ground, unless they already did."""
    return Planted([_cleared(footing, leg, planted) for leg in planted.legs], planted.moves)


def _cleared(footing: Footing, leg: PlantedLeg, planted: Planted) -> PlantedLeg:
    ground, before = footing.ground, footing.foot(leg.before)
    now = replace(before, ankles=ground.into(leg.ankles), turns=ground.turned_into(leg.turns))
    pinned = leg.goals.pinned
    old, new = _heights(footing, leg.before, before, on_flat=ground.is_new), _heights(footing, leg.before, now)
    # Without a surface, feet stand somewhat above and below the estimated ground, so feet in the air may be as low.
    lowest = 0.0 if ground.surface is not None else float(new[:, pinned].min(initial=0.0))
    window = max(1, round(WINDOW * footing.plan.frames_per_second * SAMPLES_PER_FRAME))
    kept = CLEARANCE * np.maximum(old, 0.0) * far_from(pinned, window)

    def lifted(up: Array, height: Array | float, free: Mask) -> Array:
        needs = (np.minimum(old, lowest + height) - new).max(axis=0) - up
        return up + lifts(np.where(needs > settled(leg.before), needs, 0.0), free, window)

    up = lifted(np.zeros(len(pinned)), kept, leg.changed & ~pinned)
    # The rest of the motion keeps its heights, unless the root moves it into the ground.
    up = lifted(up, 0.0, ~pinned)
    balls = old[-1], new[-1] + up
    return _clear_of_floor(footing, _lifted(leg, up) if up.any() else leg, planted, balls, window)


def _lifted(leg: PlantedLeg, up: Array) -> PlantedLeg:
    return replace(leg, ankles=leg.ankles - up[:, None] * DOWN, changed=leg.changed | (up > 0.0))


def _clear_of_floor(footing: Footing, leg: PlantedLeg, planted: Planted, balls: tuple[Array, Array], window: int) -> PlantedLeg:
    """The leg with its ball, at heights `(S,)` before and now, as far above its floor in the air as before, or clearly above it.

    Raising a stance that sank into the ground raises the floor, so that a swing that was clear of it would seem to slide on it.
    """
    pinned, (old, new) = leg.goals.pinned, balls
    floor, now = (float(np.quantile(heights, LOWEST)) for heights in balls)
    clear = np.minimum(old - floor, CLEAR * leg.before.length)
    for first, last in runs(~pinned) if now - floor > RAISED * leg.before.length else ():
        free = np.zeros_like(pinned)
        free[first : last + 1] = True
        for slower in SLOWER:
            needs = now + np.minimum(clear, CLEAR * leg.before.length * far_from(pinned, round(slower * window))) - new
            if not np.any(free & (needs > settled(leg.before))):
                break
            lifted = _lifted(leg, lifts(needs, free, window))
            (lifted,) = with_calm_ease(footing.plan, Planted([lifted], planted.moves)).legs
            if not pops(lifted, planted.moves, footing.plan.frames_per_second, leg):
                leg = lifted
                break
    return leg


def _heights(footing: Footing, leg: LegMotion, foot: Foot, *, on_flat: bool = False) -> Array:
    """Heights `(k, S)` of points of the sole above the ground, or above the flat ground of the original motion."""
    up = -foot.heel / max(float(np.linalg.norm(foot.heel)), np.finfo(float).tiny)
    under_ball = foot.ball - up * leg.ball_height
    points = [foot.points(foot.heel * (1.0 - share) + under_ball * share) for share in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])
