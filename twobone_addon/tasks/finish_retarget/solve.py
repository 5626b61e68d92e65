"""Solve the limbs and the root of a character that has another's motion: from both motions to keys. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import magnitude, median
from ...core.contacts.states import ContactState, on_ball, on_heel, runs
from ...core.curves.frames import cuts
from ...core.planting.goals import SAMPLES_PER_FRAME, FootGoals
from ...core.planting.ground import Ground, moving_ground
from ...core.rig.headings import heading_difference
from ...core.rig.rotations import least_turn, unit
from ...errors import ObjectError
from ...pipeline.motion.plan_motion import points
from ...records import replace
from ...said import Sentence
from ...scene.sampling.quantities import Samples
from ...scene.sampling.stepping import Steps, part_of_steps
from ..find_contacts.solve import FoundContacts, solve_contacts
from ..plant.keys.curves import ChannelPieces, keys_of_legs
from ..plant.plan.contacts import Standing, floor_at_rest, ground_of, with_one_height
from ..plant.plan.feet import LegMotion, leg_motion
from ..plant.pose.standing import Footing, Planted, PlantedLeg
from ..plant.solve import solve_takes, within_repair_of_takes
from .similarity import (
    ALIKE,
    SOFT,
    Similarity,
    along_directions,
    in_directions,
    knees_bent_as,
    near_contact,
    shift_that_fits,
    smoothed,
    standing_height,
    steady_sideways,
    together,
    unfolded,
    within_soft_reach,
    without_lifts,
)

if TYPE_CHECKING:
    from .plan import FinishPlan

MOST_UNSTEADY = 0.1
"""Share of the frames at which the hips may turn otherwise than the source's: a retarget copies their rotation."""

WHOLE = slice(None, None, SAMPLES_PER_FRAME)


@dataclass(frozen=True, slots=True)
class SourceMotion:
    """The motion of the source's limbs at the samples, world space."""

    joints: Array
    """`(L, S, 3, 3)` of legs, then arms."""
    ends: Array
    """`(L, S, 3)` balls and palms."""
    found: FoundContacts
    """When its feet stand."""

    def length(self, leg: int) -> float:
        """Length of a leg at the first sample."""
        return float(magnitude(np.diff(self.joints[leg, 0], axis=0)).sum())

    def extensions(self, leg: int) -> Array:
        """Distances `(S,)` from hip to ankle, relative to the length of the leg."""
        joints = self.joints[leg]
        return magnitude(joints[:, 2] - joints[:, 0]) / magnitude(np.diff(joints, axis=1)).sum(axis=1)

    def to_ball(self, leg: int) -> Array:
        """Vectors `(S, 3)` from a leg's ankle to its ball."""
        return self.ends[leg] - self.joints[leg, :, 2]


@dataclass(frozen=True, slots=True)
class Levels:
    """Heights at which feet stand."""

    ankle: float
    ball: float


@dataclass(frozen=True, slots=True)
class FinishSolution:
    """Posed limbs, the root, and their keys."""

    source: SourceMotion
    similarity: Similarity
    legs: list[LegMotion]
    """The legs before."""
    arms: list[LegMotion]
    footing: Footing
    planted: Planted
    """All limbs, legs first, and the whole moves of the root."""
    keys: Sequence[ChannelPieces]
    meeting: Mask
    """`(S,)` where palms are as near as in the source; nowhere without arms."""
    floor: float
    """Height of the floor."""
    rests: Levels
    """Heights of ankles and balls that stand on it."""
    apart: Array
    """`(S, 3)` from the right palm to the left, as the source has them, scaled; zeros without arms."""
    heights: Array
    """`(2, F)` heights of the lower one of ankle and ball over where it stands, as the source has them, scaled."""


def source_motion(plan: FinishPlan, samples: Samples) -> SourceMotion:
    """The limbs of the source, and its contacts."""
    found = solve_contacts(plan.source, samples.on(plan.planting.frames))
    on_samples, joints, ends = samples.on(plan.planting.samples), [], []
    balls = [foot.points.ball for foot in found.plan.feet]
    for number, limb in enumerate((*plan.of_legs, *plan.of_arms)):
        upper, lower, carrier = (on_samples.every(bone) for bone in limb.joints)
        joints.append(np.stack([upper[:, :3, 3], lower[:, :3, 3], points(carrier, limb.tip)], axis=1))
        ends.append(points(carrier, balls[number] if number < len(balls) else limb.end))
    return SourceMotion(np.stack(joints), np.stack(ends), found)


