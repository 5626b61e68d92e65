"""Read the keyed contact of a stored chain as states, and write it without changing frames outside the range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.curves.frames import NEAR_FRAME
from ..blender_types import Channel, FCurve, Object
from ..restoring import Edit, apply_edits, present_values
from ..versions import curve_bag, new_fcurve
from ..writer import on_failure
from .clearing import rewriting
from .destinations import open_destination
from .ledger import Ledger
from .reading import read_frames
from .replaced import FOUND, Writing, limb_name, noted, written_keys
from .tables import (
    HANDLES,
    INTERPOLATION,
    KEY_GENERATED,
    KEY_PLAIN,
    joined_keys,
    new_keys,
    put_keys,
    read_keys,
    some_keys,
)

GROUP = "Contacts"
"""Group of the contact curves in the action."""


def contact_path(chain: Any) -> str:
    """Data path of the contact of a stored chain."""
    return chain.path_from_id("contact")


def contact_curve(armature: Object, chain: Any) -> FCurve | None:
    """The curve of a stored chain's contact in the armature's present action; `None` without keys."""
    bag = curve_bag(armature)
    fcurve = bag.fcurves.find(contact_path(chain)) if bag else None
    return fcurve if fcurve is not None and fcurve.keyframe_points else None


def keyed_states(armature: Object, chain: Any, frames: Array) -> Codes:
    """Contact states `(F,)` at `frames` `(F,)`; without keys the present value of the property."""
    fcurve = contact_curve(armature, chain)
    if fcurve is None:
        return np.full(len(frames), chain.bl_rna.properties["contact"].enum_items[chain.contact].value)
    return np.array([round(fcurve.evaluate(frame)) for frame in frames.tolist()])


def keyed_by_hand(armature: Object, chain: Any, frames: Array) -> Mask:
    """Mask `(F,)` of `frames` `(F,)` whose preceding key was set by hand; false before the first key."""
    fcurve = contact_curve(armature, chain)
    if fcurve is None:
        return np.zeros(len(frames), bool)
    holding = np.searchsorted(read_frames(fcurve), frames + NEAR_FRAME, side="right") - 1
    ledger = Ledger.present(armature)
    by_hand = ledger.set_by_hand(fcurve) if ledger is not None else np.ones(len(fcurve.keyframe_points), bool)
    return (holding >= 0) & by_hand[np.maximum(holding, 0)]


def contact_changes(armature: Object, chain: Any) -> Array:
    """Ascending frames `(K,)` at which the keyed contact of a stored chain changes, including its first key."""
    fcurve = contact_curve(armature, chain)
    if fcurve is None:
        return np.empty(0)
    values = read_keys(fcurve)["co"][:, 1]
    return read_frames(fcurve)[np.concatenate([[True], np.diff(values) != 0.0])]


@dataclass(frozen=True, slots=True)
class ContactKeys:
    """The contact that a stored chain gets."""

    chain: Any
    states: Codes
    """`(F,)`, one at each frame."""
    by_hand: Mask
    """`(F,)`: where the keys are plain ones; the others are marked as generated."""


def write_contacts(armature: Object, frames: Array, contacts: Sequence[ContactKeys], *, task: str = FOUND) -> None:
    """Key the contacts at `frames` `(F,)`, constant, where the state or who set it changes.

    Outside the frames the contact stays as it was, if necessary by keys beside them.
    """
    ends, within = np.array([frames[0] - 1.0, frames[-1] + 1.0]), (float(frames[0]), float(frames[-1]))
    around = [keyed_states(armature, keys.chain, ends) for keys in contacts]
    present = [present_values(armature, [Channel(contact_path(keys.chain))]) for keys in contacts]
    with open_destination(armature, "ACTION", "", within) as (bag, made):
        ledger = Ledger.of(bag)
        for keys, beside, edits in zip(contacts, around, present, strict=True):
            _write_curve(armature, ledger, frames, keys, beside=beside, present=edits, task=task)
        ledger.made = ledger.made or made.kind
        ledger.save()


def _write_curve(
    armature: Object, ledger: Ledger, frames: Array, keys: ContactKeys, *, beside: Codes, present: list[Edit], task: str
) -> None:
    """Key one contact and note it in the ledger; `beside` `(2,)` is how it was before and after the frames."""
    bag, path, within = ledger.bag, contact_path(keys.chain), (float(frames[0]), float(frames[-1]))
    states, by_hand, (before, after) = keys.states, keys.by_hand, beside
    fcurve = bag.fcurves.find(path)
    is_new, fcurve = fcurve is None, fcurve or new_fcurve(bag, path, 0, GROUP)
    old = read_keys(fcurve)
    rewriting(fcurve, old)
    on_failure(partial(apply_edits, present if is_new else []))
    old_frames = old["co"][:, 0]
    outside = [some_keys(old, old_frames < frames[0] - NEAR_FRAME), some_keys(old, old_frames > frames[-1] + NEAR_FRAME)]
    changes = np.flatnonzero(np.concatenate([[True], (np.diff(states) != 0) | (np.diff(by_hand) != 0)]))
    fresh = new_keys(frames[changes], states[changes].astype(float), INTERPOLATION["CONSTANT"])
    fresh["type"][:, 0] = np.where(by_hand[changes], KEY_PLAIN, KEY_GENERATED)
    frames_after = outside[1]["co"][:, 0]
    has_next_key = bool(len(frames_after) and frames_after[0] <= frames[-1] + 1.0 + NEAR_FRAME)
    # Where no other curve has keys beyond the range, keys that hold the contact would only make the clip longer.
    keyed = [curve.range() for curve in bag.fcurves if curve.data_path != path and curve.keyframe_points]
    longer = any(low < frames[0] - NEAR_FRAME for low, _ in keyed), any(high > frames[-1] + NEAR_FRAME for _, high in keyed)
    sides = [
        _constant_key(frames[0] - 1.0, before, is_needed=longer[0] and before != states[0] and not len(outside[0]["co"])),
        _constant_key(frames[-1] + 1.0, after, is_needed=longer[1] and after != states[-1] and not has_next_key),
    ]
    new = joined_keys(sides[0], fresh, sides[1])
    table = joined_keys(outside[0], new, outside[1])
    fcurve.keyframe_points.clear()
    put_keys(fcurve, {name: values for name, values in table.items() if name not in HANDLES})
    fcurve.update()
    # Found contacts never start from earlier ones, so only the first layer needs keeping.
    value, limb = present[0].value if is_new and present else None, limb_name(armature.name, keys.chain.upper)
    writing = Writing((within,), written_keys(new), task, limb, value, is_again=True)
    ledger.channels[Channel(path)] = noted(ledger.channels.get(Channel(path)), old, writing)
    ledger.note_sets(armature, path, [path.replace(".contact", ".found_contacts")])


def _constant_key(frame: float, state: int, *, is_needed: bool) -> dict[str, Array]:
    keys = new_keys(np.array([frame]), np.array([float(state)]), INTERPOLATION["CONSTANT"])
    return some_keys(keys, slice(None) if is_needed else slice(0))
