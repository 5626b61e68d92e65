"""The nudges of limbs, stored on the action with their keys, so that they follow the keys.

They are stored by slot and by the limb's upper bone; `Ledger.save` deletes those whose keys are gone or were
replaced by another task.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from ...core.nudges import Nudge
from ..blender_types import Action, CurveBag
from ..versions import slot_key
from ..writer import assign, unset

PROPERTY = "twobone_nudges"
"""Property of actions that stores the nudges."""


def nudges_of(bag: CurveBag | None, upper: str) -> list[Nudge]:
    """The nudges of the limb with this upper bone, by frame; none where the stored text is not legible."""
    of_slot = by_slot(bag.id_data, PROPERTY, dict).get(slot_key(bag), {}) if bag is not None else {}
    try:
        return [Nudge(**{**fields, "offset": tuple(map(float, fields["offset"]))}) for fields in of_slot.get(upper, ())]
    except (TypeError, KeyError, ValueError, AttributeError):
        return []


def keep_nudges(bag: CurveBag, upper: str, nudges: Sequence[Nudge]) -> None:
    """Store these as all nudges of a limb."""
    stored = by_slot(bag.id_data, PROPERTY, dict)
    of_slot = {**stored.get(slot_key(bag), {}), upper: [asdict(nudge) for nudge in nudges]}
    _store(bag, stored, of_slot)


def forget_nudges(bag: CurveBag, but: Collection[str]) -> None:
    """Delete the nudges of all limbs except those with the upper bones `but`."""
    if not getattr(bag.id_data, PROPERTY, ""):
        return
    stored = by_slot(bag.id_data, PROPERTY, dict)
    of_slot = stored.get(slot_key(bag), {})
    if any(upper not in but for upper in of_slot):
        _store(bag, stored, {upper: nudges for upper, nudges in of_slot.items() if upper in but})


def by_slot(action: Action, name: str, kind: type) -> dict[str, Any]:
    """What an action stores as JSON in a property by slot, each of one type; empty where that is not legible."""
    try:
        stored = json.loads(getattr(action, name, "") or "{}")
    except (ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) and all(isinstance(of_slot, kind) for of_slot in stored.values()) else {}


def _store(bag: CurveBag, stored: dict[str, Any], of_slot: dict[str, Any]) -> None:
    """Store an action's nudges, of which those of this slot are `of_slot`."""
    stored = {**stored, slot_key(bag): {upper: nudges for upper, nudges in of_slot.items() if nudges}}
    stored = {key: nudges for key, nudges in stored.items() if nudges}
    if stored:
        assign(bag.id_data, PROPERTY, json.dumps(stored))
    else:
        unset(bag.id_data, PROPERTY)
