"""Legs that stand, and the root that lets them: for given contacts, without a look at what the knees make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Codes, Mask
from ....core.arrays import magnitude, shortening
from ....core.contacts.states import on_ball, on_heel, runs
from ....core.planting.blends import Ease
from ....core.planting.goals import SAMPLES_PER_FRAME, FootGoals, PutDown, eased_ankles, foot_goals
from ....core.planting.ground import Ground
from ....core.planting.heels import with_heels_up
from ....core.planting.pins import Foot, Pin, find_pins
from ....core.planting.root_fit import needed_moves, shortest_moves, smooth_moves
from ....core.planting.terrain import LaidFoot, common_rise, standing, tilted
from ....settings.planting import RootSettings
from ..plan.feet import LegMotion, at_frames, in_ground

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan, PlantPlan

SETTLED = 3e-6
"""Part of the leg's length by which a foot may be off its pins and still count as standing: single precision."""

NEAR_GROUND = 2e-4
"""Part of the leg's length by which a foot that stands still may be off uneven ground and still be on it."""

STRAIGHT = 1e-6
"""Part of the leg's length that is always kept back: what is farther away cannot be told from out of reach."""

DEFAULT_MOVE = 0.1
"""Part of the leg's length that the root moves at most, where nobody says."""

NOTHING = 1e-7
"""Part of the leg's length below which the root is not moved."""

EASE, LONGEST_EASE, SPARE = 0.1, 0.5, 0.5
"""Seconds in which a correction comes and goes, and at most, where it would otherwise be faster than so many leg lengths a
second: a swing goes on at three to four."""

SLOPE = 0.04
"""Seconds at the edge of a stance that tell how fast it slides there."""

DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, slots=True)
class PlantedLeg:
    """A leg, and what it is to do."""

    before: LegMotion
    states: Codes
    """`(F,)`"""
    goals: FootGoals
    turns: Array
    """`(S, 3, 3)` of the foot, in the world."""
    ankles: Array
    """`(S, 3)` in the world."""
    changed: Mask
    """`(S,)` where the leg does not just follow the root."""
    pins: Sequence[Pin] = ()
    """All that the foot stands on, once that is settled; rows are frames."""


@dataclass(frozen=True, slots=True)
class Planted:
    """All legs and their root."""

    legs: list[PlantedLeg]
    moves: Array
    """`(S, 3)` of the root, in the world."""