def solve_finish(plan: FinishPlan, samples: Samples) -> Steps[FinishSolution]:
    """Solve root, legs and arms in this order; raises `ObjectError` where the source is not that of the motion."""
    planting, settings = plan.planting, plan.settings
    source = source_motion(plan, samples)
    contacts = replace(planting.contacts, labels=source.found.states)
    found = solve_contacts(contacts, samples.on(planting.frames))
    soles = [
        own.points if own.points.is_stand or not own.points.knows_ball else of_motion.points
        for own, of_motion in zip(contacts.feet, found.plan.feet, strict=True)
    ]
    legs = [leg_motion(replace(leg, points=sole), samples) for leg, sole in zip(planting.legs, soles, strict=True)]
    arms = [leg_motion(arm, samples) for arm in plan.arms]
    similarity = similarity_of(plan, source, [*legs, *arms])
    levels = _levels(source)
    floor, rests = _floor(plan, samples, legs)
    hips = np.stack([leg.joints[:, 0] for leg in legs])
    path = source.joints[: len(legs), :, 0].mean(axis=0)
    heights, rises, is_flat = _heights(source, levels)
    heights = similarity.scale * heights
    moves = np.zeros(hips.shape[1:])
    if settings.hips == "SCALED" and planting.root is not None:
        middle = hips.mean(axis=0)
        goals = middle[0] + similarity.of(path - path[0])
        goals[:, 2] = rests.ankle + similarity.scale * (path[:, 2] - levels.ankle - rises.mean(axis=0))
        moves = goals - middle
    root, shaken = _steadied(source, similarity, hips)
    if settings.hips == "SCALED" and planting.root is not None:
        moves[:, 2] += root
    else:
        shaken = np.zeros_like(shaken)
    level = [
        _with_ball(_levelled(leg, codes), similarity.of(source.to_ball(number)), codes)
        for number, (leg, codes) in enumerate(zip(legs, source.found.states, strict=True))
    ]
    placed = [
        _placed(leg, ankles, moves)
        for leg, ankles in zip(
            level, _ankles(source, similarity, level, moves=moves, heights=heights + shaken, rests=rests), strict=True
        )
    ]
    takes = cuts(np.concatenate([leg.joints[WHOLE] for leg in placed], axis=1), max(leg.length for leg in placed))
    level_floor = floor if is_flat else None
    states = [_while_down(leg, source, number, level_floor) for number, leg in enumerate(placed)]
    everywhere = [np.ones(len(planting.frames), dtype=bool)] * len(legs)
    standing = Standing(found, states, everywhere, everywhere)
    velocity = similarity.of(source.found.ground_velocity)
    ground = _ground(plan, samples, standing, placed, velocity=velocity, level=level_floor)
    if not settings.feet:
        placed, standing = (
            [_placed(leg, leg.joints[:, 2] + moves, moves) for leg in legs],
            replace(standing, states=[codes * 0 for codes in states]),
        )
    footing = Footing(planting, placed, ground, 0.0, planting.settings.max_tilt, cuts=takes, feet_follow=not settings.feet)
    standing, left = within_repair_of_takes(footing, standing)
    planted = yield from part_of_steps(solve_takes(footing, standing), 0, 2)
    moves = moves + planted.moves
    changed = np.full(len(planting.samples), settings.feet)
    posed = [
        replace(leg, before=replace(before, leg=leg.before.leg, hinges=leg.before.hinges), changed=changed)
        for leg, before in zip(planted.legs, legs, strict=True)
    ]
    reaching, meeting, apart = _meeting(source, similarity, legs, arms, moves)
    whole = Planted([*posed, *reaching], moves, left)
    keys = yield from part_of_steps(keys_of_legs(planting, samples, whole, np.zeros_like(moves)), 1, 2)
    return FinishSolution(source, similarity, level, arms, footing, whole, keys, meeting, floor, rests, apart, heights[:, WHOLE])


