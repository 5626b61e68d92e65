"""Plant legs for given contacts and move the root so that they reach, regardless of how knees bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Codes, Indices, Mask
from ....core.arrays import magnitude, shortening
from ....core.contacts.states import on_ball, on_heel, runs
from ....core.planting.blends import Ease
from ....core.planting.goals import (
    SAMPLES_PER_FRAME,
    FootGoals,
    PutDown,
    eased_ankles,
    foot_goals,
)
from ....core.planting.ground import Ground
from ....core.planting.heels import with_heels_up
from ....core.planting.pins import Foot, Heights, Pin, Resting, find_pins
from ....core.planting.root_fit import needed_moves, shortest_moves, smooth_moves
from ....core.planting.terrain import LaidFoot, common_rise, standing, tilted
from ....records import replace
from ....settings.feet import RootSettings
from ..plan.feet import LegMotion, in_ground, on_whole_frames

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan, PlantPlan


@dataclass(frozen=True, slots=True)
class LeftContact:
    """A stance that is left as it is, because planting it would move the foot too far."""

    first: float
    """First frame."""
    last: float
    """Last frame."""
    moved: float
    """Distance by which planting would move the foot, world units."""
    is_given: bool = False
    """Whether another armature or a file gave it."""


LARGE_REPAIR = 0.05
"""Leg lengths by which a foot may be moved off its animation before a person should look at it: 45 mm of a leg of 0.9 m."""


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
        return np.max([magnitude(moves[whole, : 2 if is_level else 3]) for moves in moved], axis=0) / self.before.length


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
    are_given: Sequence[bool] = ()
    """Whether contacts of each leg are keyed by hand or come from outside: then it stands throughout, not only where it rests."""
    feet_follow: bool = True
    """Whether feet in the air follow the root's moves; else they stay where they are."""
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
        return next(foot for known, foot in zip(self.legs, self.feet, strict=True) if known is leg)

    def resting(self, leg: LegMotion) -> Resting:
        """When heel or ball of a leg rest."""
        is_given = any(known is leg and is_one for known, is_one in zip(self.legs, self.are_given, strict=False))
        return Resting(leg.length, self.plan.frames_per_second, only_keyed=is_given)

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
        return find_pins(on_whole_frames(foot), on_heel(states), on_ball(states), heights, self.resting(leg)).pins

    def goals(self, leg: LegMotion, states: Codes, lying: LaidFoot | None = None, carried: Mask | None = None) -> FootGoals:
        """Goals of a foot in the space of the ground; see `foot_goals`."""
        near, on = max(settled(leg), self.slack * leg.length), (on_heel(states), on_ball(states))
        floor, foot = (self.floor(leg), self.foot(leg)) if lying is None else (lying.height, lying.foot)
        goals = foot_goals(
            foot,
            *on,
            settled=near,
            down=None if floor is None else PutDown(floor, NEAR_GROUND * leg.length),
            carried=carried,
            upright=lying is not None and self.plan.settings.priority == "HEIGHTS",
            turning=self.turning,
            resting=self.resting(leg),
        )
        if lying is None:
            return goals
        return replace(goals, turned=goals.turned | lying.tilted)

    def rise(self, lying: Sequence[LaidFoot | None], states: Sequence[Codes]) -> Array:
        """Rise `(S,)` of the root to follow new ground; zero on other ground."""
        feet = [foot for foot in lying if foot is not None]
        if not self.ground.is_new or not any(leg_states.any() for leg_states in states):
            return np.zeros(len(self.plan.samples))
        standing_feet = [(foot, stands) for foot, stands in zip(feet, states, strict=True) if stands.any()]
        rises = np.stack([foot.rises(on_heel(stands), on_ball(stands)) for foot, stands in standing_feet])
        return common_rise(rises, smoothing_window(self.plan))

    def ways(self, goals: Sequence[FootGoals], moves: Array) -> tuple[Array, Mask]:
        """Ankles `(C, S, 3)`, world space, with the root moved by `moves` `(S, 3)`, and a mask `(C, S)` of the corrected ones."""
        eased = [
            eased_ankles(goal, self.ground.into(leg.foot.ankles + moves * self.feet_follow), self.ease)
            for goal, leg in zip(goals, self.legs, strict=True)
        ]
        return np.stack([self.ground.out_of(ankles) for ankles, _ in eased]), np.stack([touched for _, touched in eased])