@dataclass(frozen=True, slots=True)
class Footing:
    """Legs and the ground on which they are to stand."""

    plan: PlantPlan
    legs: list[LegMotion]
    ground: Ground
    frames_of_ease: float = 0.0
    """0 for as long as it takes, see `EASE`."""
    steepest: float = 0.0
    """Radians by which feet are tilted at most on a ground that is new to them."""
    slack: float = 0.0
    """Part of the leg's length by which a stance may slide and still be left as it is."""
    feet: list[Foot] = field(init=False)
    """Of the legs, in the space of the ground."""

    def __post_init__(self) -> None:
        """Know the feet."""
        object.__setattr__(self, "feet", [in_ground(leg.foot, self.ground) for leg in self.legs])

    @property
    def moves_root(self) -> bool:
        """Whether the root gives way to the legs."""
        return self.plan.root is not None and self.plan.settings.priority != "BODY"

    @property
    def turning(self) -> Ease:
        """How the orientation of a flat foot comes and goes: as fast as the smallest correction of its place."""
        second = self.plan.frames_per_second * SAMPLES_PER_FRAME
        width = round(self.frames_of_ease) * SAMPLES_PER_FRAME or max(1, round(EASE * second))
        return Ease(width, width, slope=max(1, round(SLOPE * second)))

    @property
    def ease(self) -> Ease:
        """On a new ground, feet go from one place to the next all the time."""
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
        """A foot as it lies on the ground; `None` where it is not put down on any."""
        foot, surface = self.foot(leg), self.ground.surface
        if surface is None:
            return None
        on, steepest = (on_heel(states), on_ball(states)), self.steepest
        is_new = self.ground.is_new
        lying = standing(foot, *on, surface=surface, ball_height=leg.ball_height, steepest=steepest, is_new=is_new)
        return tilted(lying, len(states)) if is_new else lying

    def pins(self, leg: LegMotion, states: Codes) -> list[Pin]:
        """All that a foot stands on, whether it has to be moved there or not."""
        lying = self.laid(leg, states)
        foot, heights = (self.foot(leg), None) if lying is None else (lying.foot, lying.height)
        return find_pins(at_frames(foot), on_heel(states), on_ball(states), heights).pins

    def goals(self, leg: LegMotion, states: Codes, lying: LaidFoot | None, carried: Mask | None) -> FootGoals:
        """What a foot is to do in the space of the ground; see `foot_goals`."""
        near, on = max(settled(leg), self.slack * leg.length), (on_heel(states), on_ball(states))
        if lying is None:
            return foot_goals(self.foot(leg), *on, settled=near, carried=carried, turning=self.turning)
        down, upright = PutDown(lying.height, NEAR_GROUND * leg.length), self.plan.settings.priority == "HEIGHTS"
        goals = foot_goals(lying.foot, *on, settled=near, down=down, carried=carried, upright=upright, turning=self.turning)
        return replace(goals, turned=goals.turned | lying.tilted)

    def rise(self, lying: Sequence[LaidFoot | None], states: Sequence[Codes]) -> Array:
        """How far `(S,)` the root is to go up, or down, with the ground on which the feet walk from now on."""
        feet = [foot for foot in lying if foot is not None]
        if not self.ground.is_new or not any(each.any() for each in states):
            return np.zeros(len(self.plan.samples))
        on = [(on_heel(each), on_ball(each)) for each in states]
        rises = np.stack([foot.rises(*each) for foot, each in zip(feet, on, strict=True) if each[0].any() or each[1].any()])
        return common_rise(rises, smoothing_window(self.plan))

    def ways(self, goals: Sequence[FootGoals], moves: Array) -> tuple[Array, Mask]:
        """Ankles `(C, S, 3)` in the world with the root moved by `moves` `(S, 3)`, and where they are not only carried."""
        found = [
            eased_ankles(goal, self.ground.into(leg.foot.ankles + moves), self.ease)
            for goal, leg in zip(goals, self.legs, strict=True)
        ]
        return np.stack([self.ground.out_of(ankles) for ankles, _ in found]), np.stack([touched for _, touched in found])


def stand_still(footing: Footing, states: Sequence[Codes], calming: Array | None = None) -> Planted:
    """Legs and root for these states; `calming` `(S,)` is added to what the root moves down."""
    planted = _stood(footing, states, calming)
    carried = magnitude(planted.moves[::SAMPLES_PER_FRAME]) > min(settled(leg) for leg in footing.legs)
    if not any(_takes_along(leg, carried) for leg in planted.legs):
        return planted
    held = _stood(footing, states, calming, carried)
    legs = [_held_where_carried(leg, before, held.moves) for leg, before in zip(held.legs, planted.legs, strict=True)]
    return replace(held, legs=legs)


def least_moves(planted: Planted) -> Array:
    """The shortest moves `(F, 3)` of the root with which feet reach where they stand, on legs that may be straight."""
    legs, whole = planted.legs, slice(None, None, SAMPLES_PER_FRAME)
    ways = np.stack([(leg.ankles - leg.before.joints[:, 0])[whole] for leg in legs])
    reaches = np.stack([(1.0 - STRAIGHT) * leg.before.lengths[whole] for leg in legs])
    wanted = np.stack([leg.goals.pinned[whole] for leg in legs])
    found = np.zeros(ways.shape[1:])
    far = np.any(wanted & (magnitude(ways) > reaches), axis=0)
    found[far] = shortest_moves(ways[:, far], reaches[:, far], wanted[:, far])
    return found


