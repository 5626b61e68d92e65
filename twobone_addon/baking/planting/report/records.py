"""What became of planted feet."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ...contacts.records import not_seen, steps, taken_as_it_is
from ...report.records import Visible
from ...report.statements import Translate, in_english
from ...report.units import Units
from . import wording


@dataclass(frozen=True, slots=True)
class Lengths:
    """How distances of a character are told: by its scene's units and its longest leg, world units."""

    units: Units
    leg: float

    def said(self, distance: float) -> str:
        """A distance in world units as text."""
        return self.units.said(distance, self.leg)

    def is_seen(self, distance: float) -> bool:
        """Whether the eye makes out a distance in world units."""
        return distance >= self.units.seen(self.leg)


@dataclass(frozen=True, slots=True)
class ContactReport:
    """One contact. Distances in world units."""

    first: float
    last: float
    point: str
    """`HEEL`, `BALL` or `BOTH`."""
    height: float
    """Of the pin, the lower one of two."""
    slide_before: float
    """Farthest that a point that stands was from its pin, at the frames."""
    slide_after: float | None
    """The same now; `None` without verification."""
    slide_between_before: float
    """As `slide_before`, at the quarters between the frames as well."""
    slide_between: float | None
    """As `slide_after`, at the quarters between the frames as well."""


@dataclass(frozen=True, slots=True)
class LegReport:
    """One leg."""

    armature: str
    chain: str
    upper: str
    lower: str
    tip: str
    frames: int
    frame_start: float
    frame_end: float
    keys: int
    channels: int
    contacts: list[ContactReport]
    skating_before: float
    """Share of the frames on the ground at which a point is lower than 5 % of the leg and faster than half a metre a second."""
    skating_after: float | None
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames on the ground that the leg does not reach."""
    penetration_before: float
    """Deepest that heel or ball are below the ground."""
    penetration_after: float | None
    knee_acceleration_before: float
    """Largest, radians per second squared."""
    knee_acceleration_after: float | None
    notes: list[str]
    visible: Visible | None = None
    """What people see where the lower bone is; `max_distance` is how far that is from where the leg ends."""

    target: str = ""
    """Where one is kept for work by hand, and likewise the `pole`."""
    pole: str = ""
    max_round_trip: float | None = None
    """Farthest that a bake with these brings a joint from where it is now, world units."""

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach and self.is_seen

    @property
    def is_seen(self) -> bool:
        """Whether what people see does what the keys say."""
        return self.visible is None or self.visible.follows

    @property
    def slide_before(self) -> float:
        """The largest slide before, between the frames as well; 0 without contacts."""
        return max((contact.slide_between_before for contact in self.contacts), default=0.0)

    @property
    def slide_now(self) -> float | None:
        """The largest slide now, between the frames as well; `None` without verification, and without contacts."""
        return max((contact.slide_between for contact in self.contacts if contact.slide_between is not None), default=None)


@dataclass(frozen=True, slots=True)
class RootReport:
    """What became of the root."""

    bone: str
    max_move: float
    """Farthest that it was moved, world units."""
    keys: int
    travel: list[float]
    """How much farther it goes along the world's axes, from the first frame to the last, as root motion."""
    root_motion: str = "KEEP"
    """What was wanted: `KEEP`, `ADD` or `REMOVE`."""

    def said(self, lengths: Lengths, translate: Translate) -> list[str]:
        """What became of it, where something did or was wanted."""
        along, parts = math.hypot(*self.travel[:2]), []
        if self.root_motion != "KEEP":
            distance = lengths.said(along) if along else ""
            parts.append(wording.root_motion(self.bone, distance, is_added=self.root_motion == "ADD", translate=translate))
        if self.max_move:
            parts.append(wording.moved(self.bone, lengths.said(self.max_move), translate))
        return parts