def similarity_of(plan: FinishPlan, source: SourceMotion, limbs: Sequence[LegMotion]) -> Similarity:
    """The similarity of both motions; raises `ObjectError` where hips or limbs move otherwise, or at another time."""
    names = {"armature": plan.planting.armature, "source": plan.source.armature}
    count, rate = len(plan.of_legs), plan.planting.frames_per_second
    sides = [plan.planting.contacts.legs.sides[leg.chain] for leg in plan.planting.legs]
    left, right = sides.index("LEFT"), sides.index("RIGHT")
    across = limbs[right].joints[WHOLE, 0] - limbs[left].joints[WHOLE, 0]
    angle, unsteady = heading_difference(across, source.joints[right, WHOLE, 0] - source.joints[left, WHOLE, 0])
    lengths = [magnitude(np.diff(joints, axis=1)).sum(axis=1) for joints in source.joints[:count]]
    scale = float(np.mean([leg.length for leg in limbs[:count]]) / np.mean([median(length) for length in lengths]))
    similarity = Similarity(angle, scale)
    ours = np.concatenate([unit(np.diff(limb.joints[WHOLE], axis=1)).swapaxes(0, 1) for limb in limbs])
    theirs = np.concatenate([unit(np.diff(joints[WHOLE], axis=1)).swapaxes(0, 1) for joints in source.joints])
    shift, mismatch = shift_that_fits(ours, theirs @ similarity.rotation.T, rate)
    if shift:
        raise ObjectError(
            'The limbs of armature "{armature}" move as those of source "{source}" do {count} frames {when}. '
            "Move the keys of the source by {shift:g} frames.",
            **names,
            count=abs(shift),
            when=Sentence("later" if shift > 0 else "earlier"),
            shift=-shift,
        )
    if unsteady > MOST_UNSTEADY:
        raise ObjectError(
            'The hips of armature "{armature}" turn otherwise than those of source "{source}" at {share:.0%} of the frames. '
            "Choose the character whose motion was copied.",
            **names,
            share=unsteady,
        )
    if mismatch > ALIKE:
        raise ObjectError(
            'The limbs of armature "{armature}" do not move as those of source "{source}". Choose the character whose motion was '
            "copied, and copy its rotations first.",
            **names,
        )
    return similarity


def _levels(source: SourceMotion) -> Levels:
    """Heights of the source's ankles while feet lie flat, and of its balls while they stand."""
    states = source.found.states
    count = states.shape[1]
    ankles, balls = (places[: len(states), WHOLE, 2][:, :count] for places in (source.joints[:, :, 2], source.ends))
    return Levels(standing_height(ankles, states == ContactState.BOTH), standing_height(balls, on_ball(states)))


def _heights(source: SourceMotion, levels: Levels) -> tuple[Array, Array, bool]:
    """Heights `(2, S)` of the lower one of ankle and ball over where it stands, rises `(2, S)` of the ground, and if it is flat.

    On a floor each contact is at height 0, however the recording drifts: its rise is interpolated from contact to contact.
    """
    heights, rises = [], []
    for joints, balls, codes in zip(source.joints, source.ends, source.found.states, strict=False):
        lower, knots = np.minimum(joints[:, 2, 2] - levels.ankle, balls[:, 2] - levels.ball), list[tuple[float, float]]()
        for first, last in runs(codes > 0):
            stance, rows = (
                codes[first : last + 1],
                lower[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME + 1 : SAMPLES_PER_FRAME],
            )
            # A foot that rolls over its heel is higher there than when it lies flat.
            lies = next(
                (stance == state for state in (ContactState.BOTH, ContactState.BALL) if np.any(stance == state)), stance > 0
            )
            knots += [(row * SAMPLES_PER_FRAME, float(np.median(rows[lies]))) for row in (first, last)]
        heights.append(lower)
        at, heights_at = np.array(knots).reshape(-1, 2).T
        rises.append(np.interp(np.arange(len(lower)), at, heights_at) if knots else np.zeros(len(lower)))
    is_flat = float(np.ptp(rises)) <= DRIFT * source.length(0)
    # Stairs begin, or end, on the floor.
    rise = np.stack(rises) if is_flat else np.full_like(rises, np.min(rises))
    lower = np.stack(heights) - rise
    return (np.maximum(lower, 0.0) if is_flat else lower), rise, is_flat


DRIFT = 0.1
"""Leg lengths by which the source's contacts may differ in height on one floor, as in recordings with a tilted one: 9 cm of a leg
of 0.9 m, half a step of stairs."""


def _steadied(source: SourceMotion, similarity: Similarity, hips: Array) -> tuple[Array, Array]:
    """Rises of the root `(S,)` and of feet in the air `(2, S)` that keep wider `hips` `(2, S, 3)` as quiet as the source's.

    Hips carry the noise of a recorded pelvis: what shakes the source's hip joints by a little shakes wider ones by much, on legs
    that are nearly straight.
    """
    per_second = source.found.plan.rate * SAMPLES_PER_FRAME
    theirs = source.joints[: len(hips), :, 0]
    widths = [float(np.median(magnitude(joints[0] - joints.mean(axis=0)))) for joints in (hips, theirs)]
    excess = max(0.0, 1.0 - similarity.scale * widths[1] / max(widths[0], np.finfo(float).tiny))
    rises = excess * (hips - hips.mean(axis=0))[..., 2]
    shakes = np.stack([rise - smoothed(rise, QUIET * per_second) for rise in rises])
    standing = [np.repeat(codes > 0, SAMPLES_PER_FRAME)[: len(hips[0])] for codes in source.found.states]
    stands = np.stack([near_contact(on_ground, QUIET * per_second) for on_ground in standing])
    root = -(stands * shakes).sum(axis=0) / np.maximum(stands.sum(axis=0), 1.0)
    return root, (1.0 - stands) * (shakes + root)


