"""Plant legs for given contacts and move the root so that they reach, regardless of how knees bend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Codes, Indices, Mask
from ....core.arrays import magnitude, shortening
from ....core.contacts.ground import velocity_of_stances
from ....core.contacts.skating import LOW, LOWEST
from ....core.contacts.states import ContactState, on_ball, on_heel, runs
from ....core.curves.frames import NEAR_FRAME
from ....core.planting.blends import Ease
from ....core.planting.clearing import far_from, lifts
from ....core.planting.cycles import Rounds, round_way, stance_beside, ways_gone
from ....core.planting.goals import (
    SAMPLES_PER_FRAME,
    FootGoals,
    PutDown,
    eased_ankles,
    foot_goals,
    goes_to_and_fro,
    without_ways,
)
from ....core.planting.ground import Ground, moving_ground
from ....core.planting.heels import pitches_within_reach, with_heels_up
from ....core.planting.knees import STRETCH, accelerations, calming_moves, gentler, knee_angles, links_of, steps_seen
from ....core.planting.pins import Foot, Heights, Pin, find_pins
from ....core.planting.root_fit import needed_moves, shortest_moves, smooth_moves
from ....core.planting.terrain import LaidFoot, common_rise, standing, tilted
from ....core.rig.rotations import about_axis, unit
from ....pipeline.pose.limb_plane import hinges_of
from ....records import replace
from ....said import Sentence, note
from ....scene.sampling.stepping import Steps, part_of
from ....settings.feet import RootSettings
from ..plan.contacts import Standing, with_one_height
from ..plan.feet import LegMotion, at_frames, in_ground

if TYPE_CHECKING:
    from ...find_contacts.plan import ContactPlan
    from ..plan.planning import PlantingPlan, PlantPlan

SAME_GROUND = 0.1
"""Largest relative difference between the velocity of standing feet and the velocity found, for both to be of the same ground."""


def on_their_belt(contacts: ContactPlan, standing: Standing, legs: Sequence[LegMotion]) -> Standing:
    """The contacts with the ground velocity replaced by that of the standing feet, if all of them already stand still on a belt.

    The velocity found is an estimate from all low points, so a motion that is already planted would be planted again.
    """
    found = standing.found
    if contacts.settings.ground_moves != "AUTO" or contacts.surface is not None or not np.any(found.ground_velocity):
        return standing
    feet = [at_frames(leg.foot) for leg in legs]
    points = np.array([foot.points(offset) for foot in feet for offset in (foot.heel, foot.ball)])
    stands = np.array([on for states in standing.states for on in (on_heel(states), on_ball(states))])
    velocity, off = velocity_of_stances(points, stands, contacts.rate)
    velocity = velocity * np.array([1.0, 1.0, 0.0])
    is_other_ground = np.linalg.norm(velocity - found.ground_velocity) > SAME_GROUND * np.linalg.norm(found.ground_velocity)
    if is_other_ground or off > min(settled(leg) for leg in legs):
        return standing
    return replace(standing, found=replace(found, ground_velocity=velocity))


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

LEAST_LEVER = 0.03
"""Distance of the ankle from the point about which a foot pitches, leg lengths, below which no pitch calms a knee: a third of the
height of a human ankle. A shorter lever would turn the foot by more than 20 degrees for the largest move."""


def _multiples(leg: PlantedLeg, moves: Array, rate: float) -> Array:
    """Accelerations `(F,)` of the knee as multiples of its largest one in the original motion, over the worst of the steps seen.

    The largest one counts as at least `UNSEEN_BEND`.
    """
    angles, largest = _knee_angles(leg, moves), _largest_bends(leg, rate)
    return np.max(
        [np.abs(accelerations(angles, step)) / most for step, most in zip(steps_seen(rate), largest, strict=True)], axis=0
    )


def _largest_bends(leg: PlantedLeg, rate: float) -> list[float]:
    joints = leg.before.joints[::SAMPLES_PER_FRAME]
    angles = knee_angles(joints[:, 2] - joints[:, 0], links_of(joints))
    return [float(np.abs(accelerations(angles, step)).max(initial=UNSEEN_BEND / rate**2)) for step in steps_seen(rate)]


def while_standing(leg: PlantedLeg, rate: float) -> Mask:
    """Frames `(F,)` at which the foot stands, and a step to either side: elsewhere the foot's own path can absorb a bend."""
    pinned, step = leg.goals.pinned[::SAMPLES_PER_FRAME], steps_seen(rate)[-1]
    return np.convolve(pinned, np.ones(2 * step + 1))[step : step + len(pinned)] > 0.0


def worst_bend(planted: Planted, rate: float) -> float:
    """Largest ratio, over all legs and frames, of a knee's acceleration to its largest one in the original motion."""
    return max((float(_multiples(leg, planted.moves, rate).max(initial=0.0)) for leg in planted.legs), default=0.0)


