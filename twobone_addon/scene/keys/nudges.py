"""The nudges that limbs have, kept with the action whose keys hold them: they go where the keys go.

They are told by the slot and by the limb's upper bone, beside what the keys have replaced; see `replaced.Ledger.save`, which
forgets those whose keys are gone, or are another task's by now.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from ...core.nudges import Nudge
from ..blender_types import CurveBag
from ..versions import slot_key

PROPERTY = "twobone_nudges"
"""Of actions."""


def nudges_of(bag: CurveBag | None, upper: str) -> list[Nudge]:
    """The nudges of the limb with this upper bone, by frame; none where what is kept is not legible."""
    kept = _kept(bag).get(slot_key(bag), {}) if bag is not None else {}
    try:
        return [Nudge(**{**each, "offset": tuple(map(float, each["offset"]))}) for each in kept.get(upper, ())]
    except (TypeError, KeyError, ValueError, AttributeError):
        return []


def keep_nudges(bag: CurveBag, upper: str, nudges: Sequence[Nudge]) -> None:
    """Keep these as all nudges of a limb."""
    kept = _kept(bag)
    own = {**kept.get(slot_key(bag), {}), upper: [asdict(each) for each in nudges]}
    _keep(bag, kept, own)


def forget_nudges(bag: CurveBag, but: Collection[str]) -> None:
    """Forget those of all limbs but of those with these upper bones."""
    if not getattr(bag.id_data, PROPERTY, ""):
        return
    kept = _kept(bag)
    own = kept.get(slot_key(bag), {})
    if any(upper not in but for upper in own):
        _keep(bag, kept, {upper: nudges for upper, nudges in own.items() if upper in but})


def _kept(bag: CurveBag) -> dict[str, Any]:
    try:
        kept = json.loads(getattr(bag.id_data, PROPERTY, "") or "{}")
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) and all(isinstance(own, dict) for own in kept.values()) else {}


def _keep(bag: CurveBag, kept: dict[str, Any], own: dict[str, Any]) -> None:
    """Set what an action keeps, in which this slot has its `own`."""
    kept = {**kept, slot_key(bag): {upper: nudges for upper, nudges in own.items() if nudges}}
    kept = {key: nudges for key, nudges in kept.items() if nudges}
    if kept:
        setattr(bag.id_data, PROPERTY, json.dumps(kept))
    else:
        bag.id_data.property_unset(PROPERTY)