def stand_still(footing: Footing, states: Sequence[Codes], calming: Array | None = None) -> Planted:
    """Plant legs and root for these states; `calming` `(S,)` is added to the root's downward move."""
    planted = _planted(footing, states, calming)
    carried = magnitude(planted.moves[::SAMPLES_PER_FRAME]) > min(settled(leg) for leg in footing.legs)
    unpinned = [(leg.states > 0) & ~leg.goals.pinned[::SAMPLES_PER_FRAME] for leg in planted.legs]
    if not np.any(np.array(unpinned) & carried):  # No stance that needed no correction would be carried along.
        return planted
    held = _planted(footing, states, calming, carried)
    legs = []
    for leg, before in zip(held.legs, planted.legs, strict=True):
        # A stance that needed no correction is changed only while the root moves.
        still = (leg.ratios == 1.0) & (magnitude(held.moves) <= settled(leg.before))
        legs.append(replace(leg, changed=leg.changed & ~(leg.goals.pinned & ~before.goals.pinned & still)))
    return replace(held, legs=legs)


def least_moves(planted: Planted) -> Array:
    """The shortest moves `(F, 3)` of the root with which standing feet reach their pins, with legs that may be straight."""
    legs, whole = planted.legs, slice(None, None, SAMPLES_PER_FRAME)
    from_hips = np.stack([(leg.ankles - leg.before.joints[:, 0])[whole] for leg in legs])
    reaches = np.stack([(1.0 - STRAIGHT) * leg.before.lengths[whole] for leg in legs])
    wanted = np.stack([leg.goals.pinned[whole] for leg in legs])
    moves = np.zeros(from_hips.shape[1:])
    far = np.any(wanted & (magnitude(from_hips) > reaches), axis=0)
    moves[far] = shortest_moves(from_hips[:, far], reaches[:, far], wanted[:, far])
    return moves


def settled(leg: LegMotion) -> float:
    """Distance from its pins in world units up to which a foot counts as standing."""
    return SETTLED * (leg.length + 0.1 * float(np.abs(leg.joints).max()))


def _planted(footing: Footing, states: Sequence[Codes], calming: Array | None, carried: Mask | None = None) -> Planted:
    """Plant legs and root; stances that need no correction are pinned only if the root moves during them, `carried` `(F,)`."""
    plan, legs = footing.plan, footing.legs
    lying = [footing.laid(leg, leg_states) for leg, leg_states in zip(legs, states, strict=True)]
    goals = [footing.goals(*leg_and_states, carried) for leg_and_states in zip(legs, states, lying, strict=True)]
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
    pinned, heels = (
        np.stack([goal.pinned for goal in goals]),
        np.stack([_at_samples(on_heel(leg_states)) for leg_states in states]),
    )
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
    # The root moves for heels and flat feet first: a foot on its ball alone may pitch instead.
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
    for leg, ankle, counts in zip(legs, ankles, wanted, strict=True):
        needs = magnitude(ankle - leg.joints[:, 0] - moves) / reach_limits(leg, plan.settings, keeps_straight=True) - 1.0
        needs = np.where(counts & (needs > NOTHING), np.minimum(needs, leg.leg.stretch - 1.0), 0.0)
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
        from_hip = ankles[number] - hips
        factors = shortening(magnitude(from_hip), limits[number])
        far = ~goal.pinned & (factors < 1.0)
        limited[number][far] = (hips + from_hip * factors[:, None])[far]
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
    needs = needed_moves(ankles - hips, reaches, wanted, direction, least=-least, most=most)
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
