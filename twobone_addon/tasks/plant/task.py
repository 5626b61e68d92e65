"""The Plant Feet task: keep feet still while they are on the ground, and move the root so that legs reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.audit import stances_of
from ...core.contacts.states import states_of_contacts
from ...pipeline.chosen_actions import own_span
from ...pipeline.plan.stored import stored_settings
from ...pipeline.proof import doubtful_poses, few_of, on_copies
from ...pipeline.stages import evaluation_of
from ...pipeline.story import Make, Sample, StartOver, Story, Task, Write, part_of_story
from ...records import replace
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Property, Scene
from ...scene.keys.contact_keys import contact_path
from ...scene.keys.replaced import WITH_FEET
from ...scene.keys.writing import Change
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Samples
from ...scene.writer import assign
from ...settings import BakeSettings
from ...settings.feet import PlantSettings
from ...settings.tasks import TABLES, AuditSettings
from ..find_contacts.plan import ChainStates, noted_contacts, write_states
from ..find_contacts.solve import FoundContacts, grounded_feet, solve_contacts
from ..find_contacts.task import assumed_soles, why_none_stands
from ..find_limbs import stored_limbs
from ..give.baking import (
    Guided,
    GuideProof,
    TargetReport,
    guide_changes,
    guide_report,
    measured_guides,
    planned_guides,
    solved_guides,
)
from ..give.guides import missing_guides
from .keys.anew import EarlierPlanting, earlier_planting, note_planting, planted_before, planting_changes
from .plan.planning import LegPlan, PlantingPlan, PlantPlan, plan_planting
from .pose.standing import LeftContact
from .report.reporting import Proof, plant_report, proof_frames, proof_quantities, visible_ends, visible_leg
from .report.reports import PartlyPlanted, PlantedContact, PlantReport
from .solve import PlantSolution, solve_plan

HELD = 550
"""Bytes of memory per sampled quantity and frame: samples are several per frame, keys only at frames."""


def plant_feet(scene: Scene, settings: PlantSettings, active: Object | None, chosen: OwnAction | None) -> Story[PlantReport]:
    """Keep a character's feet still while they are on the ground, and move the hips only as much as needed."""
    plan = plan_planting(scene, settings, active, own_span(chosen))
    beginning = yield StartOver(planted_before(plan))
    armature, contacts, earlier = object_named(plan.armature), plan.contacts, earlier_planting(plan, beginning)
    yield Make(stored_limbs(armature, contacts.legs.found))
    rebakes = rebake_settings(plan, settings) if settings.keep_targets else []
    followed = yield Make(missing_guides(scene, rebakes, armature))
    if followed:  # Planned here for what is refused, and once more for the planted motion.
        planned_guides(scene, followed, armature)
    evaluation = evaluation_of([leg.plan for leg in plan.legs])
    # Contacts are found at frames; feet that stand are also looked at between them.
    samples = yield Sample(contacts.quantities(), contacts.frames, settings.evaluation, HELD, share=0.25)
    found = solve_contacts(contacts, samples)
    quantities = [*plan.quantities(), *([contacts.ground] if contacts.ground else [])]
    samples = yield Sample(quantities, plan.samples, evaluation, HELD, start=0.25, share=0.25)
    solved = yield from part_of_story(solve_plan(plan, found, samples, earlier.given, proof_quantities(plan)), 1, 2)
    changes, guided = planting_changes(plan, solved.keys), []
    if followed:
        guided = yield from kept_targets(scene, armature, followed, changes)

    def write() -> None:
        _write_contacts(plan, solved)  # into the action that has the feet now, which may be a new one
        on_surface = solved.footing.ground.surface is not None  # It may be as high above the animation as it likes.
        far = [leg.departures(is_level=on_surface) for leg in solved.planted.legs]
        note_planting(plan, solved.keys, earlier, solved.given, far)
        for leg in plan.legs if followed else ():
            follow_pole(armature, leg)

    def report(proof: Proof | None = None, guides: Sequence[GuideProof | None] = ()) -> PlantReport:
        shown = proof or Proof(None, [visible_leg(end, None) for end in visible_ends(plan)])
        targets = [guide_report(*pair) for pair in zip(guided, guides or [None] * len(guided), strict=True)]
        return planted_report(plan, solved, earlier, shown, targets)

    contacts_at = {Property(armature, contact_path(armature.twobone.chains[leg.chain])) for leg in plan.legs}
    yield Write([*changes, *guide_changes(guided, PLANT.name)], report, lambda: contacts_at, write)
    if not settings.verify:
        return report()
    ends, evaluation = visible_ends(plan), evaluation_of([leg.plan for leg in plan.legs], proving=True)
    frames, seen = proof_frames(plan, [leg.states for leg in solved.planted.legs]), doubtful_poses(ends)
    samples = yield Sample(proof_quantities(plan), frames, evaluation, share=0.5)
    looked = (yield Sample(seen, few_of(plan.frames), evaluation, start=0.5, share=0.25)) if seen else None
    proof = Proof(samples, [visible_leg(end, looked) for end in ends])
    planted = report(proof, (yield from measured_guides(guided)))
    if any(chain.partly for chain in planted.chains):
        samples = yield Sample(contacts.quantities(), contacts.frames, settings.evaluation, HELD, start=0.75, share=0.25)
        lengths = [leg.before.length for leg in solved.planted.legs]
        planted = as_found_again(planted, solve_contacts(contacts, samples), samples, lengths)
    return planted