@dataclass(frozen=True, slots=True)
class PlantReport:
    """What became of all legs of a character."""

    chains: Sequence[LegReport]
    root: RootReport | None
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    notes: list[str]
    lengths: Lengths
    held_ground: str = ""
    """Name of a ground that changes its shape over time, and was taken as it is at the current frame; empty otherwise."""
    cycle_gap: float | None = None
    """How far a joint's last place is from that of the first pose, world units, where both poses were the same before.

    `None` where they were not, and without verification.
    """
    is_anew: bool = False
    """Whether an earlier planting was taken back first, since contacts or settings were others then."""
    is_on_top: bool = False
    """Whether contacts were others then, and that planting is still there."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        closes = self.cycle_gap is None or not self.lengths.is_seen(self.cycle_gap)
        return closes and not self.is_on_top and all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return _json(self, self.sentence())

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        standing = [chain for chain in self.chains if chain.contacts]
        seen = self._unseen(translate)
        if not standing:
            return "; ".join([wording.none_stands(translate, was_planted=self.is_anew), *seen])
        parts = [*self._planted(standing, translate), *seen]
        missed = [chain for chain in standing if chain.out_of_reach]
        if missed:
            parts.append(out_of_reach_from(missed[0].chain, missed[0].out_of_reach[0][0], translate))
        if self.cycle_gap is not None and self.lengths.is_seen(self.cycle_gap):
            opened = translate("the cycle's ends differ by up to {distance} now")
            parts.append(opened.format(distance=self.lengths.said(self.cycle_gap)))
        if self.is_on_top:
            parts.append(translate("on top of an earlier planting: contacts that were taken away stand until that is undone"))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground, translate))
        if self.root is not None:
            parts += self.root.said(self.lengths, translate)
        return "; ".join(parts)

    def _planted(self, standing: Sequence[LegReport], translate: Translate) -> list[str]:
        """How often feet stand, as Find Contacts counts it, and how far they slid and slide now; the latter if that is known."""
        contacts = [contact for chain in standing for contact in chain.contacts]
        count = sum(len(steps((each.first, each.last) for each in chain.contacts)) for chain in standing)
        then = max(chain.slide_before for chain in standing)
        now = max((chain.slide_now for chain in standing if chain.slide_now is not None), default=None)
        if not self.lengths.is_seen(then) and not self.lengths.is_seen(now or 0.0):
            return [wording.still_already(count, len(standing), translate)]
        planted = wording.planted(count, len(standing), translate)
        if now is None:
            return [planted]
        at_frames = max(contact.slide_after or 0.0 for contact in contacts)
        only_between = self.lengths.is_seen(now) and not self.lengths.is_seen(at_frames)
        before, after = self.lengths.said(then), self.lengths.said(now)
        if before == after:
            return [planted, wording.slide_as_before(after, only_between=only_between, translate=translate)]
        slid = wording.slid(once=count == 1, only_between=only_between, translate=translate)
        return [planted, slid.format(before=before, after=after)]

    def _unseen(self, translate: Translate) -> list[str]:
        """Which leg is not seen to do what its keys say; the first one is enough."""
        names = [chain.chain for chain in self.chains if not chain.is_seen]
        return [not_seen(name, translate) for name in names[:1]]


@dataclass(frozen=True, slots=True)
class ReachReport:
    """What one chain reaches, before and after the root was moved."""

    armature: str
    chain: str
    upper: str
    lower: str
    tip: str
    frames: int
    reached_before: int
    """Frames at which the target was within reach."""
    reached: int
    """The same now."""
    out_of_reach_before: list[list[float]]
    """`[first, last]` ranges of the other frames."""
    out_of_reach: list[list[float]]

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach


@dataclass(frozen=True, slots=True)
class RootFitReport:
    """What became of a root and of what its chains reach."""

    chains: Sequence[ReachReport]
    root: RootReport
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    notes: list[str]
    lengths: Lengths

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return _json(self, self.sentence())

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        parts = [wording.moved(self.root.bone, self.lengths.said(self.root.max_move), translate)]
        missed = next((chain for chain in self.chains if chain.out_of_reach), None)
        if missed is not None:
            parts.append(out_of_reach_from(missed.chain, missed.out_of_reach[0][0], translate))
        return "; ".join(parts)


def _json(report: PlantReport | RootFitReport, sentence: str) -> str:
    own = asdict(report)
    del own["lengths"]
    return json.dumps({**own, "sentence": sentence})


def missed_by(chain: LegReport | ReachReport, translate: Translate) -> str:
    """What a person should look at in a chain that is not on target."""
    if not chain.out_of_reach:
        return not_seen(chain.chain, translate)
    return out_of_reach_from(chain.chain, chain.out_of_reach[0][0], translate)


def out_of_reach_from(chain: str, frame: float, translate: Translate) -> str:
    """Which chain does not reach, and from when on."""
    return translate("{chain} is out of reach, first at frame {frame}").format(chain=chain, frame=f"{frame:g}")
