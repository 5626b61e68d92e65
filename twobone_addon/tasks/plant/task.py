"""The Plant Feet task: keep feet still while they are on the ground, and move the root so that legs reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...pipeline.beginning import Beginning, Reach
from ...pipeline.clips import ClipsReport, report_of_clips
from ...pipeline.stages import evaluation_of
from ...pipeline.task import Done, Look, Outcome, Span, Task
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import contact_path
from ...scene.keys.replaced import WITH_FEET
from ...scene.lookup import object_named
from ...scene.sampling.stepping import Steps, part_of
from ...settings.planting import PlantSettings
from ...settings.tasks import TABLES
from ..find_contacts.judge import assumed_soles, ground_ends
from ..find_contacts.keyed import write_states
from ..find_contacts.solve import solve_contacts
from ..find_limbs.finding import stored_limbs
from .keeping import KeyTargets, kept_targets
from .keys.anew import EarlierPlanting, earlier_planting, planted_before, write_and_note
from .plan.planning import PlantPlan, plan_planting
from .report.plant_report import PlantReport
from .report.proof import proof_frames, proof_quantities
from .report.reporting import Proof, plant_report
from .report.sight import look_frames, look_quantities, shown_legs, visible_leg
from .solve import PlantSolution, solve_plan


@dataclass(frozen=True, slots=True)
class _Begun:
    """State prepared by `begun`."""

    earlier: EarlierPlanting
    key_targets: KeyTargets


NOTHING_EARLIER = EarlierPlanting()


@dataclass(frozen=True, slots=True)
class _Planted:
    """The solution, and what was written in addition to its keys."""

    solution: PlantSolution
    earlier: EarlierPlanting = NOTHING_EARLIER
    targets: Sequence[Mapping[str, Any]] = ()
    """Report fields about the target and pole of each leg; empty if none are kept."""


class PlantFeet(Task[PlantSettings, PlantPlan, _Planted, Proof]):
    """Keep a character's feet still while they are on the ground, and move the hips only as much as needed."""

    NAME = "plant"
    TABLE = TABLES["plant"]

    def plan(self, scene: Scene, settings: PlantSettings, active: Object | None, span: Span | None) -> PlantPlan:
        """Plan all legs of one character, their root and their ground."""
        return plan_planting(scene, settings, active, span)

    def reaches(self, plan: PlantPlan) -> Sequence[Reach]:
        """The paths and frames that an earlier planting of the same legs over the same frames has keyed."""
        return planted_before(plan)

    def held(self, plan: PlantPlan) -> int:
        """Bytes of memory per sampled quantity and frame: samples are several per frame, keys only at frames."""
        return 550

    @contextmanager
    def begun(self, scene: Scene, plan: PlantPlan, beginning: Beginning) -> Iterator[_Begun]:
        """Store the limbs, create missing targets, and find out what happens to an earlier planting."""
        with ExitStack() as stack:
            armature = object_named(plan.armature)
            stack.enter_context(stored_limbs(armature, plan.contacts.legs.found))
            key_targets = stack.enter_context(kept_targets(scene, plan, plan.settings))
            yield _Begun(earlier_planting(plan, beginning), key_targets)

    def solve(self, plan: PlantPlan, begun: _Begun, look: Look) -> Steps[_Planted]:
        """Find contacts, then solve for the keys that keep feet still during them."""
        contacts = plan.contacts
        first = look(contacts.quantities(), contacts.frames, evaluation=plan.settings.evaluation)
        found = solve_contacts(contacts, (yield from part_of(first, 0, 4)))
        quantities = [*plan.quantities(), *([contacts.ground] if contacts.ground else [])]
        evaluation = evaluation_of([leg.plan for leg in plan.legs])
        samples = yield from part_of(look(quantities, plan.samples, evaluation=evaluation), 1, 4)
        return _Planted((yield from part_of(solve_plan(plan, found, samples), 1, 2)))

    def paths(self, plan: PlantPlan, solution: _Planted) -> set[tuple[Object, str]]:
        """Data paths of leg and foot rotations, the root's location, and contacts."""
        armature = object_named(plan.armature)
        chains = (contact_path(armature.twobone.chains[leg.chain]) for leg in plan.legs)
        return {(armature, path) for path in (*chains, *(channel.pieces[0].path for channel in solution.solution.keys))}

    def write(self, scene: Scene, plan: PlantPlan, solution: _Planted, begun: _Begun) -> _Planted:
        """Write the contacts if they differ from the keyed ones, then legs and root, then targets."""
        solved, armature = solution.solution, object_named(plan.armature)
        keyed, legs = plan.contacts.keyed, solved.planted.legs
        count = len(plan.frames)
        if not all(np.array_equal(leg.states, keyed_leg.states[:count]) for leg, keyed_leg in zip(legs, keyed, strict=True)):
            for leg, keyed_leg in zip(legs, keyed, strict=True):
                kept = keyed_leg.by_hand[:count] & plan.contacts.settings.keep
                states = np.where(kept, keyed_leg.states[:count], leg.states)
                write_states(armature, leg.before.leg.chain, plan.frames, states, kept=kept, found=leg.states, task=WITH_FEET)
        write_and_note(scene, plan, solved.keys, begun.earlier)
        return replace(solution, earlier=begun.earlier, targets=begun.key_targets())

    def prove(self, plan: PlantPlan, solution: _Planted, look: Look) -> Steps[Proof | None]:
        """Sample the new keys as Blender evaluates them, and check that the visible bones follow the legs."""
        if not plan.settings.verify:
            return None
        shown, evaluation = shown_legs(plan), evaluation_of([leg.plan for leg in plan.legs], proving=True)
        states = [leg.states for leg in solution.solution.planted.legs]
        seen, proving = (
            look_quantities(plan, shown),
            look(proof_quantities(plan), proof_frames(plan, states), evaluation=evaluation),
        )
        samples = yield from part_of(proving, 0, 2 if seen else 1)
        looked = (yield from part_of(look(seen, look_frames(plan), evaluation=evaluation), 1, 2)) if seen else None
        return Proof(samples, [visible_leg(leg, each, looked) for leg, each in zip(plan.legs, shown, strict=True)])

    def report(self, outcome: Outcome[PlantPlan, _Planted, Proof]) -> PlantReport | ClipsReport:
        """The report of all actions."""
        return report_of_clips(outcome, self.NAME)

    def judge(self, scene: Scene, done: Done[PlantPlan, _Planted, Proof]) -> PlantReport:
        """The report of one action."""
        plan, solved, earlier = done.plan, done.solution.solution, done.solution.earlier
        legs = zip(plan.legs, shown_legs(plan), strict=True)
        proof = done.proof or Proof(None, [visible_leg(leg, each, None) for leg, each in legs])
        report = plant_report(
            solved.footing,
            solved.planted,
            (solved.samples, proof),
            solved.keys,
            {},
            travel=solved.travel,
            root_motion=plan.settings.root_motion,
        )
        targets = done.solution.targets or [{}] * len(report.chains)
        chains = []
        for place, (chain, target) in enumerate(zip(report.chains, targets, strict=True)):
            contacts = []
            for contact in chain.contacts:
                first, last = np.searchsorted(plan.frames, (contact.first, contact.last)).tolist()
                stance = solved.found.story.stance_of(place, first, last)
                known = {"travel": stance.travel, "confidence": stance.confidence} if stance else {}
                contacts.append(replace(contact, **known))
            notes = [*chain.notes, *target.get("notes", ())]
            sole = solved.found.plan.feet[place].points.source
            chains.append(replace(chain, **{**target, "contacts": contacts, "notes": notes, "sole": sole}))
        soles = assumed_soles({foot.chain: foot.points for foot in solved.found.plan.feet})
        return replace(
            report,
            chains=chains,
            notes=[*report.notes, *solved.notes, *ground_ends(solved.found), *soles],
            held_ground=plan.contacts.held_ground,
            is_anew=earlier.is_anew,
            is_on_top=earlier.is_on_top,
        )


PLANT = PlantFeet()
