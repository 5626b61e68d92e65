"""Find Contacts: find when the feet of a character stand, and key it on its chains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.contacts.states import contacts_of_states
from ...pipeline.chosen_actions import own_span
from ...pipeline.gate import refuse_unseen
from ...pipeline.proof import VisibleEnd, doubtful_poses, visible_end
from ...pipeline.report.units import units_of
from ...pipeline.story import Make, Sample, Story, Task, Write
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import contact_path
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Samples
from ...scene.visible.skin import Skins
from ...settings.contacts import ContactSettings
from ...settings.tasks import TABLES
from ..find_limbs import stored_limbs
from .judge import ChainContacts, ContactReport, assumed_soles, ground_ends
from .plan import ContactPlan, plan_contacts, write_states
from .solve import FoundContacts, solve_contacts


def find_contacts(scene: Scene, settings: ContactSettings, active: Object | None, own: OwnAction | None) -> Story[ContactReport]:
    """Find when the feet of a character stand, and key it on its chains."""
    plan = plan_contacts(scene, settings, active, own_span(own))
    within = float(plan.frames[0]), float(plan.frames[-1])
    refuse_unseen(scene, object_named(plan.armature), plan.legs.names.values(), within)
    return (yield from key_contacts(scene, plan))


def key_contacts(scene: Scene, plan: ContactPlan) -> Story[ContactReport]:
    """Sample the feet, find when they stand or take it from the plan, and key it, but keep edits by hand on request."""
    ends = visible_feet(plan)
    samples = yield Sample([*plan.quantities(), *doubtful_poses(ends.values())], plan.frames, plan.settings.evaluation)
    found, armature = solve_contacts(plan, samples), object_named(plan.armature)
    report = contact_report(scene, plan, found, samples=samples, ends=ends)
    yield Make(stored_limbs(armature, plan.legs.found))

    def write() -> None:
        for place, (foot, states, kept) in enumerate(zip(plan.feet, found.to_key(), found.kept(), strict=True)):
            own, stances = found.states[place], found.stances(place, found.states[place])
            write_states(armature, foot.chain, plan.frames, states, kept=kept, found=own, stances=stances)

    paths = [(armature, contact_path(armature.twobone.chains[foot.chain])) for foot in plan.feet]
    yield Write([], lambda: report, lambda: paths, write)
    return report


def visible_feet(plan: ContactPlan) -> dict[str, VisibleEnd]:
    """The visible end of each limb of which some bone deforms, by the name of its chain."""
    armature, skins = object_named(plan.armature), Skins()
    found = {foot.chain: visible_end(armature, plan.legs.names[foot.chain], foot.rest, skins) for foot in plan.feet}
    return {chain: end for chain, end in found.items() if end is not None}


def contact_report(
    scene: Scene, plan: ContactPlan, found: FoundContacts, *, samples: Samples, ends: Mapping[str, VisibleEnd]
) -> ContactReport:
    """Report on the contacts of one action."""
    unseen = {chain for chain, end in ends.items() if end.is_doubtful and end.apart(samples) is not None}
    chains = []
    for place, (foot, states, kept) in enumerate(zip(plan.feet, found.to_key(), found.kept(), strict=True)):
        contacts, stances = contacts_of_states(states, plan.frames), found.stances(place, states)
        chains.append(
            ChainContacts(
                chain=foot.chain,
                contacts=contacts,
                travel=[each.travel if each else None for each in stances],
                confidence=[each.confidence if each else None for each in stances],
                moved=[each.moved if each else None for each in stances],
                kept=int(np.count_nonzero(kept)),
                is_seen=foot.chain not in unseen,
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
        evaluation=found.evaluation,
        units=units_of(scene),
        notes=[
            *([plan.untold] if plan.untold else []),
            *ground_ends(found),
            *assumed_soles({foot.chain or foot.foot.bone: foot.points for foot in found.plan.feet}),
        ],
    )


FIND_CONTACTS = Task("find_contacts", TABLES["find_contacts"], find_contacts, ContactReport)
