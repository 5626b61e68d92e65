"""Contacts of all legs, keyed on the stored chains or else found, and the ground of their feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Codes, Mask
from ....core.arrays import magnitude, path_length
from ....core.contacts.finding import MOST_LEVEL
from ....core.contacts.ground import is_of_flat_ground, nearer_ground
from ....core.contacts.states import ContactState, on_ball, on_heel, runs
from ....core.planting.ground import Ground, carried_ground, level_surface, moved_ground, moving_ground
from ....records import replace
from ....scene.sampling.quantities import Samples
from ....settings.feet import PlantSettings
from ...find_contacts.solve import FoundContacts
from .feet import LegMotion, in_ground, on_whole_frames

if TYPE_CHECKING:
    from .planning import ContactPlan, PlantingPlan, PlantPlan

ABOVE = 0.5
"""Height above a foot, in leg lengths, from which the ground below is searched for."""

FLAT = 0.02
"""Leg lengths over which the heights of all contacts may spread on one floor: 18 mm of a leg of 0.9 m, less than any step."""

IN_ITS_PLACE = 0.01
"""Leg lengths that the point below the ankle goes level while a foot rolls over a heel behind it: 6 mm at 7 cm, 25 degrees."""

IN_PLACE = 1e-3
"""Largest travel, in leg lengths, of a character that stays in place."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The contacts of all legs of a plan."""

    found: FoundContacts
    """Contacts found in the motion, whether used or not."""
    states: list[Codes]
    """Contact states `(F,)` of each leg."""
    by_hand: list[Mask]
    """`(F,)` for each leg, where its state was set by hand or given; elsewhere its contacts may be shortened."""
    given: list[Mask]
    """`(F,)` for each leg, where another armature or a file gave its state, which Maximum Repair still limits."""


def standing_of(plan: PlantingPlan, found: FoundContacts, legs: Sequence[LegMotion]) -> Standing:
    """The keyed contacts or, if no leg has any, the contacts found.

    A heel that nothing shows is assumed below the ankle, which goes down while the foot rolls over its true heel. A foot that
    does so without sliding stands from lying flat on, unless its contacts were set by hand or given.
    """
    count, keyed = len(plan.frames), found.plan.keyed
    if any(contact.is_keyed for contact in keyed):
        states, by_hand = [contact.states[:count] for contact in keyed], [contact.by_hand[:count] for contact in keyed]
        given = [contact.is_given[:count] & ~hand for contact, hand in zip(keyed, by_hand, strict=True)]
    else:
        states, by_hand = [of_foot[:count] for of_foot in found.states], [np.zeros(count, bool)] * len(keyed)
        given = [np.full(count, found.plan.source is not None)] * len(keyed)
    by_hand = [hand | outside for hand, outside in zip(by_hand, given, strict=True)]
    shortened = [
        of_foot if foot.points.knows_heel else np.where(hand, of_foot, _from_flat_on(of_foot, leg, found, plan.frames_per_second))
        for foot, leg, of_foot, hand in zip(found.plan.feet, legs, states, by_hand, strict=True)
    ]
    return Standing(found, shortened, by_hand, given)


def _from_flat_on(states: Codes, leg: LegMotion, found: FoundContacts, rate: float) -> Codes:
    """States `(F,)` without the frames at which a foot that lands rolls over its heel in place before it lies flat."""
    heel, kept = on_whole_frames(leg.foot).points(leg.foot.heel)[:, :2], states.copy()
    heel = heel - np.arange(len(heel))[:, None] * (found.ground_velocity[:2] / rate)
    for first, last in runs(states == ContactState.HEEL):
        is_landing = first == 0 or states[first - 1] == ContactState.NONE
        rolls = last + 1 < len(states) and states[last + 1] != ContactState.NONE
        if is_landing and rolls and magnitude(heel[first : last + 1] - heel[last + 1]).max() <= IN_ITS_PLACE * leg.length:
            kept[first : last + 1] = ContactState.NONE
    return kept


def ground_of(plan: PlantPlan, contacts: ContactPlan, standing: Standing, samples: Samples, legs: Sequence[LegMotion]) -> Ground:
    """The ground on which the feet of a plan are planted."""
    surface = contacts.surface
    if surface is not None and contacts.ground is not None:
        matrices = samples.on(plan.samples)[contacts.ground]

        scales = [(leg.plan.rest.rest_joints(), samples[leg.plan.armature_world][0, :3, :3]) for leg in plan.legs]
        length = max(float(path_length(joints @ scale.T)) for joints, scale in scales)

        def below(places: Array) -> tuple[Array, Array]:
            heights, normals = surface.below(places[:, None], matrices[:1], ABOVE * length)
            known = np.isfinite(heights[:, 0])
            return np.where(known, heights[:, 0], places[:, 2]), np.where(known[:, None], normals[:, 0], 0.0)

        ground = replace(carried_ground(matrices), surface=below)
        return _with_animated_ground(ground, standing, legs)
    ground = moving_ground(plan.samples / plan.frames_per_second, standing.found.ground_velocity)
    height = standing.found.ground_height or 0.0
    if contacts.settings.ground != "HEIGHT":
        level_ground = replace(ground, level=height)
        # Stairs and boxes that the user has not named as ground are wherever feet stand on them.
        most = MOST_LEVEL * max(leg.length for leg in legs)
        if plan.settings.priority == "HEIGHTS":
            return replace(level_ground, surface=level_surface(height, most))
        return with_one_height(level_ground, standing, legs)
    return _with_animated_ground(replace(ground, surface=level_surface(height)), standing, legs)