QUIET = 0.05
"""Seconds within which the pelvis' roll is noise: standard deviation of the mean that is kept."""


def _floor(plan: FinishPlan, samples: Samples, legs: Sequence[LegMotion]) -> tuple[float, Levels]:
    """Height of the floor, and of ankles and balls that stand on it."""
    settings, size = plan.settings, float(np.cbrt(abs(np.linalg.det(samples.every(legs[0].leg.plan.armature_world)[0, :3, :3]))))
    floor = settings.ground_height if settings.ground == "HEIGHT" else floor_at_rest(plan.planting, legs, samples)
    over = float(np.mean([leg.leg.points.ankle_height for leg in legs])) * size
    return floor, Levels(floor + over, floor + float(np.mean([leg.ball_height for leg in legs])))


def _with_ball(leg: LegMotion, to_ball: Array, states: Codes) -> LegMotion:
    """The leg with its ball where the source's is, from its ankle `(S, 3)` while the foot lies flat, where nothing shows it."""
    points = leg.leg.points
    size = float(magnitude(leg.foot.heel)) / max(float(magnitude(points.heel)), np.finfo(float).tiny)
    if points.knows_ball or not points.up.any() or not size:
        return leg
    flat = np.repeat(states == ContactState.BOTH, SAMPLES_PER_FRAME)[: len(to_ball)]
    ahead = np.median((to_ball[:, None] @ leg.foot.turns)[flat if flat.any() else slice(None), 0], axis=0) / size
    up = unit(points.up)
    points = replace(points, ball=points.heel + ahead - (ahead @ up) * up, ball_height=0.0)
    return replace(leg, leg=replace(leg.leg, points=points), foot=replace(leg.foot, ball=points.ball * size), ball_height=0.0)


def _ankles(
    source: SourceMotion, similarity: Similarity, legs: Sequence[LegMotion], *, moves: Array, heights: Array, rests: Levels
) -> list[Array]:
    """Where the ankles `(S, 3)` are if balls are where the source has them, in plan from the middle of the hips.

    A ball is beside the source's by half the difference in width of the hips, and before it by what a foot that lies flat is
    longer: a long foot that rolls over its ball would slide, had it the source's ankle. It has that while the leg is folded.
    """
    theirs = source.joints[: len(legs), :, 0]
    middle, own_middle = theirs.mean(axis=0), np.mean([leg.joints[:, 0] for leg in legs], axis=0)
    across = [unit((hips - middle) * (1.0, 1.0, 0.0)) for hips in theirs]
    states, ankles, rate = source.found.states, list[Array](), source.found.plan.rate * SAMPLES_PER_FRAME
    for number, leg in enumerate(legs):
        own_width = float(np.median(magnitude(leg.joints[:, 0] - own_middle)))
        wider = own_width - similarity.scale * float(np.median(magnitude(theirs[number] - middle)))
        codes = np.repeat(states[number], SAMPLES_PER_FRAME)[: len(middle)]
        flat = codes == ContactState.BOTH
        sideways = steady_sideways(across[number] @ similarity.rotation.T, codes > 0)
        to_ball = leg.foot.ways(leg.foot.turns, leg.foot.ball)
        longer = to_ball - similarity.of(source.to_ball(number))
        beside = in_directions(longer, sideways)[flat if flat.any() else slice(None)].mean()
        over_ball = np.maximum(near_contact(codes > 0, SWINGS * rate), unfolded(source.extensions(number)))
        ankle = own_middle + moves + similarity.of(source.joints[number, :, 2] - middle) + along_directions(wider, sideways)
        ankle += over_ball[:, None] * (along_directions(beside, sideways) - longer)
        ankle[:, 2] = heights[number] + np.maximum(rests.ankle, rests.ball - to_ball[:, 2])
        ankles.append(within_soft_reach(leg.joints[:, 0] + moves, ankle, leg.lengths, leg.extensions))
    return ankles


SWINGS = 0.1
"""Seconds before and after a contact from which on the foot of a folded leg is where the source's ankle is, not its ball."""


