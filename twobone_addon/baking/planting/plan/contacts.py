"""What stands when, and on which ground: as it is keyed on the stored chains, or else found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....array_types import Array, Codes, Mask
from ....arrays import path_length
from ....contacts.ground import is_of_flat_ground
from ....contacts.states import on_ball, on_heel
from ....planting.ground import Ground, carried_ground, level_surface, moved_ground, moving_ground
from ....scene.blender_types import Scene
from ....scene.keys.contact_keys import contact_curve, keyed_states
from ....scene.lookup import object_named
from ....scene.walk.evaluate import Samples
from ....scene.walk.stepping import Steps
from ....settings.planting import PlantSettings
from ...contacts.finding import FoundContacts, edited_by_hand, found_contacts_steps, key_found
from .feet import LegMotion, at_frames, in_ground
from .planning import ContactPlan, LegPlan, PlantingPlan

ABOVE = 0.5
"""Leg lengths over a foot from which its ground is looked for."""

IN_PLACE = 1e-3
"""Leg lengths that a character may get along by and still be in place."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The contacts of all legs of a plan."""

    found: FoundContacts
    """What the motion says, whether it counts or not."""
    states: list[Codes]
    """`(F,)` of each leg."""
    by_hand: list[Mask]
    """`(F,)` of each leg, where somebody has said whether it stands; elsewhere it may stand for a shorter time."""


def standing_steps(scene: Scene, plan: PlantingPlan, contacts: ContactPlan) -> Steps[Standing]:
    """Read the contacts that are keyed; where no leg has any, find them."""
    found = yield from found_contacts_steps(scene, contacts)
    armature = object_named(plan.armature)
    chains = [armature.twobone.chains[leg.chain] for leg in plan.legs]
    count = len(plan.frames)
    if any(contact_curve(armature, chain) is not None for chain in chains):
        states = [keyed_states(armature, chain, plan.frames) for chain in chains]
        return Standing(found, states, [edited_by_hand(armature, chain, plan.frames) for chain in chains])
    return Standing(found, [each[:count] for each in found.states], [np.zeros(count, bool)] * len(chains))


def ground_of(
    plan: PlantingPlan, contacts: ContactPlan, standing: Standing, samples: Samples, legs: Sequence[LegMotion]
) -> Ground:
    """The ground on which the feet of a plan are planted."""
    surface = contacts.surface
    if surface is not None and contacts.ground is not None:
        matrices = samples.on(plan.samples)[contacts.ground]

        length = max(_length(leg, samples) for leg in plan.legs)

        def below(places: Array) -> tuple[Array, Array]:
            heights, normals = surface.below(places[:, None], matrices[:1], ABOVE * length)
            known = np.isfinite(heights[:, 0])
            return np.where(known, heights[:, 0], places[:, 2]), np.where(known[:, None], normals[:, 0], 0.0)

        ground = replace(carried_ground(matrices), surface=below)
        return _told(ground, standing, legs)
    ground = moving_ground(plan.samples / plan.frames_per_second, standing.found.ground_velocity)
    height = standing.found.ground_height or 0.0
    is_given = contacts.settings.ground == "HEIGHT"
    if not is_given:
        return replace(ground, level=height)
    return _told(replace(ground, surface=level_surface(height)), standing, legs)


def travel_of(plan: PlantingPlan, settings: PlantSettings, ground_velocity: Array, legs: Sequence[LegMotion]) -> Array:
    """How far `(S, 3)` the root is to go along more than it does, world space, from nothing at the first sample on.

    As fast as the ground under a walk in place, or as the character through the world, unless the ground's velocity is given.
    """
    times = (plan.samples - plan.samples[0]) / plan.frames_per_second
    if plan.root is None or settings.root_motion == "KEEP":
        return np.zeros((len(times), 3))
    if settings.root_motion == "ADD":
        return times[:, None] * -ground_velocity
    if settings.ground_moves == "GIVEN":
        return times[:, None] * np.array(settings.ground_velocity)
    hips = np.mean([leg.joints[:, 0] for leg in legs], axis=0)
    along = (hips[-1] - hips[0]) * np.array([1.0, 1.0, 0.0])
    if np.linalg.norm(along) <= IN_PLACE * max(leg.length for leg in legs):
        return np.zeros((len(times), 3))
    return times[:, None] / times[-1] * -along


def ground_after(ground: Ground, travel: Array) -> Ground:
    """The ground as it moves under a character that goes along by `travel` `(S, 3)` more."""
    return moved_ground(ground, travel) if np.any(travel) else ground


def _told(ground: Ground, standing: Standing, legs: Sequence[LegMotion]) -> Ground:
    """The ground, with whether the legs have been walking on another, flat one, and at which height that is."""
    flat, over = [], []
    for leg, states in zip(legs, standing.states, strict=True):
        foot = at_frames(in_ground(leg.foot, ground))
        for stands, offset, sole in ((on_heel(states), foot.heel, 0.0), (on_ball(states), foot.ball, leg.ball_height)):
            points = foot.points(offset)[stands]
            flat.append(points[:, 2] - sole)
            over.append(ground.over(points) - sole)
    heights = np.concatenate(flat)
    if not len(heights):
        return ground
    is_new = is_of_flat_ground(heights, np.concatenate(over), max(leg.length for leg in legs))
    return replace(ground, is_new=is_new, level=float(np.median(heights)))


def _length(leg: LegPlan, samples: Samples) -> float:
    """Of a leg at rest, world units, by the armature's scale."""
    world = samples[leg.plan.armature_world][0, :3, :3]
    return float(path_length(leg.plan.rest.rest_joints() @ world.T))


def key_contacts(scene: Scene, plan: PlantingPlan, standing: Standing, states: list[Codes]) -> None:
    """Leave on the chains what was planted, where it is not what is keyed."""
    armature = object_named(plan.armature)
    chains = [armature.twobone.chains[leg.chain] for leg in plan.legs]
    now = [keyed_states(armature, chain, plan.frames) for chain in chains]
    if all(np.array_equal(new, old) for new, old in zip(states, now, strict=True)):
        return
    contacts = replace(standing.found.plan, frames=plan.frames)
    key_found(scene, replace(standing.found, plan=contacts, states=np.array(states)))
