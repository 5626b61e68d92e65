"""Read and write the keyed contacts of chains, and tell which frames were edited by hand."""

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
"""Difference of frames below which they are the same."""


def is_keyed(armature: Object, chain: str) -> bool:
    """Whether the chain of that name is stored and has contact keys in the current action."""
    stored = armature.twobone.chains.get(chain)
    return stored is not None and contact_curve(armature, stored) is not None


def states_on(armature: Object, chain: str, frames: Array) -> Codes:
    """Keyed states `(F,)` of the chain of that name; no contact if there is no such chain yet."""
    stored = armature.twobone.chains.get(chain)
    return np.zeros(len(frames), dtype=int) if stored is None else keyed_states(armature, stored, frames)


def write_states(
    armature: Object, chain: str, frames: Array, states: Codes, *, kept: Mask, found: Codes, task: str = FOUND
) -> None:
    """Key states `(F,)` on a stored chain, those that are `kept` as edited by hand, and note what was `found` beside them."""
    stored = armature.twobone.chains[chain]
    write_contact(armature, stored, frames, states, kept, task=task)
    _note(armature, stored, frames, found)


def edited_by_hand(armature: Object, chain: str, frames: Array) -> Mask:
    """Mask `(F,)` of frames whose contact was keyed by hand, or where found keys were moved, deleted or overwritten."""
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
    """The next or previous frame at which a contact of any chain begins, changes or ends; `None` if there is none."""
    changes = [contact_changes(armature, chain) for chain in armature.twobone.chains]
    found = np.unique(np.concatenate(changes)) if changes else np.empty(0)
    beyond = found[found > frame + SAME_FRAME] if forward else found[found < frame - SAME_FRAME][::-1]
    return float(beyond[0]) if len(beyond) else None


def _noted(armature: Object, chain: StoredChain) -> dict:
    """First and last frame, and contacts, as last found in the current action; empty without a legible note."""
    noted = _all_noted(chain)
    # Files of earlier versions have one note for all actions.
    entry = noted if "first" in noted else noted.get(_action_name(armature), {})
    try:
        contacts = [[float(first), float(last), str(point)] for first, last, point in entry["contacts"]]
        legible = {"first": float(entry["first"]), "last": float(entry["last"]), "contacts": contacts}
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    numbers = [legible["first"], legible["last"], *(number for contact in contacts for number in contact[:2])]
    return (
        legible if np.all(np.isfinite(numbers)) and {contact[2] for contact in contacts} <= set(ContactState.__members__) else {}
    )


def _all_noted(chain: StoredChain) -> dict:
    """The notes of all actions; empty if they are illegible, and then the next ones replace them."""
    try:
        noted = json.loads(chain.found_contacts or "{}")
    except (ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _note(armature: Object, chain: StoredChain, frames: Array, states: Codes) -> None:
    """Note the found contacts, to detect edits later; earlier notes outside the frames are kept."""
    first, last = float(frames[0]), float(frames[-1])
    contacts = [[contact.first, contact.last, contact.point] for contact in contacts_of_states(states, frames)]
    noted = _noted(armature, chain)
    if noted and noted["first"] <= last + 1.0 and noted["last"] >= first - 1.0:
        before = _clipped(noted["contacts"], noted["first"], first - 1.0)
        contacts = [*before, *contacts, *_clipped(noted["contacts"], last + 1.0, noted["last"])]
        first, last = min(first, noted["first"]), max(last, noted["last"])
    all_noted = _all_noted(chain)
    others = {} if "first" in all_noted else all_noted
    entry = {"first": first, "last": last, "contacts": contacts}
    chain.found_contacts = json.dumps({**others, _action_name(armature): entry})


def _action_name(armature: Object) -> str:
    data = armature.animation_data
    return data.action.name if data is not None and data.action is not None else ""


def _clipped(contacts: list, first: float, last: float) -> list:
    """Contacts cut off at `first` and `last`."""
    clipped = [[max(start, first), min(end, last), point] for start, end, point in contacts]
    return [contact for contact in clipped if contact[0] <= contact[1]]