def as_found_again(report: PlantReport, found: FoundContacts, samples: Samples, lengths: Sequence[float]) -> PlantReport:
    """The report with the contacts held in part as they are `found` in the planted motion, as Audit finds them.

    lengths : of the legs, world units
    """
    plan, feet, chains = found.plan, grounded_feet(found.plan, samples).feet, []

    def shares(row: PartlyPlanted, contacts: Sequence[PlantedContact | PartlyPlanted | LeftContact]) -> bool:
        return any(row.first <= contact.last and contact.first <= row.last for contact in contacts)

    legs = zip(report.chains, feet.points, feet.heights, found.to_key(), lengths, strict=True)
    for chain, points, heights, foot_states, length in legs:
        rows = [
            PartlyPlanted(float(plan.frames[stance.first]), float(plan.frames[stance.last]), stance.slide)
            for stance in stances_of(points, heights, foot_states, plan.rate)
            if stance.slide > AuditSettings().max_slide * length
        ]
        partly = [row for row in rows if shares(row, [*chain.contacts, *chain.partly]) and not shares(row, chain.left)]
        chains.append(replace(chain, partly=partly))
    return replace(report, chains=chains)


def _write_contacts(plan: PlantPlan, solved: PlantSolution) -> None:
    """Write the contacts if they differ from the keyed ones."""
    keyed, legs, count = plan.contacts.keyed, solved.planted.legs, len(plan.frames)
    pairs, given = list(zip(legs, keyed, strict=True)), solved.from_outside
    if all(np.array_equal(leg.states, keyed_leg.states[:count]) for leg, keyed_leg in pairs):
        return
    armature, feet = object_named(plan.armature), []
    for (leg, keyed_leg), outside in zip(pairs, given, strict=True):
        name, kept = leg.before.leg.chain, keyed_leg.by_hand[:count] & plan.contacts.settings.keep
        states = np.where(kept, keyed_leg.states[:count], leg.states)
        noted = states_of_contacts(noted_contacts(armature, armature.twobone.chains[name]), plan.frames)
        feet.append(ChainStates(name, states, kept, np.where(kept, noted, leg.states), given=outside))
    write_states(armature, plan.frames, feet, task=WITH_FEET)


def planted_report(
    plan: PlantPlan, solved: PlantSolution, earlier: EarlierPlanting, proof: Proof, targets: Sequence[TargetReport]
) -> PlantReport:
    """The report of one action; `targets` are those of the legs' targets and poles, none if they are not kept."""
    motion = plan.settings.root_motion
    report = plant_report(
        solved.footing,
        solved.planted,
        solved.samples,
        proof,
        solved.keys,
        given=solved.given,
        travel=solved.travel,
        root_motion=motion,
    )
    chains = []
    for number, chain in enumerate(report.chains):
        contacts = []
        for contact in chain.contacts:
            first, last = np.searchsorted(plan.frames, (contact.first, contact.last)).tolist()
            stance = solved.found.story.stance_of(number, first, last)
            known: dict[str, Any] = {"travel": stance.travel, "confidence": stance.confidence} if stance else {}
            contacts.append(replace(contact, **known))
        chain = replace(chain, contacts=contacts, sole=solved.found.plan.feet[number].points.source)  # noqa: PLW2901
        if targets:
            of_target = targets[number]
            notes, target = [*chain.notes, *of_target.notes], of_target.target
            chain = replace(chain, target=target, pole=of_target.pole, max_round_trip=of_target.max_round_trip, notes=notes)  # noqa: PLW2901
        chains.append(chain)
    soles = assumed_soles({foot.chain or foot.foot.bone: foot.points for foot in solved.found.plan.feet})
    return replace(
        report,
        chains=chains,
        notes=[*report.notes, *solved.notes, *why_none_stands(solved.found), *soles],
        held_ground=plan.contacts.held_ground,
        is_anew=earlier.is_anew,
        is_on_top=earlier.is_on_top,
    )


PLANT = Task("plant", TABLES["plant"], plant_feet, PlantReport)


def kept_targets(
    scene: Scene, armature: Object, followed: Sequence[BakeSettings], changes: Sequence[Change]
) -> Story[list[Guided]]:
    """Solve the keys of the targets and poles of planted legs, on a copy of the action with the `changes` of planting."""
    with on_copies(scene, [armature]) as trial:
        trial.put(changes)
        guided, _ = yield from solved_guides(*planned_guides(scene, followed, armature))
    return guided


def rebake_settings(plan: PlantingPlan, settings: PlantSettings) -> list[BakeSettings]:
    """Settings with which the planted motion of each leg is baked onto its target and pole."""
    armature = object_named(plan.armature)
    frames = {"frame_range": "CUSTOM", "frame_start": float(plan.frames[0]), "frame_end": float(plan.frames[-1]), "step": 1.0}
    output = {"keys": "FRAMES", "destination": "ACTION", "verify": settings.verify, "evaluation": settings.evaluation}
    given = [{**_as_planted(leg), **frames, **output} for leg in plan.legs]
    chains = [armature.twobone.chains[leg.chain] for leg in plan.legs]
    return [stored_settings(armature, *pair) for pair in zip(chains, given, strict=True)]


def _as_planted(leg: LegPlan) -> dict[str, Any]:
    """Settings with which baking the leg restores its motion from target and pole."""
    end = "TARGET" if leg.has_foot else "NONE"
    as_planted = {"plane": "POLE", "reference": "POSE", "end_rotation": end, "interpolation": "BEZIER"}
    return {**as_planted, "target_root_bone": "", "target_scale": 1.0}


def follow_pole(armature: Object, leg: LegPlan) -> None:
    """Let the leg's stored chain bake as planted."""
    chain = armature.twobone.chains[leg.chain]
    for name, value in _as_planted(leg).items():
        assign(chain, name, value)