def floor_at_rest(plan: PlantingPlan, legs: Sequence[LegMotion], samples: Samples) -> float:
    """Height of the floor on which the character stands at rest, its armature as at the first sample; at 0 if that is the root.

    It is below the lower foot: a rest pose may be a frame of a run.
    """
    world = samples.every(legs[0].leg.plan.armature_world)[0]
    size = float(np.cbrt(abs(np.linalg.det(world[:3, :3]))))
    ankles = [float((world[:3, :3] @ leg.leg.plan.rest.rest_joints()[-1])[2]) for leg in legs]
    soles = [ankle - leg.leg.points.ankle_height * size for ankle, leg in zip(ankles, legs, strict=True)]
    base = 0.0 if plan.root is not None and plan.root.bone is None else float(world[2, 3])
    return base + min(soles)


def travel_of(plan: PlantingPlan, settings: PlantSettings, ground_velocity: Array, legs: Sequence[LegMotion]) -> Array:
    """Root motion `(S, 3)` to add, world space, zero at the first sample.

    `ADD` moves against the ground's velocity; `REMOVE` cancels the level travel of the hips, or takes a given ground velocity.
    """
    times = (plan.samples - plan.samples[0]) / plan.frames_per_second
    if plan.root is None or settings.root_motion == "KEEP":
        return np.zeros((len(times), 3))
    if settings.root_motion == "ADD":
        return times[:, None] * -ground_velocity
    if settings.ground_moves == "GIVEN":
        return times[:, None] * np.array(settings.ground_velocity)
    hips = np.mean([leg.joints[:, 0] for leg in legs], axis=0)
    travel = (hips[-1] - hips[0]) * np.array([1.0, 1.0, 0.0])
    if np.linalg.norm(travel) <= IN_PLACE * max(leg.length for leg in legs):
        return np.zeros((len(times), 3))
    return times[:, None] / times[-1] * -travel


def ground_after(ground: Ground, travel: Array) -> Ground:
    """The ground relative to a character whose root has the additional motion `travel` `(S, 3)`."""
    return moved_ground(ground, travel) if np.any(travel) else ground


def with_one_height(ground: Ground, standing: Standing, legs: Sequence[LegMotion]) -> Ground:
    """The ground at one height for all contacts, if they are so nearly at one that it is a floor."""
    heights = []
    for leg, states in zip(legs, standing.states, strict=True):
        foot = on_whole_frames(in_ground(leg.foot, ground))
        for points, rise, stands in ((foot.heel, 0.0, on_heel(states)), (foot.ball, leg.ball_height, on_ball(states))):
            soles = foot.points(points)[:, 2] - rise
            heights += [float(soles[first : last + 1].mean()) for first, last in runs(stands)]
    is_flat = len(heights) > 1 and np.ptp(heights) <= FLAT * max(leg.length for leg in legs)
    return replace(ground, is_flat=True, level=float(np.median(heights))) if is_flat else ground


def _with_animated_ground(ground: Ground, standing: Standing, legs: Sequence[LegMotion]) -> Ground:
    """The ground with `is_new` and `level` set: whether the legs were animated on other, flat ground, and its height."""
    flat, over = [], []
    for leg, states in zip(legs, standing.states, strict=True):
        foot = on_whole_frames(in_ground(leg.foot, ground))
        points = np.array([foot.points(foot.heel), foot.points(foot.ball)])
        soles = points[..., 2] - np.array([[0.0], [leg.ball_height]])
        below = np.array([path[:, 2] - ground.over(path) for path in points])
        below = nearer_ground(soles, below, magnitude((points[1] - points[0])[:, :2]))
        stands = np.array([on_heel(states), on_ball(states)])
        flat.append(soles[stands])
        over.append((soles - below)[stands])
    heights = np.concatenate(flat)
    if not len(heights):
        return ground
    is_new = is_of_flat_ground(heights, np.concatenate(over), max(leg.length for leg in legs))
    return replace(ground, is_new=is_new, level=float(np.median(heights)))
