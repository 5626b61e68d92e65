"""Plant the feet: plan, sample, find what stands where, solve, key, write, prove, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...array_types import Array, Codes
from ...scene.blender_types import Object, Scene
from ...scene.walk.evaluate import Samples
from ...scene.walk.stepping import Steps, at_once
from ...settings.planting import PlantSettings
from ..contacts.planning import ContactPlan
from ..motion.sampling import sample_steps
from ..stages import SkipCheckError, Stopwatch, evaluation_of
from .keeping import kept_targets
from .keys.anew import Beginning, begun, write_and_note
from .keys.curves import ChannelPieces, keys_of
from .plan.contacts import ground_of, key_contacts, standing_steps, travel_of
from .plan.feet import leg_motion
from .plan.planning import PlantingPlan, plan_planting
from .pose.belt import on_their_belt
from .pose.solving import solve_planting
from .pose.standing import Footing, Planted
from .report.proof import proof_frames, proof_quantities
from .report.records import PlantReport
from .report.reporting import Proof, plant_report
from .report.sight import look_frames, look_quantities, shown_legs, visible_leg


def plant(scene: Scene, settings: PlantSettings, active: Object | None = None) -> PlantReport:
    """The same as `plant_steps`, at once."""
    return at_once(plant_steps(scene, settings, active))


def plant_steps(scene: Scene, settings: PlantSettings, active: Object | None = None) -> Steps[PlantReport]:
    """Let a character's feet stand still while they are on the ground; raises a `TwoBoneError` before anything is changed."""
    watch = Stopwatch()
    with watch.stage("read"):
        plan, contacts = plan_planting(scene, settings, active, use_root=settings.use_root)
    with begun(scene, plan) as beginning:
        made = yield from _planted_steps(scene, (plan, contacts), settings, beginning, watch)
    with watch.stage("verify"):
        proof = yield from _prove(scene, plan, [leg.states for leg in made.planted.legs])
    report = plant_report(
        made.footing,
        made.planted,
        (made.samples, proof),
        made.keys,
        watch.seconds,
        travel=made.travel,
        root_motion=settings.root_motion,
    )
    chains = [
        replace(chain, **{**target, "notes": [*chain.notes, *target.get("notes", ())]})
        for chain, target in zip(report.chains, made.targets, strict=True)
    ]
    notes = [*report.notes, *_without_travel(plan, settings, made.travel)]
    return replace(
        report,
        chains=chains,
        notes=notes,
        held_ground=contacts.held_ground,
        is_anew=beginning.is_anew,
        is_on_top=beginning.is_on_top,
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """What was planted, and with which keys."""

    footing: Footing
    planted: Planted
    samples: Samples
    keys: list[ChannelPieces]
    travel: Array
    targets: Sequence[Mapping[str, Any]]


def _planted_steps(
    scene: Scene, plans: tuple[PlantingPlan, ContactPlan], settings: PlantSettings, beginning: Beginning, watch: Stopwatch
) -> Steps[_Made]:
    """Find what stands, solve, and write the keys."""
    plan, contacts = plans
    with watch.stage("find"):
        standing = yield from standing_steps(scene, plan, contacts)
    with watch.stage("sample"):
        evaluation = evaluation_of([leg.plan for leg in plan.legs])
        quantities = [*plan.quantities(), *([contacts.ground] if contacts.ground else [])]
        samples = yield from sample_steps(scene, quantities, plan.samples, evaluation=evaluation)
    with watch.stage("solve"):
        legs = [leg_motion(leg, samples) for leg in plan.legs]
        standing = on_their_belt(contacts, standing, legs)
        ground = ground_of(plan, contacts, standing, samples, legs)
        footing = Footing(plan, legs, ground, round(settings.ease), settings.max_tilt)
        planted = solve_planting(footing, standing)
    with watch.stage("keys"):
        travel = travel_of(plan, settings, standing.found.ground_velocity, legs)
        keys = keys_of(plan, samples, planted, travel)
    with watch.stage("write"), kept_targets(scene, plan, settings) as key_targets:
        key_contacts(scene, plan, standing, [leg.states for leg in planted.legs])
        write_and_note(scene, plan, keys, beginning)
        targets = key_targets()
    return _Made(footing, planted, samples, keys, travel, targets)


def _prove(scene: Scene, plan: PlantingPlan, states: list[Codes]) -> Steps[Proof]:
    """What Blender makes of the new keys, and whether that is what people see."""
    shown, samples, looked = shown_legs(plan), None, None
    evaluation = evaluation_of([leg.plan for leg in plan.legs], proving=True)
    try:
        if plan.settings.verify:
            samples = yield from sample_steps(scene, proof_quantities(plan), proof_frames(plan, states), evaluation=evaluation)
            seen = look_quantities(plan, shown)
            looked = (yield from sample_steps(scene, seen, look_frames(plan), evaluation=evaluation)) if seen else None
    except SkipCheckError:
        pass
    return Proof(samples, [visible_leg(leg, each, looked) for leg, each in zip(plan.legs, shown, strict=True)])


def _without_travel(plan: PlantingPlan, settings: PlantSettings, travel: Array) -> list[str]:
    """Why there is no root motion where some was asked for."""
    if settings.root_motion == "KEEP" or plan.root is None or np.any(travel):
        return []
    if settings.root_motion == "ADD":
        return ["The ground does not move under the feet, so there is no root motion to add. Give its velocity if it should."]
    return ["The character stays in place, so there is no root motion to remove."]
