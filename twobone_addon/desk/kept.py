"""What stays of a request in the file, whichever door it came in by: reports of chains, planted stances, the chain shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..pipeline.plan.stored import ANIMATABLE, FLIPPED, StoredChain, stored_settings
from ..pipeline.report.reports import FORMAT
from ..said import Sentence, joined
from ..scene.blender_types import Context, Object
from ..scene.lookup import object_or_none
from .meant import Meant

NOT_VERIFIED = Sentence("not verified")


def keep(context: Context, request: Meant, report: Any, *, is_verified: bool = True) -> None:
    """Keep the report of a request that was carried out.

    The window manager has the report as JSON; each stored chain that was baked has its own, an armature what became of its
    planted feet, and the list shows the chain that the report is about.

    is_verified : whether the check that the report tells of was not skipped
    """
    from ..scene.restoring import write_animated_values

    # With a file before `--command`, none is in context.
    manager, document = context.blend_data.window_managers[0], report.to_json()
    manager.twobone_report = document
    if request.table.task == "audit":
        manager.twobone_audit = document  # In a property of its own, since the next bake replaces the usual one.
    if request.table.task == "plant":
        _keep_planted(report, report.says if is_verified else joined([report.says, NOT_VERIFIED], "; "))
    for keeper, chain in zip(request.keepers, report.chains if request.keepers else (), strict=True):
        stored = chain_kept(chain.armature, keeper)
        if stored is not None:
            _keep_on(stored, chain)
    shown = chain_kept(getattr(report, "armature", ""), getattr(report, "shown_chain", ""))
    if shown is not None:
        shown.id_data.twobone.active_index = shown.id_data.twobone.chains.find(shown.name)
    write_animated_values()


def chain_kept(armature: str, name: str) -> StoredChain | None:
    """The chain stored under a name on an armature; `None` if there is none."""
    owner = object_or_none(armature) if armature and name else None
    return owner.twobone.chains.get(name) if owner is not None else None


def keyed_settings(chain: StoredChain) -> set[str]:
    """The names of the settings that have F-Curves or drivers, which a bake reads at every frame."""
    from ..scene.keys.reading import is_animated

    return {name for name in ANIMATABLE if is_animated(chain.id_data, chain.path_from_id(name))}


def _keep_on(stored: StoredChain, chain: Any) -> None:
    # The baked pose is bent to the other side now, so the next bake must keep the pose's side rather than flip it back.
    settings = stored_settings(stored.id_data, stored, {})
    is_flipped = (settings.plane, settings.bend, settings.influence) == ("POSE", "NEGATIVE", 1.0) and not keyed_settings(stored)
    if is_flipped:
        stored.bend = "POSITIVE"
    # Without how long it took: a request leaves the same file each time.
    told = {name: value for name, value in chain.to_dict().items() if name != "seconds"}
    document = {**told, "said": [note.to_dict() for note in chain.notes], "version": FORMAT}
    stored.report = json.dumps({**document, FLIPPED: True} if is_flipped else document)


def _keep_planted(report: Any, says: Sentence) -> None:
    """Keep the sentence and all stances on the armature: those left as they are, those that slide, then the most moved ones."""
    document = json.loads(report.to_json())
    armature: Object | None = object_or_none(document.get("armature") or report.chains[0].armature)
    if armature is None:
        return
    contacts = _stances(document.get("chains", ()))
    length, is_seen = (report.lengths.leg, report.lengths.is_seen) if contacts else (0.0, bool)
    contacts.sort(key=lambda contact: (-contact["slide"] if is_seen(contact["slide"]) else 0.0, -contact["moved"]))
    contacts = _left(document.get("chains", ())) + contacts
    length = report.lengths.leg if contacts else 0.0
    armature.twobone.planted = json.dumps({"sentence": says.text(), "said": says.to_dict(), "contacts": contacts, "leg": length})


def _left(legs: Sequence[Any]) -> list[dict[str, Any]]:
    """The contacts that planting left as they are, and how far it would have moved them."""
    left = [{"chain": leg["chain"], **contact, "left": True} for leg in legs for contact in leg.get("left", ())]
    return sorted(left, key=lambda contact: -contact["moved"])


def _stances(legs: Sequence[Any]) -> list[dict[str, Any]]:
    from ..tasks.find_contacts.task import steps

    contacts = []
    for leg in legs:
        noted = leg.get("contacts", ())
        for first, last in steps((entry["first"], entry["last"]) for entry in noted):
            within = [entry for entry in noted if first <= entry["first"] <= last]
            sure = [entry["confidence"] for entry in within if entry["confidence"] is not None]
            contacts.append(
                {
                    "chain": leg["chain"],
                    "first": first,
                    "last": last,
                    "slide": max(entry["slide_between"] or entry["slide_after"] or 0.0 for entry in within),
                    "before": max(entry["slide_between_before"] for entry in within),
                    "moved": max(entry["moved"] or 0.0 for entry in within),
                    "confidence": min(sure) if sure else None,
                }
            )
    return contacts
