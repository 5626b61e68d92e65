"""Find contacts: plan, sample, find, keep what was edited by hand, key, report."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Codes, Mask
from ...contacts.finding import find_states
from ...contacts.states import Contact, contacts_of_states, states_of_contacts
from ...contacts.thresholds import Thresholds
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import contact_path, keyed_by_hand, keyed_states, write_contact
from ...scene.lookup import object_named
from ...scene.sight.showing import shown_bone
from ...scene.sight.skin import Skins
from ...scene.walk.restoring import edits_kept
from ...scene.walk.stepping import Steps, at_once
from ...settings.contacts import ContactSettings
from ..motion.sampling import sample_steps
from ..plan.completing import StoredChain, names_of
from ..report.units import units_of
from ..stages import Stopwatch
from .motion import grounded_feet
from .planning import ContactPlan, plan_contacts
from .records import ChainContacts, ContactReport


@dataclass(frozen=True, slots=True)
class FoundContacts:
    """Contacts as they were found, before anything that was edited by hand counts."""

    plan: ContactPlan
    states: Codes
    """`(C, F)` of each chain of the plan, see `contacts.states`."""
    ground_height: float | None
    """Of a flat ground, world units; `None` for an object."""
    ground_velocity: Array
    """`(3,)` world units a second; on an object without the object's own motion."""
    evaluation: str | dict[str, str]


def find_contacts(scene: Scene, settings: ContactSettings, active: Object | None = None) -> ContactReport:
    """The same as `find_contacts_steps`, at once."""
    return at_once(find_contacts_steps(scene, settings, active))


def find_contacts_steps(scene: Scene, settings: ContactSettings, active: Object | None = None) -> Steps[ContactReport]:
    """Find when the feet of a character stand, and key it on its chains; raises a `TwoBoneError` before anything is changed."""
    watch = Stopwatch()
    with watch.stage("read"):
        plan = plan_contacts(scene, settings, active)
    with watch.stage("find"):
        found = yield from found_contacts_steps(scene, plan)
    with watch.stage("write"):
        chains = key_found(scene, found)
    return ContactReport(
        armature=plan.armature,
        chains=chains,
        ground=settings.ground,
        ground_height=found.ground_height,
        ground_velocity=found.ground_velocity.tolist(),
        frames=len(plan.frames),
        frame_start=float(plan.frames[0]),
        frame_end=float(plan.frames[-1]),
        held_ground=plan.held_ground,
        seconds=watch.seconds,
        evaluation=found.evaluation,
        units=units_of(scene),
    )


def found_contacts_steps(scene: Scene, plan: ContactPlan) -> Steps[FoundContacts]:
    """Find when the feet of a plan stand; changes nothing."""
    samples = yield from sample_steps(scene, plan.quantities(), plan.frames, evaluation=plan.settings.evaluation)
    grounded = grounded_feet(plan, samples)
    states = find_states(grounded.feet, thresholds_of(plan.settings))
    return FoundContacts(plan, states, grounded.height, grounded.velocity, samples.evaluation)


def thresholds_of(settings: ContactSettings) -> Thresholds:
    """What counts as standing."""
    return Thresholds(
        enter_speed=settings.enter_speed,
        leave_speed=settings.leave_speed,
        enter_height=settings.enter_height,
        leave_height=settings.leave_height,
        lift=settings.heel_lift,
        least_length=settings.min_contact,
        longest_gap=settings.max_gap,
    )


def key_found(scene: Scene, found: FoundContacts) -> list[ChainContacts]:
    """Key what was found, but keep what was edited by hand where that is wanted."""
    plan, armature = found.plan, object_named(found.plan.armature)
    chains = [armature.twobone.chains[foot.chain] for foot in plan.feet]
    made, skins = [], Skins()
    with edits_kept(scene, [armature], {(armature, contact_path(chain)) for chain in chains}):
        for chain, states in zip(chains, found.states, strict=True):
            kept = edited_by_hand(armature, chain, plan.frames) if plan.settings.keep else np.zeros(len(states), bool)
            merged = np.where(kept, keyed_states(armature, chain, plan.frames), states)
            write_contact(armature, chain, plan.frames, merged, kept)
            chain.found_contacts = _noted(chain, plan.frames, states)
            contacts = contacts_of_states(merged, plan.frames)
            shown = shown_bone(armature, names_of(chain), skins)
            made.append(ChainContacts(chain.name, contacts, int(np.count_nonzero(kept)), shown is None or shown.follows))
    return made


def edited_by_hand(armature: Object, chain: StoredChain, frames: Array) -> Mask:
    """Where `(F,)` somebody has keyed the contact, or has moved, deleted or keyed over keys that were found."""
    by_hand = keyed_by_hand(armature, chain, frames)
    if not chain.found_contacts:
        return by_hand
    noted = json.loads(chain.found_contacts)
    known = (frames >= noted["first"]) & (frames <= noted["last"])
    before = states_of_contacts([Contact(*contact) for contact in noted["contacts"]], frames)
    return by_hand | (known & (keyed_states(armature, chain, frames) != before))


def _noted(chain: StoredChain, frames: Array, states: Codes) -> str:
    """What was found, to tell later what was edited; what was found before outside the frames stays noted."""
    first, last = float(frames[0]), float(frames[-1])
    contacts = [[contact.first, contact.last, contact.point] for contact in contacts_of_states(states, frames)]
    if chain.found_contacts:
        noted = json.loads(chain.found_contacts)
        if noted["first"] <= last + 1.0 and noted["last"] >= first - 1.0:
            contacts = [
                *_cut(noted["contacts"], noted["first"], first - 1.0),
                *contacts,
                *_cut(noted["contacts"], last + 1.0, noted["last"]),
            ]
            first, last = min(first, noted["first"]), max(last, noted["last"])
    return json.dumps({"first": first, "last": last, "contacts": contacts})


def _cut(contacts: list, first: float, last: float) -> list:
    """The contacts, or their parts, from `first` to `last`."""
    cut = [[max(start, first), min(end, last), point] for start, end, point in contacts]
    return [contact for contact in cut if contact[0] <= contact[1]]