def restless_notes(planted: Planted, frames: Array, rate: float) -> tuple[Sentence, ...]:
    """A note on the knee that bends most suddenly although all rounds of calming are spent; none if no knee visibly pops."""
    said = 'The knee of "{chain}" bends {times:.1f} times as suddenly as before at frame {frame:g}. Shorten the contact there.'
    worst, values = POPS, {}
    for leg in planted.legs:
        bends = _multiples(leg, planted.moves, rate)
        if bends.max(initial=0.0) > worst:
            worst = bends.max()
            values = {"chain": leg.before.leg.chain, "times": worst, "frame": frames[bends.argmax()]}
    return (note(said, **values),) if values else ()


def pops(leg: PlantedLeg, moves: Array, rate: float, but: PlantedLeg) -> bool:
    """Whether the knee visibly pops at a frame at which it does not with the leg as in `but`."""
    return bool(np.any(_multiples(leg, moves, rate) > np.maximum(POPS, _multiples(but, moves, rate))))


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
        left = np.stack([leg.states == ContactState.BALL for leg in planted.legs]) & leaves_balls

        def angles(moves: Array, base: Planted = planted, pinned: Mask = pinned, already: Array = calming) -> Array:
            up = ((moves - already) * pinned * length)[..., None] * -DOWN
            return np.stack([_knee_angles(leg, base.moves, more) for leg, more in zip(base.legs, up, strict=True)])

        calmer = calming_moves(angles, calming, limits, pinned & ~left, low=-gives, high=gives, steps=steps)
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
        levers, per_length = magnitude(tangents[on_it]) / length, np.zeros(len(low))
        has_lever = levers >= LEAST_LEVER
        per_length[on_it] = has_lever / np.maximum(levers, LEAST_LEVER)
        reached = pitches_within_reach(arms, around, arms - ways[whole][on_it], reaches[on_it])
        least, most = (np.where(has_lever, pitch * levers, 0.0) for pitch in reached)
        low[on_it], high[on_it] = np.clip(least, -FOOT_GIVES, 0.0), np.clip(most, 0.0, FOOT_GIVES)
        rolls.append((point, per_length))
    per_pitch = np.sum([per_length for _, per_length in rolls], axis=0)

    def angles(moves: Array) -> Array:
        pitches = (moves * per_pitch)[:, None]
        arc = np.sin(pitches) * tangents + (1.0 - np.cos(pitches)) * inwards
        return _knee_angles(leg, root_moves, (moves * free[whole] * length)[:, None] * along[whole] + arc)[None]

    limits = CALM * np.array(_largest_bends(leg, plan.frames_per_second))
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
    floor, now = (float(np.quantile(each, LOWEST)) for each in balls)
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
    points = [foot.points(foot.heel * (1.0 - part) + under_ball * part) for part in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])


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
    beside = stance_beside(standing.states) + EXTENT * (
        math.ceil(footing.ease.most / SAMPLES_PER_FRAME) + window + STRETCH * steps_seen(plan.frames_per_second)[-1]
    )
    frames, samples = Rounds(count, beside), Rounds(len(plan.samples), beside * SAMPLES_PER_FRAME)
    step = (plan.frames[-1] - plan.frames[0]) / (count - 1)
    over_and_over = replace(
        plan,
        frames=frames.times(plan.frames[0], step),
        samples=samples.times(plan.samples[0], step / SAMPLES_PER_FRAME),
    )
    seconds = over_and_over.samples / plan.frames_per_second
    moving = moving_ground(seconds, standing.found.ground_velocity, since=plan.samples[0] / plan.frames_per_second)
    # In the original round bend axes are continuous with those of the rounds before and after.
    hinges = [hinges_of(leg.leg.plan, leg.motion, samples.rows()) for leg in legs]
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
        [replace(leg, hinges=each and each.on(samples.meant)) for leg, each in zip(legs, hinges, strict=True)],
        frames,
        samples,
    )


def _continues_outside(plan: PlantingPlan, leg: LegMotion) -> bool:
    """Whether the leg has keys outside the range, so that its motion continues there."""
    first, last = plan.frames[0] - NEAR_FRAME, plan.frames[-1] + NEAR_FRAME
    tables = [keyed.table["co"][:, 0] for keyed in leg.leg.plan.keyed.values() if keyed.table is not None]
    return any(frames.min() < first or frames.max() > last for frames in tables if len(frames))


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


@dataclass(frozen=True, slots=True)
class LeftContact:
    """A stance that is left as it is, because planting it would move the foot too far."""

    first: float
    """First frame."""
    last: float
    """Last frame."""
    moved: float
    """Distance by which planting would move the foot, world units."""


LARGE_REPAIR = 0.05
"""Leg lengths by which a foot may be moved off its animation before a person should look at it: 45 mm of a leg of 0.9 m."""

SHUFFLE_TIMES, FEWEST_USUAL = 4.0, 3
"""Size of a repair as a multiple of the usual one of its take from which a foot that goes to and fro shuffles; and fewest stances
that tell what is usual. Where feet are spoiled, all stances are: of 1,100 stances of legs with noise in every joint, the worst is
at 3.5."""


