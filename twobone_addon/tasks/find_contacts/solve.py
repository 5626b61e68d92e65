"""Find contacts in sampled foot motion, relative to the ground. Numbers only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import every_row, magnitude, path_length
from ...core.contacts.feet import FeetMotion, moving_rows, turns_round
from ...core.contacts.finding import NEAR, Stance, Story, Thresholds, find_story, no_story, story_of
from ...core.contacts.ground import ground_height, ground_velocity, is_of_flat_ground, nearer_ground, standing_points
from ...core.contacts.points import FootPoints, as_it_rolls, as_it_stands, posed_point
from ...core.contacts.states import contacts_of_states
from ...errors import ObjectError
from ...records import replace
from ...scene.sampling.quantities import Samples

if TYPE_CHECKING:
    from .plan import ContactPlan

ABOVE = 0.5
"""Leg lengths above a foot from which the ground is searched downwards: a foot may be sunk into stairs, but not below a floor."""

ENDLESS = 1e30
"""World units that count as infinite: Blender stores infinity as its largest number."""

NO_GROUND = 1e3
"""Height of a point where there is no ground, in leg lengths."""


@dataclass(frozen=True, slots=True)
class FoundContacts:
    """Contacts as found, regardless of edits by hand."""

    plan: ContactPlan
    story: Story
    """Contacts of each foot of the plan."""
    ground_height: float | None
    """Height of flat ground, world units; `None` for an object."""
    ground_velocity: Array
    """`(3,)` world units per second; on an object, without the motion of the object."""
    evaluation: str | dict[str, str]
    off_ground: Mask
    """`(C, F)` mask of feet that seem to stand off the edge of the ground mesh; false without one."""
    wheels: Mask
    """`(C,)` mask of feet that turn all the way round, so that they are never taken to stand."""
    is_lying: bool = False
    """Whether the body is not over its feet for most of the time, so that no contacts were looked for."""

    @property
    def may_stand(self) -> Mask:
        """Mask `(C,)` of feet whose contacts were looked for."""
        return ~self.wheels & (not self.is_lying)

    @property
    def states(self) -> Codes:
        """`(C, F)` contact states of the feet of the plan, see `core.contacts.states`."""
        return self.story.states

    def kept(self) -> Mask:
        """Mask `(C, F)` of frames whose edits by hand are kept."""
        by_hand = np.array([keyed.by_hand for keyed in self.plan.keyed])
        return by_hand if self.plan.settings.keep else np.zeros_like(by_hand)

    def to_key(self) -> Codes:
        """States `(C, F)` to key: kept edits by hand, and found ones elsewhere."""
        return np.where(self.kept(), [keyed.states for keyed in self.plan.keyed], self.states)

    def stances(self, foot: int, states: Codes) -> list[Stance | None]:
        """The stance to which each contact in `states` `(F,)` of a foot belongs; `None` for one that was not found."""
        frames = self.plan.frames
        ends = [np.searchsorted(frames, (contact.first, contact.last)) for contact in contacts_of_states(states, frames)]
        return [self.story.stance_of(foot, int(first), int(last)) for first, last in ends]


def solve_contacts(plan: ContactPlan, samples: Samples) -> FoundContacts:
    """Find when the feet of a plan stand; raises `ObjectError` if no foot is ever over the ground object, or legs are not finite.

    In the returned plan the motion has placed the soles for which nothing better is known.
    """
    lengths, height = _leg_lengths(plan, samples), plan.settings.sole_height / _scale(plan, samples)
    poses = [samples.every(foot.foot) for foot in plan.feet]
    moving = np.array([*poses, *(samples.every(foot.hip) for foot in plan.feet)])
    lost = np.flatnonzero(~np.all(np.abs(moving) < ENDLESS, axis=(0, 2, 3)))
    if len(lost):
        raise ObjectError(
            'The legs of armature "{armature}" have no position at frame {frame:g}: their motion is not a finite number. '
            "Correct or delete its keys there.",
            armature=plan.armature,
            frame=float(plan.frames[lost[0]]),
        )
    found = _found(plan, samples)
    refinements: tuple[Callable[[FootPoints, Array, Codes, float], FootPoints], ...] = (
        lambda points, matrices, states, _: as_it_stands(points, matrices, states),
        lambda points, *_: points.below(height) if height else points,
        as_it_rolls,
    )
    # Each may move heels and balls; then contacts are found anew with them, by which the next refinement goes.
    for refine in refinements:
        feet = zip(found.plan.feet, poses, found.states, lengths, strict=True)
        refined = [replace(foot, points=refine(foot.points, pose, states, length)) for foot, pose, states, length in feet]
        pairs = [(new.points, old.points) for new, old in zip(refined, found.plan.feet, strict=True)]
        if any(new is not old and not new.is_placed_as(old) for new, old in pairs):
            found = _found(replace(plan, feet=refined), samples)
        elif any(new is not old for new, old in pairs):
            found = replace(found, plan=replace(plan, feet=refined))
    return found


def _found(plan: ContactPlan, samples: Samples) -> FoundContacts:
    settings, whole = plan.settings, _feet(plan, samples)
    # A ground object may keep moving while the feet are held.
    rows = slice(0, len(plan.frames))
    if plan.surface is None:
        joints = np.concatenate([*np.swapaxes(whole.points, 0, 1), whole.hips])
        moving, held = (moving_rows(joints, whole.leg_length, kept) for kept in (0, round(NEAR * plan.rate)))
        # A foot that is held stands like any other, unless the ground moves: there it would go along. A step between two held
        # poses is too short to tell that.
        is_short = 2 * (moving.stop - moving.start) < held.stop - held.start
        rows = held if is_short or not grounded_feet(*_on_rows(plan, samples, moving)).velocity.any() else moving
    grounded = grounded_feet(*_on_rows(plan, samples, rows))
    thresholds = Thresholds(
        enter_speed=settings.enter_speed,
        leave_speed=settings.leave_speed,
        enter_height=settings.enter_height,
        leave_height=settings.leave_height,
        lift=settings.heel_lift,
        least_length=settings.min_contact,
        longest_gap=settings.max_gap,
    )
    is_searched = plan.source is None and plan.labels is None
    is_lying = is_searched and not grounded.feet.is_over_feet()
    wheels = np.array(
        [is_searched and turns_round(*(samples.every(bone)[:, :3, :3] for bone in (foot.hip, foot.foot))) for foot in plan.feet]
    )
    if plan.source is not None:
        source_story = solve_contacts(plan.source, samples).story
        trust = [stance.confidence for foot in source_story.stances for stance in foot]
        story = story_of(grounded_feet(plan, samples).feet, source_story.states, float(np.mean(trust)) if trust else 0.0)
    elif plan.labels is not None:
        story = story_of(grounded_feet(plan, samples).feet, plan.labels)
    elif is_lying:
        story = no_story(grounded_feet(plan, samples).feet)
    else:  # Ground that the user names is final; without, feet may stand on stairs, slopes and boxes.
        story = find_story(grounded.feet, thresholds, any_height=settings.ground == "AUTO" or grounded.is_elsewhere)
        story = story.held(rows.start, len(plan.frames) - rows.stop).without(wheels)
    off_ground = np.zeros((len(plan.feet), len(plan.frames)), bool)
    off_ground[:, rows] = grounded.off_ground
    return FoundContacts(plan, story, grounded.height, grounded.velocity, samples.evaluation, off_ground, wheels, is_lying)


def _on_rows(plan: ContactPlan, samples: Samples, rows: slice) -> tuple[ContactPlan, Samples]:
    """The plan and its samples at some of its frames."""
    frames = plan.frames[rows]
    return replace(plan, frames=frames), samples.on(frames)


@dataclass(frozen=True, slots=True)
class GroundedFeet:
    """Feet relative to their ground, and that ground."""

    feet: FeetMotion
    height: float | None
    """Height of flat ground, world units; `None` for an object."""
    velocity: Array
    """`(3,)` velocity of the ground, world units per second, without the motion of an object."""
    off_ground: Mask
    """`(C, F)` mask of feet slow and low enough to stand, but with no ground mesh below them."""
    is_elsewhere: bool = False
    """Whether the motion was made for another ground than the mesh that is set."""


def grounded_feet(plan: ContactPlan, samples: Samples) -> GroundedFeet:
    """The feet relative to their ground; raises `ObjectError` if no foot is ever over the ground object."""
    feet, off_ground, is_elsewhere = _over_surface(plan, samples, _feet(plan, samples))
    moves = plan.settings.ground_moves
    given = np.array(plan.settings.ground_velocity) if moves == "GIVEN" else np.zeros(3)
    velocity = ground_velocity(feet) if moves == "AUTO" else given
    feet = feet.beside(velocity)
    if plan.settings.ground == "OBJECT":
        return GroundedFeet(feet, None, velocity, off_ground, is_elsewhere)
    height = plan.settings.ground_height if plan.settings.ground == "HEIGHT" else ground_height(feet)
    return GroundedFeet(feet.over(height), height, velocity, off_ground)


def _feet(plan: ContactPlan, samples: Samples) -> FeetMotion:
    """The feet with heights over height 0 of the world."""
    points, hips, scale = [], [], _scale(plan, samples)
    for foot in plan.feet:
        matrices = samples.every(foot.foot)
        points.append([posed_point(point, matrices) for point in (foot.points.heel, foot.points.ball)])
        hips.append(samples.every(foot.hip)[:, :3, 3])
    placed = np.array(points)
    over_sole = np.array([[0.0, foot.points.ball_height * scale] for foot in plan.feet])
    return FeetMotion(
        placed, placed[..., 2] - over_sole[..., None], np.array(hips), float(np.mean(_leg_lengths(plan, samples))), plan.rate
    )


def _scale(plan: ContactPlan, samples: Samples) -> float:
    """World units per armature unit along the world's Z axis."""
    return float(magnitude(samples.every(plan.world)[0, 2, :3]))


