"""What finding contacts tells afterwards: JSON for machines, one line for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ...contacts.states import Contact
from ..report.statements import Translate, in_english
from ..report.units import Units


@dataclass(frozen=True, slots=True)
class ChainContacts:
    """The contacts of one limb."""

    chain: str
    """Name of the stored chain."""
    contacts: tuple[Contact, ...]
    kept: int
    """Frames that are as somebody has edited them by hand."""
    is_seen: bool
    """Whether what people see of the limb follows its bones now, which are what was looked at."""

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return self.is_seen

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        contacts = [[contact.first, contact.last, contact.point] for contact in self.contacts]
        return {"chain": self.chain, "contacts": contacts, "kept_frames": self.kept, "is_seen": self.is_seen}


@dataclass(frozen=True, slots=True)
class ContactReport:
    """The contacts of one armature, and the ground that they are on."""

    armature: str
    chains: Sequence[ChainContacts]
    ground: str
    """`AUTO`, `HEIGHT` or `OBJECT`."""
    ground_height: float | None
    """World units; `None` for an object."""
    ground_velocity: list[float]
    """World units a second, along the world's axes."""
    held_ground: str
    """Name of a ground that changes its shape over time, and was taken as it is at the current frame; empty otherwise."""
    frames: int
    frame_start: float
    frame_end: float
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    units: Units
    """Of the scene; not in the JSON, which has world units."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        own = {name: value for name, value in asdict(self).items() if name not in {"chains", "units"}}
        return {**own, "chains": [chain.to_dict() for chain in self.chains], "sentence": self.sentence()}

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        standing = [chain for chain in self.chains if chain.contacts]
        unseen = [not_seen(chain.chain, translate) for chain in self.chains if not chain.is_seen][:1]
        if not standing:
            return "; ".join([translate("No contacts found: no foot stands on the ground"), *unseen])
        count = sum(len(steps((each.first, each.last) for each in chain.contacts)) for chain in standing)
        parts = [_found(count, len(standing), translate)]
        parts += unseen
        speed = sum(part * part for part in self.ground_velocity) ** 0.5
        if speed:
            parts.append(translate("the ground moves at {speed} per second").format(speed=self.units.text(speed)))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground, translate))
        kept = sum(chain.kept for chain in self.chains)
        if kept:
            parts.append(translate("{count} frames kept as edited").format(count=kept))
        return "; ".join(parts)


def not_seen(chain: str, translate: Translate) -> str:
    """Which chain is not seen to do what its keys say."""
    return translate("what is seen of {chain} does not follow, use Switch to FK").format(chain=chain)


def taken_as_it_is(ground: str, translate: Translate) -> str:
    """That a ground changes its shape, which nobody looked at."""
    return translate("{ground} changes its shape, but was taken as it is at this frame").format(ground=ground)


def steps(contacts: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """First and last frame of each time on the ground, whichever points stand in it, of those of its contacts, in order."""
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