def within_repair(footing: Footing, standing: Standing) -> tuple[Standing, list[list[LeftContact]]]:
    """The contacts without those, not set by hand, whose repair would be another motion; and these, by leg.

    Such a repair moves a foot by more than the largest one, or holds a foot that shuffles.
    On a mesh or a given height feet rise and sink as far as their ground does, so that only level moves count.
    """
    most, frames = footing.plan.settings.max_repair, footing.plan.frames
    kept, left = [states.copy() for states in standing.states], []
    moves = [departures(footing, *each) if most else np.zeros(len(each[1])) for each in zip(footing.legs, kept, strict=True)]
    shuffles = _shuffles(footing, kept, moves)
    for number, (leg, states, by_hand) in enumerate(zip(footing.legs, kept, standing.by_hand, strict=True)):
        moved, far = moves[number], []
        if shuffles[number] or moved.max(initial=0.0) > most * leg.length:
            # What a foot does on its way to its place and from it is no part of its stance.
            arrived = without_ways(at_frames(footing.foot(leg)), states, leg.length, footing.plan.frames_per_second)
            moved = departures(footing, leg, arrived)
            for first, last in runs(states > 0):
                farthest = float(moved[first : last + 1].max())
                is_another_motion = farthest > most * leg.length or (first, last) in shuffles[number]
                if is_another_motion and not by_hand[first : last + 1].any():
                    far.append(LeftContact(float(frames[first]), float(frames[last]), farthest))
                    states[first : last + 1] = ContactState.NONE
        left.append(far)
    return replace(standing, states=kept), left


def _shuffles(footing: Footing, states: Sequence[Codes], moves: Sequence[Array]) -> list[list[tuple[int, int]]]:
    """First and last frames of the stances, by leg, in which a foot shuffles; planting would move feet by `moves` `(F,)`.

    It goes to and fro over its place, while the other stances of the take keep theirs: feet that skate do so in all of them.
    """
    usual, to_and_fro = [], []
    for number, (leg, each, moved) in enumerate(zip(footing.legs, states, moves, strict=True)):
        foot = at_frames(footing.foot(leg))
        for first, last in runs(each > 0):
            rows, size = slice(first, last + 1), float(moved[first : last + 1].max()) / leg.length
            if size > LARGE_REPAIR and goes_to_and_fro(foot.on(rows).points(foot.ball), footing.plan.frames_per_second):
                to_and_fro.append((number, (first, last), size))
            else:
                usual.append(size)
    least = SHUFFLE_TIMES * float(np.median(usual)) if len(usual) >= FEWEST_USUAL else math.inf
    return [
        [row for number, row, size in to_and_fro if number == leg_number and size > least] for leg_number in range(len(states))
    ]


def departures(footing: Footing, leg: LegMotion, states: Codes) -> Array:
    """Distances `(F,)` of the standing points of a foot from their pins, the larger of both; 0 in the air."""
    foot, axes = at_frames(footing.foot(leg)), slice(0, 3) if footing.ground.surface is None else slice(0, 2)
    moved, points = np.zeros(len(states)), (foot.points(foot.heel), foot.points(foot.ball))
    for pin in footing.pins(leg, states):
        rows = slice(pin.first, pin.last + 1)
        moved[rows] = np.maximum(moved[rows], magnitude((points[pin.is_ball][rows] - pin.place)[:, axes]))
    return moved


MOST_SHORTENED_BEFORE, MOST_SHORTENED_AFTER, MOST_CALMED = 40, 8, 16
"""Most times that stances are shortened, a little each time, before knees are calmed and after, and most times that they are
calmed: what is still sudden then stays so, see `restless_notes`."""

UNSEEN_SLIDE = 5.0 / 900.0
"""Slide up to which a motion counts as right and is left unchanged, leg lengths: 5 mm of a leg of 0.9 m."""

HARDLY_SEEN_SLIDE = 20.0 / 900.0
"""Slide up to which a stance is left unchanged if the body has priority, leg lengths: 2 cm of a leg of 0.9 m."""


def within_repair_of_takes(footing: Footing, standing: Standing) -> tuple[Standing, list[list[LeftContact]]]:
    """`within_repair`, with the contacts that go on across cuts taken for one in each take."""
    cuts, ended = footing.cuts, [each.copy() for each in standing.states]
    for states in ended:
        goes_on = cuts[(states[cuts - 1] > 0) & (states[cuts] > 0)]
        states[goes_on - 1] = ContactState.NONE
    kept, left = within_repair(footing, replace(standing, states=ended))
    for states, before in zip(kept.states, standing.states, strict=True):
        # The last frame of a take belongs to the contact before it, if that is kept.
        last = cuts[(states[cuts - 1] == ContactState.NONE) & (states[cuts - 2] > 0)] - 1
        states[last] = before[last]
    return kept, left


