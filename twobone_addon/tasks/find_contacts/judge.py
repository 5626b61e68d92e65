"""Report of finding contacts: JSON for machines, one line for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from ...core.contacts.points import FootPoints
from ...core.contacts.states import Contact
from ...pipeline.report.reports import headed
from ...pipeline.report.units import Units
from ...said import Sentence, Translate, in_english, note
from .solve import FoundContacts


@dataclass(frozen=True, slots=True)
class ChainContacts:
    """Contacts of one limb."""

    chain: str
    """Name of the stored chain."""
    contacts: tuple[Contact, ...]
    travel: list[float | None]
    """Distance that the foot travels over the ground in each contact, world units; `None` where you keyed it."""
    confidence: list[float | None]
    """How well the motion supports each contact, 0 to 1; `None` where you keyed it."""
    kept: int
    """Frames kept as edited by hand; `kept_frames` in the JSON."""
    is_seen: bool
    """Whether the visible limb follows the chain's bones; false, for example, while the rig is on IK."""
    sole: str
    """Source of the sole's position: `MESH`, `BONE`, `MOTION`, `SET` or `REST`."""

    @property
    def is_on_target(self) -> bool:
        """Whether nothing needs a person's attention."""
        return self.is_seen

    def to_dict(self) -> dict[str, object]:
        """The limb's contacts as in the JSON."""
        contacts = [[contact.first, contact.last, contact.point] for contact in self.contacts]
        own = {"chain": self.chain, "contacts": contacts, "travel": self.travel, "confidence": self.confidence}
        return {**own, "kept_frames": self.kept, "is_seen": self.is_seen, "sole": self.sole}


@dataclass(frozen=True, slots=True)
class ContactReport:
    """Contacts of one armature and the ground they are on."""

    armature: str
    chains: Sequence[ChainContacts]
    ground: str
    """`AUTO`, `HEIGHT` or `OBJECT`."""
    ground_height: float | None
    """Height of flat ground, world units; `None` for an object."""
    ground_velocity: list[float]
    """World units per second, along the world's axes."""
    first_is_rest: bool
    """Whether the first frame is a rest pose and was left out."""
    held_ground: str
    """Name of a ground object that deforms over time, if its shape at the current frame was used; otherwise empty."""
    frames: int
    frame_start: float
    frame_end: float
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    units: Units
    """Units of the scene; not in the JSON, which uses world units."""
    task: str = "find_contacts"
    """Kind of the report: `find_contacts`, `import_contacts` or `export_contacts`."""
    notes: Sequence[Sentence] = ()
    """Sentences for a person to read."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """The report as in the JSON."""
        own = {name: value for name, value in asdict(self).items() if name not in {"chains", "units", "task"}}
        chains, notes = [chain.to_dict() for chain in self.chains], [said.text() for said in self.notes]
        return headed(self.task, {**own, "chains": chains, "notes": notes, "sentence": self.sentence()})

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        standing = [chain for chain in self.chains if chain.contacts]
        unseen = [not_seen(chain.chain, translate) for chain in self.chains if not chain.is_seen][:1]
        if not standing:
            return "; ".join([translate("No contacts found: no foot is on the ground"), *unseen])
        count = sum(len(steps((each.first, each.last) for each in chain.contacts)) for chain in standing)
        parts = [_found(count, len(standing), translate)]
        parts += unseen
        speed = sum(part * part for part in self.ground_velocity) ** 0.5
        if speed:
            parts.append(translate("the ground moves at {speed} per second").format(speed=self.units.text(speed)))
        if self.first_is_rest:
            parts.append(translate("the first frame is a rest pose and was left out"))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground, translate))
        kept = sum(chain.kept for chain in self.chains)
        if kept:
            parts.append(translate("{count} frames kept as edited").format(count=kept))
        return "; ".join(parts)


def assumed_soles(points: Mapping[str, FootPoints]) -> list[Sentence]:
    """A note on soles whose position is assumed, from the contact points of the feet by chain; none if all are known."""
    assumed = [chain for chain, each in points.items() if each.source == "REST" and each.up.any()]
    if not assumed:
        return []
    return [
        note(
            "The soles of {chains} are assumed to be right below the ankles. Set Sole Height if they are not.",
            chains=", ".join(assumed),
        )
    ]


def ground_ends(found: FoundContacts) -> list[Sentence]:
    """A note on the feet under which a ground mesh ends, and the first frame; none if it is below all feet that stand."""
    off, plan = found.off_ground, found.plan
    if plan.surface is None or not off.any():
        return []
    return [
        note(
            'Ground "{ground}" ends under {chains}, first at frame {frame:g}. Make it larger, or set a height instead.',
            ground=plan.surface.name,
            chains=", ".join(foot.chain for foot, own in zip(plan.feet, off, strict=True) if own.any()),
            frame=float(plan.frames[off.any(axis=0).argmax()]),
        )
    ]


def not_seen(chain: str, translate: Translate) -> str:
    """Sentence for a chain that its visible limb does not follow."""
    return translate("{chain}: the visible limb does not follow. Use Switch to FK").format(chain=chain)


def taken_as_it_is(ground: str, translate: Translate) -> str:
    """Sentence for a ground that deforms, while only its shape at one frame was used."""
    return translate("{ground} deforms; its shape at this frame was used").format(ground=ground)


def steps(contacts: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """First and last frame of each stance, from those of its consecutive contacts, in order."""
    found: list[tuple[float, float]] = []
    for first, last in contacts:
        if found and first - found[-1][1] <= 1.0:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _found(count: int, chains: int, translate: Translate) -> str:
    if count == 1:
        return translate("1 contact on one chain")
    if chains == 1:
        return translate("{count} contacts on one chain").format(count=count)
    return translate("{count} contacts on {chains} chains").format(count=count, chains=chains)