def _leg_lengths(plan: ContactPlan, samples: Samples) -> list[float]:
    """Lengths of the legs at rest, world units."""
    world = samples.every(plan.world)[0, :3, :3]
    return [float(path_length(foot.rest.rest_joints() @ world.T)) for foot in plan.feet]


def _over_surface(plan: ContactPlan, samples: Samples, feet: FeetMotion) -> tuple[FeetMotion, Mask, bool]:
    """Feet relative to the ground object, if there is one: heights over its surface, points as carried back to its first pose.

    Also a mask `(C, F)` of feet that seem to stand with no object below, and whether the motion is for another ground.
    """
    if plan.surface is None or plan.ground is None:
        return feet, np.zeros((len(feet.points), len(plan.frames)), bool), False
    matrices = samples[plan.ground]
    flat = feet.points.reshape(-1, *feet.points.shape[2:])
    surface, _ = plan.surface.below(flat, matrices, ABOVE * feet.leg_length)
    if not np.isfinite(surface).any():
        raise ObjectError(
            'Ground object "{object}" is not below the feet of armature "{armature}". Choose another one.',
            object=plan.surface.name,
            armature=plan.armature,
        )
    first_from_world = every_row(matrices[:1] @ np.linalg.inv(matrices), len(plan.frames))
    carried = [
        np.einsum("fij,...fj->...fi", first_from_world[:, :3, :3], places) + first_from_world[:, :3, 3]
        for places in (feet.points, feet.hips)
    ]
    surface = nearer_ground(
        feet.heights, surface.reshape(feet.heights.shape), magnitude((feet.points[:, 1] - feet.points[:, 0])[..., :2])
    )
    heights = np.where(np.isfinite(surface), feet.heights - surface, NO_GROUND * feet.leg_length)
    on_surface = FeetMotion(carried[0], heights, carried[1], feet.leg_length, feet.rate)
    stands = standing_points(feet)
    is_below = np.isfinite(surface)
    known, off_ground = np.where(is_below, heights, np.nan)[stands], np.logical_or.reduce(stands & ~is_below, axis=1)
    if is_of_flat_ground(feet.heights[stands], known, feet.leg_length):
        return replace(feet.over(ground_height(feet)), points=carried[0], hips=carried[1]), off_ground, True
    return on_surface, off_ground, False