def settled(leg: LegMotion) -> float:
    """Distance, world units, by which a foot may be off its pins and still count as standing."""
    return SETTLED * (leg.length + 0.1 * float(np.abs(leg.joints).max()))


def _takes_along(leg: PlantedLeg, carried: Mask) -> bool:
    """Whether the root would take along a foot that stands, and was left as it is for that."""
    left = (on_heel(leg.states) | on_ball(leg.states)) & ~leg.goals.pinned[::SAMPLES_PER_FRAME]
    return bool(np.any(left & carried))


def _held_where_carried(held: PlantedLeg, before: PlantedLeg, moves: Array) -> PlantedLeg:
    """A leg of which a stance that needed nothing changes only while the root moves, `(S, 3)`."""
    as_it_was = held.goals.pinned & ~before.goals.pinned & (magnitude(moves) <= settled(held.before))
    return replace(held, changed=held.changed & ~as_it_was)


def _stood(footing: Footing, states: Sequence[Codes], calming: Array | None, carried: Mask | None = None) -> Planted:
    """The same, but that stances which need nothing are only held where the root is `carried` `(F,)`."""
    plan, legs = footing.plan, footing.legs
    lying = [footing.laid(leg, each) for leg, each in zip(legs, states, strict=True)]
    goals = [footing.goals(leg, each, foot, carried) for leg, each, foot in zip(legs, states, lying, strict=True)]
    calming = np.zeros(len(plan.samples)) if calming is None else calming
    rise = footing.rise(lying, states)[:, None] * -DOWN if footing.moves_root else np.zeros((len(plan.samples), 3))
    moves = calming[:, None] * DOWN + rise
    if footing.ground.is_new:
        # Feet on their way move with the root, and do with what their legs reach; on a new ground the root goes with them.
        if footing.moves_root:
            ankles, wanted = footing.ways(goals, moves)
            moves = smoothed_moves(plan, root_needs(plan, legs, ankles, wanted, base=moves)) + moves
    else:
        goals, moves = _with_heels_up(footing, states, goals, moves)
    ankles, touched = footing.ways(goals, moves)
    ankles = _within_reach(plan, legs, goals, ankles, moves)
    planted = [
        PlantedLeg(leg, states[number], goal, _turns(footing, leg, goal), ankles[number], touched[number] | goal.turned)
        for number, (leg, goal) in enumerate(zip(legs, goals, strict=True))
    ]
    return Planted(planted, moves)