def _placed(leg: LegMotion, ankles: Array, moves: Array) -> LegMotion:
    """The leg with its hip moved and its ankle elsewhere; its knee bent as it is."""
    hips = leg.joints[:, 0] + moves
    joints = np.stack([hips, knees_bent_as(leg.joints, hips, ankles), ankles], axis=1)
    return replace(leg, joints=joints, foot=replace(leg.foot, ankles=ankles))


def _levelled(leg: LegMotion, states: Codes) -> LegMotion:
    """The leg with its foot turned, alike at all samples, so that it lies flat where the source's does `(F,)`.

    Where rest poses do not match, a copied rotation leaves feet tilted throughout; each contact would press the foot flat. On a
    mirrored armature feet stay as they are.
    """
    flat, up = (states == ContactState.BOTH)[: len(leg.foot.turns[WHOLE])], leg.leg.points.up
    if not flat.any() or not up.any() or np.linalg.det(leg.motion.world_from_armature[0, :3, :3]) < 0.0:
        return leg
    seen = np.median(leg.foot.turns[WHOLE][flat, 2], axis=0)
    return replace(leg, foot=replace(leg.foot, turns=leg.foot.turns @ least_turn(unit(up), unit(seen))))


def _while_down(leg: LegMotion, source: SourceMotion, number: int, floor: float | None) -> Codes:
    """States `(F,)` of leg `number` of the source without the frames at a contact's ends at which a point is lifted already.

    The heel is that of this foot, as it is placed: what is a small lift of the source's is a large one of a longer or higher
    foot, which would be pressed down and let go. The ball is the source's: on the tips of its toes no ball stands.

    floor : height of the floor, `None` where feet stand at many heights
    """
    heels, balls = leg.foot.points(leg.foot.heel)[WHOLE, 2], source.ends[number, WHOLE, 2]
    states, least = source.found.states[number, : len(heels)], -np.inf if floor is None else floor
    on_heels = without_lifts(heels, on_heel(states), LIFTED * leg.length, least)
    on_balls = without_lifts(balls, on_ball(states), UP * source.length(number))
    return on_heels * int(ContactState.HEEL) + on_balls * int(ContactState.BALL)


LIFTED, UP = 0.01, 0.02
"""Leg lengths from which a heel, and the source's ball, is lifted."""


def _ground(
    plan: FinishPlan, samples: Samples, standing: Standing, legs: Sequence[LegMotion], *, velocity: Array, level: float | None
) -> Ground:
    """The ground on which feet stand: what the settings name, else the floor, or the steps that the source goes up."""
    if plan.settings.ground == "OBJECT":
        return ground_of(plan.planting, plan.planting.contacts, standing, samples, legs)
    ground = moving_ground(plan.planting.samples / plan.planting.frames_per_second, velocity)
    if level is None:
        return with_one_height(ground, standing, legs)
    return replace(ground, level=level, is_flat=True)


def _meeting(
    source: SourceMotion, similarity: Similarity, legs: Sequence[LegMotion], arms: Sequence[LegMotion], moves: Array
) -> tuple[list[PlantedLeg], Mask, Array]:
    """Arms whose palms are as near to each other as the source's where those are near, each moved by half of what is missing."""
    if not arms:
        return [], np.zeros(len(moves), dtype=bool), np.zeros_like(moves)
    number = len(legs)
    theirs = source.ends[number] - source.ends[number + 1]
    length = float(np.mean([median(magnitude(np.diff(joints, axis=1)).sum(axis=1)) for joints in source.joints[number:]]))
    weights = together(magnitude(theirs) / length)
    own_length = float(np.mean([arm.length for arm in arms]))
    palms = [arm.foot.points(arm.foot.ball) for arm in arms]
    apart = own_length / length * (theirs @ similarity.rotation.T)
    missing = apart - (palms[0] - palms[1])
    posed = []
    for arm, share in zip(arms, (0.5, -0.5), strict=True):
        wrists = arm.joints[:, 2] + moves + share * weights[:, None] * missing
        hips = arm.joints[:, 0] + moves
        near = weights > 0.0
        reached = within_soft_reach(hips, wrists, arm.lengths, arm.extensions, start=np.maximum(SOFT, arm.extensions))
        wrists += weights[:, None] * (reached - wrists)
        nothing = np.zeros(len(wrists), dtype=bool)
        goals = FootGoals(wrists, arm.foot.turns, nothing, nothing)
        states = np.zeros(len(wrists[WHOLE]), dtype=int)
        posed.append(PlantedLeg(arm, states, goals, arm.foot.turns, wrists, near, np.ones(len(wrists))))
    return posed, weights >= 1.0, apart
