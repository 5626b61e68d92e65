"""Find Contacts: find when the feet of a character stand, and key it on its chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contacts.states import contacts_of_states
from ...pipeline.clips import ClipsReport, report_of_clips
from ...pipeline.report.units import units_of
from ...pipeline.task import Done, Look, Outcome, Span, Task
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import contact_path
from ...scene.lookup import object_named
from ...scene.sampling.stepping import Steps
from ...scene.visible.skin import Skins
from ...scene.visible.visible_bone import shown_bone
from ...settings.contacts import ContactSettings
from ...settings.tasks import TABLES
from ..find_limbs.finding import store_limbs
from .judge import ChainContacts, ContactReport, assumed_soles, ground_ends
from .keyed import write_states
from .plan import ContactPlan, plan_contacts
from .solve import FoundContacts, solve_contacts


class FindContacts(Task[ContactSettings, ContactPlan, FoundContacts, None]):
    """Find when the feet of a character stand, and key it on its chains."""

    NAME = "find_contacts"
    TABLE = TABLES["find_contacts"]

    def plan(self, scene: Scene, settings: ContactSettings, active: Object | None, span: Span | None) -> ContactPlan:
        """Plan for the feet of one armature and their ground."""
        return plan_contacts(scene, settings, active, span)

    def solve(self, plan: ContactPlan, begun: Any, look: Look) -> Steps[FoundContacts]:
        """Sample the feet and find when they stand."""
        samples = yield from look(plan.quantities(), plan.frames, evaluation=plan.settings.evaluation)
        return solve_contacts(plan, samples)

    def store(self, scene: Scene, plan: ContactPlan) -> None:
        """Store the limbs that were found if the armature's list had no legs."""
        store_limbs(object_named(plan.armature), plan.legs.found)

    def paths(self, plan: ContactPlan, solution: FoundContacts) -> set[tuple[Object, str]]:
        """Data paths of the contacts of all chains."""
        armature = object_named(plan.armature)
        return {(armature, contact_path(armature.twobone.chains[foot.chain])) for foot in plan.feet}

    def write(self, scene: Scene, plan: ContactPlan, solution: FoundContacts, begun: Any) -> FoundContacts:
        """Key the contacts, but keep edits by hand if the settings say so."""
        armature = object_named(plan.armature)
        for foot, states, kept, found in zip(plan.feet, solution.to_key(), solution.kept(), solution.states, strict=True):
            write_states(armature, foot.chain, plan.frames, states, kept=kept, found=found)
        return solution

    def prove(self, plan: ContactPlan, solution: FoundContacts, look: Look) -> Steps[None]:
        """Measure nothing: the found contacts are what the feet do."""
        yield from ()

    def report(self, outcome: Outcome[ContactPlan, FoundContacts, None]) -> ContactReport | ClipsReport:
        """Report on the contacts of each action."""
        return report_of_clips(outcome, self.NAME)

    def judge(self, scene: Scene, done: Done[ContactPlan, FoundContacts, None]) -> ContactReport:
        """Report on the contacts of one action."""
        plan, found = done.plan, done.solution
        armature, skins = object_named(plan.armature), Skins()
        chains = []
        for place, (foot, states, kept) in enumerate(zip(plan.feet, found.to_key(), found.kept(), strict=True)):
            shown = shown_bone(armature, plan.legs.names[foot.chain], skins)
            contacts = contacts_of_states(states, plan.frames)
            stances = [found.story.stance_of(place, *np.searchsorted(plan.frames, (each.first, each.last))) for each in contacts]
            chains.append(
                ChainContacts(
                    chain=foot.chain,
                    contacts=contacts,
                    travel=[each.travel if each else None for each in stances],
                    confidence=[each.confidence if each else None for each in stances],
                    kept=int(np.count_nonzero(kept)),
                    is_seen=shown is None or shown.follows,
                    sole=found.plan.feet[place].points.source,
                )
            )
        return ContactReport(
            armature=plan.armature,
            chains=chains,
            ground=plan.settings.ground,
            ground_height=found.ground_height,
            ground_velocity=found.ground_velocity.tolist(),
            frames=len(plan.frames),
            frame_start=float(plan.frames[0]),
            frame_end=float(plan.frames[-1]),
            first_is_rest=found.story.has_rest_first,
            held_ground=plan.held_ground,
            seconds={},
            evaluation=found.evaluation,
            units=units_of(scene),
            task=self.NAME,
            notes=[
                *([plan.untold] if plan.untold else []),
                *ground_ends(found),
                *assumed_soles({foot.chain: foot.points for foot in found.plan.feet}),
            ],
        )


FIND_CONTACTS = FindContacts()