def _with_heels_up(
    footing: Footing, states: Sequence[Codes], goals: list[FootGoals], base: Array
) -> tuple[list[FootGoals], Array]:
    """Where heels come up rather than that the root, moved by `base` `(S, 3)` anyway, goes down further, and its moves then."""
    plan, legs = footing.plan, footing.legs
    pinned, heels = np.stack([goal.pinned for goal in goals]), np.stack([_at_samples(on_heel(each)) for each in states])

    def needs(wanted: Mask, base: Array) -> Array:
        ankles = np.stack([footing.ground.out_of(goal.ankles) for goal in goals])
        return root_needs(plan, legs, ankles, wanted, base=base) if footing.moves_root else np.zeros(len(base))

    if plan.settings.priority == "HEIGHTS":  # Feet go up and down only, and have no place to be turned about.
        return goals, base + smoothed_moves(plan, needs(pinned, base))
    least = needs(pinned & heels, base)
    moves = base + smoothed_moves(plan, least)
    before = goals
    goals = [
        with_heels_up(
            footing.foot(leg),
            goal,
            on_heel=on,
            hips=footing.ground.into(leg.joints[:, 0] + moves),
            reaches=reach_limits(leg, plan.settings, keeps_straight=True),
            window=max(1, footing.turning.least * 2 // 3),  # Averaged over half as many besides, that is all of the ease.
        )
        for leg, goal, on in zip(legs, goals, heels, strict=True)
    ]
    if all(new is old for new, old in zip(goals, before, strict=True)):
        return goals, moves
    # What no heel makes up for is left to the root.
    least = np.where(needs(pinned, moves) != 0.0, needs(pinned, base), least)
    return goals, base + smoothed_moves(plan, least)


def _at_samples(at_frames: Mask) -> Mask:
    """Samples `(S,)` at which a point stands that does so at frames `(F,)`."""
    found = np.zeros((len(at_frames) - 1) * SAMPLES_PER_FRAME + 1, dtype=bool)
    for first, last in runs(at_frames):
        found[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME + 1] = True
    return found


def _within_reach(
    plan: PlantingPlan, legs: Sequence[LegMotion], goals: Sequence[FootGoals], ankles: Array, moves: Array
) -> Array:
    """Ankles `(C, S, 3)` of which those on the way to a contact, or from it, are no farther than their legs may be stretched."""
    found = ankles.copy()
    for number, (leg, goal) in enumerate(zip(legs, goals, strict=True)):
        hips = leg.joints[:, 0] + moves
        ways = ankles[number] - hips
        limits = reach_limits(leg, plan.settings, keeps_straight=True)
        part = shortening(magnitude(ways), limits)
        far = ~goal.pinned & (part < 1.0)
        found[number][far] = (hips + ways * part[:, None])[far]
    return found


def _turns(footing: Footing, leg: LegMotion, goals: FootGoals) -> Array:
    """Orientations `(S, 3, 3)` of a foot in the world: where they are its own, to the last bit."""
    return np.where(goals.turned[:, None, None], footing.ground.turned_out_of(goals.turns), leg.foot.turns)


def root_needs(
    plan: PlantingPlan,
    legs: Sequence[LegMotion],
    ankles: Array,
    wanted: Mask,
    *,
    base: Array | float = 0.0,
    keeps_straight: bool = True,
    direction: Array = DOWN,
) -> Array:
    """How far `(S,)` the root has to go down for legs to reach `ankles` `(C, S, 3)`, world space, where `wanted` `(C, S)`.

    base : (S, 3) how far it moves anyway
    keeps_straight : whether a leg that is straighter now than the reserve allows may stay so
    direction : (3,) in which it goes instead of down
    """
    settings = plan.settings
    hips = np.stack([leg.joints[:, 0] for leg in legs]) + base
    length = max(leg.length for leg in legs)
    most, least = farthest_moves(settings, length)
    reaches = np.stack([reach_limits(leg, settings, keeps_straight=keeps_straight) for leg in legs])
    needs = needed_moves(ankles - hips, reaches, wanted, direction, least=-least, most=most).moves
    return np.where(np.abs(needs) > NOTHING * length, needs, 0.0)


def farthest_moves(settings: RootSettings, length: float) -> tuple[float, float]:
    """How far the root may go down, and up, on legs of that `length`."""
    return settings.max_lower or DEFAULT_MOVE * length, settings.max_raise or DEFAULT_MOVE * length


def smoothed_moves(plan: PlantingPlan, needs: Array, direction: Array = DOWN) -> Array:
    """Moves `(S, 3)` of the root, world space, that are as large as `needs` `(S,)` and smooth."""
    return smooth_moves(needs, smoothing_window(plan))[:, None] * direction


def smoothing_window(plan: PlantingPlan) -> int:
    """Samples over which the root's moves are smoothed, an odd number."""
    return max(1, round(plan.settings.window * plan.frames_per_second * SAMPLES_PER_FRAME)) | 1


def reach_limits(leg: LegMotion, settings: RootSettings, *, keeps_straight: bool) -> Array:
    """Farthest `(S,)` that the ankle may be from the hip: the reserve is kept, where the leg is not straighter anyway."""
    straightest = np.clip(leg.extensions, 1.0 - settings.reserve, 1.0 - STRAIGHT) if keeps_straight else 1.0 - settings.reserve
    return leg.lengths * np.minimum(straightest, 1.0 - STRAIGHT)
