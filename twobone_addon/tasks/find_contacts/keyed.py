"""Contacts as they are keyed on the chains of an armature, and what of that somebody has edited by hand."""

from __future__ import annotations

import json

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.contacts.states import Contact, ContactState, contacts_of_states, states_of_contacts
from ...pipeline.plan.completing import StoredChain
from ...scene.blender_types import Object
from ...scene.keys.contact_keys import contact_changes, contact_curve, keyed_by_hand, keyed_states, write_contact
from ...scene.keys.replaced import FOUND

SAME_FRAME = 0.01
"""Frames nearer than this are the same one."""


def is_keyed(armature: Object, chain: str) -> bool:
    """Whether the chain of that name is stored, and has keys for its contact in the present action."""
    stored = armature.twobone.chains.get(chain)
    return stored is not None and contact_curve(armature, stored) is not None


def states_on(armature: Object, chain: str, frames: Array) -> Codes:
    """States `(F,)` as they are keyed on the chain of that name; none where there is no such chain yet."""
    stored = armature.twobone.chains.get(chain)
    return np.zeros(len(frames), dtype=int) if stored is None else keyed_states(armature, stored, frames)


def write_states(
    armature: Object, chain: str, frames: Array, states: Codes, *, kept: Mask, found: Codes, task: str = FOUND
) -> None:
    """Key states `(F,)` on a stored chain: those that are `kept` as somebody's own. What was `found` is noted beside them."""
    stored = armature.twobone.chains[chain]
    write_contact(armature, stored, frames, states, kept, task=task)
    _note(armature, stored, frames, found)


def edited_by_hand(armature: Object, chain: str, frames: Array) -> Mask:
    """Where `(F,)` somebody has keyed the contact, or has moved, deleted or keyed over keys that were found."""
    stored = armature.twobone.chains.get(chain)
    if stored is None:
        return np.zeros(len(frames), dtype=bool)
    by_hand, noted = keyed_by_hand(armature, stored, frames), _noted(armature, stored)
    if not noted:
        return by_hand
    known = (frames >= noted["first"]) & (frames <= noted["last"])
    before = states_of_contacts([Contact(*contact) for contact in noted["contacts"]], frames)
    return by_hand | (known & (keyed_states(armature, stored, frames) != before))


def contact_frame(armature: Object, frame: float, *, forward: bool) -> float | None:
    """The next frame, or the one before, at which a contact of any chain begins, changes or ends; `None` without one."""
    changes = [contact_changes(armature, chain) for chain in armature.twobone.chains]
    found = np.unique(np.concatenate(changes)) if changes else np.empty(0)
    beyond = found[found > frame + SAME_FRAME] if forward else found[found < frame - SAME_FRAME][::-1]
    return float(beyond[0]) if len(beyond) else None


def _noted(armature: Object, chain: StoredChain) -> dict:
    """First and last frame, and contacts, as they were found last in the present action; empty where they never were."""
    noted = _all_noted(chain)
    # Files of earlier versions have one note, whatever the action.
    own = noted if "first" in noted else noted.get(_action_name(armature), {})
    try:
        contacts = [[float(first), float(last), str(point)] for first, last, point in own["contacts"]]
        legible = {"first": float(own["first"]), "last": float(own["last"]), "contacts": contacts}
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    numbers = [legible["first"], legible["last"], *(number for contact in contacts for number in contact[:2])]
    return (
        legible if np.all(np.isfinite(numbers)) and {contact[2] for contact in contacts} <= set(ContactState.__members__) else {}
    )


def _all_noted(chain: StoredChain) -> dict:
    """The notes of all actions; none where they are not legible, and then what is found next replaces them."""
    try:
        noted = json.loads(chain.found_contacts or "{}")
    except (ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _note(armature: Object, chain: StoredChain, frames: Array, states: Codes) -> None:
    """Keep what was found, to tell later what was edited; what was found before outside the frames stays noted."""
    first, last = float(frames[0]), float(frames[-1])
    contacts = [[contact.first, contact.last, contact.point] for contact in contacts_of_states(states, frames)]
    noted = _noted(armature, chain)
    if noted and noted["first"] <= last + 1.0 and noted["last"] >= first - 1.0:
        before = _cut(noted["contacts"], noted["first"], first - 1.0)
        contacts = [*before, *contacts, *_cut(noted["contacts"], last + 1.0, noted["last"])]
        first, last = min(first, noted["first"]), max(last, noted["last"])
    everywhere = _all_noted(chain)
    others = {} if "first" in everywhere else everywhere
    own = {"first": first, "last": last, "contacts": contacts}
    chain.found_contacts = json.dumps({**others, _action_name(armature): own})


def _action_name(armature: Object) -> str:
    data = armature.animation_data
    return data.action.name if data is not None and data.action is not None else ""


def _cut(contacts: list, first: float, last: float) -> list:
    """The contacts, or their parts, from `first` to `last`."""
    cut = [[max(start, first), min(end, last), point] for start, end, point in contacts]
    return [contact for contact in cut if contact[0] <= contact[1]]