def solve_takes(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root in each take between cuts alone; joined again."""
    if not len(footing.cuts):
        return (yield from solve_planting(footing, standing))
    takes, plan, per_frame = [], footing.plan, SAMPLES_PER_FRAME
    edges = list(pairwise([0, *footing.cuts.tolist(), len(plan.frames)]))
    for number, (first, end) in enumerate(edges):
        frames, samples = slice(first, end), slice(first * per_frame, (end - 1) * per_frame + 1)
        legs = [
            replace(leg, foot=leg.foot.on(samples), joints=leg.joints[samples], lengths=leg.lengths[samples])
            for leg in footing.legs
        ]
        own_plan = replace(plan, frames=plan.frames[frames], samples=plan.samples[samples])
        states, by_hand = ([each[frames] for each in masks] for masks in (standing.states, standing.by_hand))
        own_standing = replace(standing, states=states, by_hand=by_hand)
        ground = footing.ground.at(samples)
        if ground.is_flat:  # Each take has a floor of its own.
            ground = with_one_height(ground, own_standing, legs)
        own = replace(footing, plan=own_plan, legs=legs, ground=ground)
        solved = yield from part_of(_solved(own, own_standing), number, len(edges))
        takes.append((first, samples, _with_pins(own, solved)))
    return _joined(footing, takes)


def _joined(footing: Footing, takes: Sequence[tuple[int, slice, Planted]]) -> Planted:
    """Planted legs and root of all takes; between two of them, legs do nothing but follow the root."""
    known = np.concatenate([np.arange(samples.start, samples.stop) for _, samples, _ in takes])
    all_moves, rows = np.concatenate([planted.moves for _, _, planted in takes]), np.arange(len(footing.plan.samples))
    moves = np.stack([np.interp(rows, known, all_moves[:, axis]) for axis in range(3)], axis=-1)
    legs = []
    for number, before in enumerate(footing.legs):
        nothing = np.zeros(len(rows), dtype=bool)
        turns, ankles, ratios = before.foot.turns.copy(), before.foot.ankles + moves, np.ones(len(rows))
        goals = FootGoals(
            np.zeros_like(ankles), footing.ground.turned_into(before.foot.turns).copy(), nothing.copy(), nothing.copy()
        )
        changed, pins = nothing.copy(), []
        for first, samples, planted in takes:
            leg = planted.legs[number]
            turns[samples], ankles[samples], ratios[samples], changed[samples] = leg.turns, leg.ankles, leg.ratios, leg.changed
            for whole, part in ((goals.ankles, leg.goals.ankles), (goals.turns, leg.goals.turns)):
                whole[samples] = part
            goals.pinned[samples], goals.turned[samples] = leg.goals.pinned, leg.goals.turned
            pins += [replace(pin, first=pin.first + first, last=pin.last + first) for pin in leg.pins]
        states = np.concatenate([planted.legs[number].states for _, _, planted in takes])
        legs.append(PlantedLeg(before, states, goals, turns, ankles, changed, ratios, pins))
    return Planted(legs, moves)


def solve_planting(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root; a cycle is solved as one of many equal rounds."""
    rounds = many_rounds(footing, standing)
    if rounds is None:
        return _with_pins(footing, (yield from _solved(footing, standing)))
    return rounds.middle(_with_pins(rounds.footing, (yield from _solved(rounds.footing, rounds.standing))))


def _with_pins(footing: Footing, planted: Planted) -> Planted:
    return replace(planted, legs=[replace(leg, pins=footing.pins(leg.before, leg.states)) for leg in planted.legs])


def _solved(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root, cycle or not.

    On new ground the root follows the ground, so knees are calmed by feet only, which also stay clear of the ground.
    """
    by_hand, feet = standing.by_hand, [at_frames(footing.foot(leg)) for leg in footing.legs]

    def shortened(states: Sequence[Codes]) -> list[Codes]:
        rate, per_foot = footing.plan.frames_per_second, zip(feet, states, footing.legs, strict=True)
        trimmed = [without_ways(foot, each, leg.length, rate) for foot, each, leg in per_foot]
        return [np.where(fixed, old, new) for fixed, old, new in zip(by_hand, standing.states, trimmed, strict=True)]

    yield 0.0
    if footing.ground.is_new:
        planted = stand_still(footing, standing.states)
        yield 0.5
        return _calm_and_clear(footing, planted)
    states = shortened(standing.states)
    if footing.ground.surface is None and not any(each.any() for each in by_hand):
        as_it_is = replace(footing, slack=UNSEEN_SLIDE)
        if not any(as_it_is.goals(leg, each).pinned.any() for leg, each in zip(footing.legs, states, strict=True)):
            return stand_still(as_it_is, states)
        yield 0.2
    if footing.plan.settings.priority == "BODY":
        footing = replace(footing, slack=HARDLY_SEEN_SLIDE)
    return (yield from _calm(footing, states, shortened))


def _calm_and_clear(footing: Footing, planted: Planted) -> Planted:
    """Lift feet in the air clear of the ground and calm the knees that this bends, at last by moves towards the hip alone."""
    for only_up in (False,) if footing.ground.is_new else (False, True):
        planted = with_calm_ease(footing.plan, with_clear_ways(footing, planted), only_up=only_up)
    return with_clear_ways(footing, planted)


def _calm(footing: Footing, states: Sequence[Codes], shortened: Callable[[Sequence[Codes]], list[Codes]]) -> Steps[Planted]:
    """Plant legs by `states`, with shorter stances where knees would pop."""
    rate = footing.plan.frames_per_second

    def gentle(planted: Planted, sudden: Sequence[Mask]) -> Planted | None:
        shorter_states = shortened(
            [gentler(leg.states, each, steps_seen(rate)[-1]) for leg, each in zip(planted.legs, sudden, strict=True)]
        )
        same = all(np.array_equal(new, leg.states) for new, leg in zip(shorter_states, planted.legs, strict=True))
        return None if same else stand_still(footing, shorter_states)

    def calmed(planted: Planted, *, leaves_balls: bool) -> Steps[Planted]:
        rooted = (yield from with_calm_root(footing, planted, leaves_balls=leaves_balls)) if footing.moves_root else planted
        return _calm_and_clear(footing, with_calm_ease(footing.plan, rooted))

    whole = planted = stand_still(footing, states)
    for number in range(MOST_SHORTENED_BEFORE):
        yield 1.0 - 0.6 * 0.9**number
        shorter = gentle(
            planted, [(_multiples(leg, planted.moves, rate) > ABRUPT) & while_standing(leg, rate) for leg in planted.legs]
        )
        if shorter is None:
            break
        planted = shorter
    tried: list[Planted] = []
    rounds = 0
    # Where shorter stances have only moved a pop to another frame, moves of root and free feet may suffice with the longer ones;
    # and a root that leaves feet on their balls to themselves has more room for the others.
    starts = (planted,) if planted is whole else (planted, whole)
    for leaves_balls, start in product((False, True) if footing.moves_root else (False,), starts):
        calm = yield from calmed(start, leaves_balls=leaves_balls)
        for _ in range(min(MOST_SHORTENED_AFTER, MOST_CALMED - rounds)):
            rounds += 1
            shorter = gentle(calm, [_multiples(leg, calm.moves, rate) > POPS for leg in calm.legs])
            if shorter is None:
                break
            calm = yield from calmed(shorter, leaves_balls=leaves_balls)
        if worst_bend(calm, rate) <= POPS:
            return calm
        tried.append(calm)
    return min(tried, key=lambda calm: worst_bend(calm, rate))


SETTLED = 3e-6
"""Distance from its pins, relative to leg length, up to which a foot counts as standing: single precision."""

NEAR_GROUND = 2e-4
"""Distance from uneven ground, relative to leg length, up to which a foot that stands still counts as on it."""

STRAIGHT = 1e-6
"""Smallest reserve, relative to leg length: a straighter leg cannot be told from one that is out of reach."""

DEFAULT_MOVE = 0.1
"""Default limit of the root's move, relative to leg length."""

NOTHING = 1e-7
"""Move below which the root stays in place, relative to leg length."""

EASE, LONGEST_EASE, SPARE = 0.1, 0.5, 0.5
"""Shortest and longest ease of a correction in seconds, and the speed in leg lengths per second above which a longer one is used;
a swing has three to four."""

SLOPE = 0.04
"""Seconds over which the sliding speed at the edge of a stance is measured."""

DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, slots=True)
class PlantedLeg:
    """A leg and its solved motion."""

    before: LegMotion
    states: Codes
    """`(F,)` contact states."""
    goals: FootGoals
    turns: Array
    """`(S, 3, 3)` foot orientations, world space."""
    ankles: Array
    """`(S, 3)` ankle positions, world space."""
    changed: Mask
    """`(S,)` where the leg does more than follow the root."""
    ratios: Array
    """`(S,)` by which the leg's links are scaled."""
    pins: Sequence[Pin] = ()
    """All pins of the foot, set once it is solved; rows are frames."""

    def departures(self, *, is_level: bool) -> Array:
        """Distances `(F,)` of heel or ball from its place before, the larger one, in leg lengths; with `is_level` in plan."""
        foot, whole = self.before.foot, slice(None, None, SAMPLES_PER_FRAME)
        moved = [self.ankles + foot.ways(self.turns, offset) - foot.points(offset) for offset in (foot.heel, foot.ball)]
        return np.max([magnitude(each[whole, : 2 if is_level else 3]) for each in moved], axis=0) / self.before.length


@dataclass(frozen=True, slots=True)
class Planted:
    """All planted legs and their root."""

    legs: list[PlantedLeg]
    moves: Array
    """`(S, 3)` moves of the root, world space."""
    left: Sequence[Sequence[LeftContact]] = ()
    """For each leg, the stances that are left as they are; empty if there are none."""


@dataclass(frozen=True, slots=True)
class Footing:
    """Legs and the ground to plant them on."""

    plan: PlantPlan
    legs: list[LegMotion]
    ground: Ground
    frames_of_ease: float = 0.0
    """Duration of an ease in frames; 0 chooses it by the size of the correction, see `EASE`."""
    steepest: float = 0.0
    """Largest tilt of feet on new ground, radians."""
    slack: float = 0.0
    """Slide up to which a stance is left unchanged, relative to leg length."""
    cuts: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    """Rows of frames at which another take begins, see `core.curves.frames.cuts`."""
    feet: list[Foot] = field(init=False)
    """The feet of the legs, in the space of the ground."""

    def __post_init__(self) -> None:
        """Compute the feet."""
        object.__setattr__(self, "feet", [in_ground(leg.foot, self.ground) for leg in self.legs])

    @property
    def moves_root(self) -> bool:
        """Whether the root may be moved so that legs reach."""
        return self.plan.root is not None and self.plan.settings.priority != "BODY"

    @property
    def turning(self) -> Ease:
        """Ease of the correction to a flat foot's orientation: as short as that of the smallest correction of its place."""
        second = self.plan.frames_per_second * SAMPLES_PER_FRAME
        width = round(self.frames_of_ease) * SAMPLES_PER_FRAME or max(1, round(EASE * second))
        return Ease(width, width, slope=max(1, round(SLOPE * second)))

    @property
    def ease(self) -> Ease:
        """Ease of ankle corrections; at least a second on new ground, where feet move from pin to pin throughout a step."""
        second = self.plan.frames_per_second * SAMPLES_PER_FRAME
        slope, whole = max(1, round(SLOPE * second)), round(second)
        if self.frames_of_ease:
            least = round(self.frames_of_ease) * SAMPLES_PER_FRAME
            least = max(least, whole) if self.ground.is_new else least
            return Ease(least, least, slope=slope)
        if self.ground.is_new:
            return Ease(whole, whole, slope=slope)
        length = max(leg.length for leg in self.legs)
        return Ease(max(1, round(EASE * second)), max(1, round(LONGEST_EASE * second)), SPARE * length / second, slope)

    def foot(self, leg: LegMotion) -> Foot:
        """The foot of a leg in the space of the ground."""
        return next(foot for each, foot in zip(self.legs, self.feet, strict=True) if each is leg)

    def laid(self, leg: LegMotion, states: Codes) -> LaidFoot | None:
        """The foot with the ground under it, tilted on new ground; `None` without a surface."""
        foot, surface = self.foot(leg), self.ground.surface
        if surface is None:
            return None
        on, steepest = (on_heel(states), on_ball(states)), self.steepest
        is_new = self.ground.is_new
        lying = standing(foot, *on, surface=surface, ball_height=leg.ball_height, steepest=steepest, is_new=is_new)
        return tilted(lying, len(states)) if is_new else lying

    def floor(self, leg: LegMotion) -> Heights | None:
        """Height of a standing heel or ball on the floor that nobody has named; `None` where the ground is no such floor."""
        level, rise = self.ground.level, leg.ball_height
        return (lambda _place, is_ball, _row: level + rise * is_ball) if self.ground.is_flat else None

    def pins(self, leg: LegMotion, states: Codes) -> list[Pin]:
        """All pins of a foot, including those of stances that need no correction."""
        lying = self.laid(leg, states)
        foot, heights = (self.foot(leg), self.floor(leg)) if lying is None else (lying.foot, lying.height)
        return find_pins(at_frames(foot), on_heel(states), on_ball(states), heights).pins

    def goals(self, leg: LegMotion, states: Codes, lying: LaidFoot | None = None, carried: Mask | None = None) -> FootGoals:
        """Goals of a foot in the space of the ground; see `foot_goals`."""
        near, on = max(settled(leg), self.slack * leg.length), (on_heel(states), on_ball(states))
        if lying is None:
            floor = self.floor(leg)
            down = None if floor is None else PutDown(floor, NEAR_GROUND * leg.length)
            return foot_goals(self.foot(leg), *on, settled=near, down=down, carried=carried, turning=self.turning)
        down, upright = PutDown(lying.height, NEAR_GROUND * leg.length), self.plan.settings.priority == "HEIGHTS"
        goals = foot_goals(lying.foot, *on, settled=near, down=down, carried=carried, upright=upright, turning=self.turning)
        return replace(goals, turned=goals.turned | lying.tilted)

    def rise(self, lying: Sequence[LaidFoot | None], states: Sequence[Codes]) -> Array:
        """Rise `(S,)` of the root to follow new ground; zero on other ground."""
        feet = [foot for foot in lying if foot is not None]
        if not self.ground.is_new or not any(each.any() for each in states):
            return np.zeros(len(self.plan.samples))
        on = [(on_heel(each), on_ball(each)) for each in states]
        rises = np.stack([foot.rises(*each) for foot, each in zip(feet, on, strict=True) if each[0].any() or each[1].any()])
        return common_rise(rises, smoothing_window(self.plan))

    def ways(self, goals: Sequence[FootGoals], moves: Array) -> tuple[Array, Mask]:
        """Ankles `(C, S, 3)`, world space, with the root moved by `moves` `(S, 3)`, and a mask `(C, S)` of the corrected ones."""
        eased = [
            eased_ankles(goal, self.ground.into(leg.foot.ankles + moves), self.ease)
            for goal, leg in zip(goals, self.legs, strict=True)
        ]
        return np.stack([self.ground.out_of(ankles) for ankles, _ in eased]), np.stack([touched for _, touched in eased])


def stand_still(footing: Footing, states: Sequence[Codes], calming: Array | None = None) -> Planted:
    """Plant legs and root for these states; `calming` `(S,)` is added to the root's downward move."""
    planted = _planted(footing, states, calming)
    carried = magnitude(planted.moves[::SAMPLES_PER_FRAME]) > min(settled(leg) for leg in footing.legs)
    left = [(each.states > 0) & ~each.goals.pinned[::SAMPLES_PER_FRAME] for each in planted.legs]
    if not np.any(np.array(left) & carried):  # No stance that needed no correction would be carried along.
        return planted
    held = _planted(footing, states, calming, carried)
    legs = [_unchanged_where_still(leg, before, held.moves) for leg, before in zip(held.legs, planted.legs, strict=True)]
    return replace(held, legs=legs)


def least_moves(planted: Planted) -> Array:
    """The shortest moves `(F, 3)` of the root with which standing feet reach their pins, with legs that may be straight."""
    legs, whole = planted.legs, slice(None, None, SAMPLES_PER_FRAME)
    ways = np.stack([(leg.ankles - leg.before.joints[:, 0])[whole] for leg in legs])
    reaches = np.stack([(1.0 - STRAIGHT) * leg.before.lengths[whole] for leg in legs])
    wanted = np.stack([leg.goals.pinned[whole] for leg in legs])
    moves = np.zeros(ways.shape[1:])
    far = np.any(wanted & (magnitude(ways) > reaches), axis=0)
    moves[far] = shortest_moves(ways[:, far], reaches[:, far], wanted[:, far])
    return moves


def settled(leg: LegMotion) -> float:
    """Distance from its pins in world units up to which a foot counts as standing."""
    return SETTLED * (leg.length + 0.1 * float(np.abs(leg.joints).max()))


def _unchanged_where_still(held: PlantedLeg, before: PlantedLeg, moves: Array) -> PlantedLeg:
    """The leg with stances that needed no correction marked as changed only while the root moves, `moves` `(S, 3)`."""
    unchanged = held.goals.pinned & ~before.goals.pinned & (held.ratios == 1.0) & (magnitude(moves) <= settled(held.before))
    return replace(held, changed=held.changed & ~unchanged)


def _planted(footing: Footing, states: Sequence[Codes], calming: Array | None, carried: Mask | None = None) -> Planted:
    """Plant legs and root; stances that need no correction are pinned only if the root moves during them, `carried` `(F,)`."""
    plan, legs = footing.plan, footing.legs
    lying = [footing.laid(leg, each) for leg, each in zip(legs, states, strict=True)]
    goals = [footing.goals(leg, each, foot, carried) for leg, each, foot in zip(legs, states, lying, strict=True)]
    calming = np.zeros(len(plan.samples)) if calming is None else calming
    rise = footing.rise(lying, states)[:, None] * -DOWN if footing.moves_root else np.zeros((len(plan.samples), 3))
    moves, ratios = calming[:, None] * DOWN + rise, np.ones((len(legs), len(plan.samples)))
    if footing.ground.is_new:
        # Elsewhere feet in the air follow the root and stay within reach; on new ground the root moves so that they reach too.
        if footing.moves_root:
            ankles, wanted = footing.ways(goals, moves)
            moves = smoothed_moves(plan, root_needs(plan, legs, ankles, wanted, base=moves)) + moves
    else:
        goals, ratios, moves = _reaching(footing, states, goals, moves)
    ankles, touched = footing.ways(goals, moves)
    limits = ratios * np.stack([reach_limits(leg, plan.settings, keeps_straight=True) for leg in legs])
    ankles = _within_reach(legs, goals, ankles, moves, limits)
    changed = touched | np.stack([goal.turned for goal in goals]) | (ratios > 1.0)
    planted = [
        PlantedLeg(leg, states[number], goal, _turns(footing, leg, goal), ankles[number], changed[number], ratios[number])
        for number, (leg, goal) in enumerate(zip(legs, goals, strict=True))
    ]
    return Planted(planted, moves)


def _reaching(
    footing: Footing, states: Sequence[Codes], goals: list[FootGoals], base: Array
) -> tuple[list[FootGoals], Array, Array]:
    """Goals with heels raised, ratios `(C, S)` of stretched legs, and the root's moves `(S, 3)` on from `base` `(S, 3)`.

    Where only the ball stands the heel comes up first, then a leg that may stretch does; the root makes up for what is left.
    """
    plan, legs = footing.plan, footing.legs
    pinned, heels = np.stack([goal.pinned for goal in goals]), np.stack([_at_samples(on_heel(each)) for each in states])
    ratios = np.ones(pinned.shape)

    def ankles() -> Array:
        return np.stack([footing.ground.out_of(goal.ankles) for goal in goals])

    def needs(wanted: Mask, base: Array) -> Array:
        return root_needs(plan, legs, ankles(), wanted, base=base, ratios=ratios) if footing.moves_root else np.zeros(len(base))

    if plan.settings.priority == "HEIGHTS":  # Feet only move vertically, so there is no pin to pitch about.
        return goals, ratios, base + smoothed_moves(plan, needs(pinned, base))
    can_stretch = any(leg.leg.stretch > 1.0 for leg in legs)
    if can_stretch:
        ratios = _stretches(plan, legs, ankles(), pinned & heels, base)
    least = needs(pinned & heels, base)
    moves = base + smoothed_moves(plan, least)
    before = goals
    goals = [
        with_heels_up(
            footing.foot(leg),
            goal,
            on_heel=on,
            hips=footing.ground.into(leg.joints[:, 0] + moves),
            reaches=ratio * reach_limits(leg, plan.settings, keeps_straight=True),
            window=max(1, footing.turning.least * 2 // 3),  # Averaging adds half as many samples: in all, the ease.
        )
        for leg, goal, on, ratio in zip(legs, goals, heels, ratios, strict=True)
    ]
    if can_stretch:
        ratios = np.maximum(ratios, _stretches(plan, legs, ankles(), pinned, moves))
    elif all(new is old for new, old in zip(goals, before, strict=True)):
        return goals, ratios, moves
    least = np.where(needs(pinned, moves) != 0.0, needs(pinned, base), least)
    return goals, ratios, base + smoothed_moves(plan, least)


def _stretches(plan: PlantingPlan, legs: Sequence[LegMotion], ankles: Array, wanted: Mask, moves: Array) -> Array:
    """Ratios `(C, S)`, at least 1 and smooth, by which legs stretch to reach `ankles` `(C, S, 3)` where `wanted` `(C, S)`."""
    ratios = []
    for leg, ankle, each in zip(legs, ankles, wanted, strict=True):
        needs = magnitude(ankle - leg.joints[:, 0] - moves) / reach_limits(leg, plan.settings, keeps_straight=True) - 1.0
        needs = np.where(each & (needs > NOTHING), np.minimum(needs, leg.leg.stretch - 1.0), 0.0)
        ratios.append(1.0 + smooth_moves(needs, smoothing_window(plan)))
    return np.stack(ratios)


def _at_samples(at_frames: Mask) -> Mask:
    """Samples `(S,)` at which a point stands that stands at frames `at_frames` `(F,)`."""
    standing_samples = np.zeros((len(at_frames) - 1) * SAMPLES_PER_FRAME + 1, dtype=bool)
    for first, last in runs(at_frames):
        standing_samples[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME + 1] = True
    return standing_samples


def _within_reach(legs: Sequence[LegMotion], goals: Sequence[FootGoals], ankles: Array, moves: Array, limits: Array) -> Array:
    """Ankles `(C, S, 3)` with those that are not pinned pulled to within `limits` `(C, S)` of their hips."""
    limited = ankles.copy()
    for number, (leg, goal) in enumerate(zip(legs, goals, strict=True)):
        hips = leg.joints[:, 0] + moves
        ways = ankles[number] - hips
        part = shortening(magnitude(ways), limits[number])
        far = ~goal.pinned & (part < 1.0)
        limited[number][far] = (hips + ways * part[:, None])[far]
    return limited


def _turns(footing: Footing, leg: LegMotion, goals: FootGoals) -> Array:
    """World-space orientations `(S, 3, 3)` of a foot; exactly the original ones where the goals do not turn it."""
    return np.where(goals.turned[:, None, None], footing.ground.turned_out_of(goals.turns), leg.foot.turns)


def root_needs(
    plan: PlantingPlan,
    legs: Sequence[LegMotion],
    ankles: Array,
    wanted: Mask,
    *,
    base: Array | float = 0.0,
    ratios: Array | float = 1.0,
    keeps_straight: bool = True,
    direction: Array = DOWN,
) -> Array:
    """Downward moves `(S,)` of the root that let legs reach `ankles` `(C, S, 3)`, world space, where `wanted` `(C, S)`.

    base : (S, 3) moves of the root to start from
    ratios : (C, S) by which the legs are scaled
    keeps_straight : whether a leg that is straighter than the reserve allows may stay so
    direction : (3,) unit vector of the moves
    """
    settings = plan.settings
    hips = np.stack([leg.joints[:, 0] for leg in legs]) + base
    length = max(leg.length for leg in legs)
    most, least = farthest_moves(settings, length)
    reaches = ratios * np.stack([reach_limits(leg, settings, keeps_straight=keeps_straight) for leg in legs])
    needs = needed_moves(ankles - hips, reaches, wanted, direction, least=-least, most=most).moves
    return np.where(np.abs(needs) > NOTHING * length, needs, 0.0)


def farthest_moves(settings: RootSettings, length: float) -> tuple[float, float]:
    """Largest downward and upward moves of the root, for legs of this `length`."""
    return settings.max_lower or DEFAULT_MOVE * length, settings.max_raise or DEFAULT_MOVE * length


def smoothed_moves(plan: PlantingPlan, needs: Array, direction: Array = DOWN) -> Array:
    """Smooth moves `(S, 3)` of the root, world space, at least as large as `needs` `(S,)`."""
    return smooth_moves(needs, smoothing_window(plan))[:, None] * direction


def smoothing_window(plan: PlantingPlan) -> int:
    """Number of samples over which the root's moves are smoothed; odd."""
    return max(1, round(plan.settings.window * plan.frames_per_second * SAMPLES_PER_FRAME)) | 1


def reach_limits(leg: LegMotion, settings: RootSettings, *, keeps_straight: bool) -> Array:
    """Largest distances `(S,)` from hip to ankle: the reserve is kept, except with `keeps_straight` where a leg is straighter."""
    straightest = np.clip(leg.extensions, 1.0 - settings.reserve, 1.0 - STRAIGHT) if keeps_straight else 1.0 - settings.reserve
    return leg.lengths * np.minimum(straightest, 1.0 - STRAIGHT)
