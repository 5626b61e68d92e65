"""Records of the reports of Plant Feet and Fit Root, and their summary sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ....pipeline.report.reports import Visible, headed
from ....pipeline.report.units import Units
from ....said import Sentence, Translate, as_json, in_english
from ...find_contacts.judge import not_seen, steps, taken_as_it_is
from . import wording

MUCH_SLIDING = 0.4
"""Share of sliding low frames above which the sentence mentions it: a swing takes 40 % of a walk, and all of it may be low."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Formats distances of a character, by its scene's units and the length of its longest leg in world units."""

    units: Units
    leg: float

    def said(self, distance: float) -> str:
        """A distance in world units as text."""
        return self.units.said(distance, self.leg)

    def is_seen(self, distance: float) -> bool:
        """Whether a distance in world units is visible."""
        return distance >= self.units.seen(self.leg)


@dataclass(frozen=True, slots=True)
class ContactReport:
    """One contact. Distances in world units."""

    first: float
    last: float
    point: str
    """`HEEL`, `BALL` or `BOTH`."""
    height: float
    """Height of the pin; of two pins, that of the lower."""
    slide_before: float
    """Largest distance of a standing point from its pin before planting, at frames."""
    slide_after: float | None
    """Largest distance of a standing point from its pin after planting, at frames."""
    slide_between_before: float
    """As `slide_before`, at quarter frames too."""
    slide_between: float | None
    """As `slide_after`, at quarter frames too."""
    travel: float | None = None
    """Distance that the foot travelled over its ground during the contact, as found; `None` where you keyed it."""
    confidence: float | None = None
    """0 to 1: how well the motion supports the contact; `None` where you keyed it."""


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
    """Share of the frames on the ground at which a standing point is lower than 5 % of the leg and faster than half a metre
    a second, before planting."""
    skating_after: float | None
    """`skating_before` after planting."""
    skate_share_before: float
    """Share of the frames with a low ball, within 5.6 % of the leg above its lowest 2 %, at which it is faster than 0.56 legs a
    second, before planting. Independent of contacts; feet that swing low count as well."""
    skate_share_after: float | None
    """`skate_share_before` after planting."""
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames on the ground at which the leg does not reach."""
    penetration_before: float
    """Largest depth of heel or ball below the ground, before planting."""
    penetration_after: float | None
    """`penetration_before` after planting."""
    knee_acceleration_before: float
    """Largest angular acceleration of the knee before planting, radians per second squared."""
    knee_acceleration_after: float | None
    """`knee_acceleration_before` after planting."""
    notes: list[Sentence]
    visible: Visible | None = None
    """The visible bone of the leg; its `max_distance` is from the end of the leg."""

    sole: str = "REST"
    """Source of the sole's position: `MESH`, `BONE`, `MOTION`, `SET` or `REST`."""
    target: str = ""
    """With Keep Targets: name of the target; empty otherwise."""
    pole: str = ""
    """With Keep Targets: name of the pole; empty otherwise."""
    max_round_trip: float | None = None
    """Largest distance by which baking with target and pole moves a joint, world units."""
    max_stretch: float = 1.0
    """Largest factor by which the leg is scaled to reach, if its Reach is Stretch."""

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach and self.is_seen

    @property
    def is_seen(self) -> bool:
        """Whether the visible bone follows the leg."""
        return self.visible is None or self.visible.follows

    @property
    def slide_before(self) -> float:
        """Largest slide before planting, between frames as well; 0 without contacts."""
        return max((contact.slide_between_before for contact in self.contacts), default=0.0)

    @property
    def slide_now(self) -> float | None:
        """Largest slide after planting, between frames as well; `None` without verification or contacts."""
        return max((contact.slide_between for contact in self.contacts if contact.slide_between is not None), default=None)


@dataclass(frozen=True, slots=True)
class RootReport:
    """The root and its moves."""

    bone: str
    max_move: float
    """Largest move, world units."""
    keys: int
    travel: list[float]
    """Added root motion from the first frame to the last, along the world's axes."""
    root_motion: str = "KEEP"
    """The setting: `KEEP`, `ADD` or `REMOVE`."""
    least_move: float | None = None
    """Largest move that standing feet require, with legs at full length and in the shortest direction; `None` for Fit Root."""

    def said(self, lengths: Lengths, translate: Translate) -> list[str]:
        """Parts of the sentence about root motion, if requested, and moves, if any."""
        along, parts = math.hypot(*self.travel[:2]), []
        if self.root_motion != "KEEP":
            distance = lengths.said(along) if along else ""
            parts.append(wording.root_motion(self.bone, distance, is_added=self.root_motion == "ADD", translate=translate))
        if self.max_move:
            parts.append(wording.moved(self.bone, lengths.said(self.max_move), translate))
        return parts


@dataclass(frozen=True, slots=True)
class PlantReport:
    """All legs of a character."""

    chains: Sequence[LegReport]
    root: RootReport | None
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    notes: list[Sentence]
    lengths: Lengths
    skate_share_before: float
    """Skate share of all chains together before planting."""
    skate_share_after: float | None
    """Skate share of all chains together after planting."""
    held_ground: str = ""
    """Name of a ground that deforms over time, whose shape at the current frame was used; empty otherwise."""
    cycle_gap: float | None = None
    """Largest distance of a joint at the last frame from its place at the first, world units; `None` also where the two poses
    differed before."""
    is_anew: bool = False
    """Whether an earlier planting was removed first, because contacts or settings have changed."""
    is_on_top: bool = False
    """Whether contacts have changed and the earlier planting could not be removed."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        closes = self.cycle_gap is None or not self.lengths.is_seen(self.cycle_gap)
        return closes and not self.is_on_top and all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return _json("plant", self)

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people; what makes the rest pointless comes first."""
        standing = [chain for chain in self.chains if chain.contacts]
        seen = self._unseen(translate)
        if not standing:
            return "; ".join([*seen, wording.none_stands(translate, was_planted=self.is_anew)])
        parts = [*seen, *self._planted(standing, translate)]
        missed = [chain for chain in standing if chain.out_of_reach]
        if missed:
            parts.append(out_of_reach_from(missed[0].chain, missed[0].out_of_reach[0][0], translate))
        if self.cycle_gap is not None and self.lengths.is_seen(self.cycle_gap):
            opened = translate("the cycle no longer closes (gap {distance})")
            parts.append(opened.format(distance=self.lengths.said(self.cycle_gap)))
        if self.skate_share_after is not None and self.skate_share_after > MUCH_SLIDING:
            still = translate("{share} of low frames still slide: see Audit, or give contacts")
            parts.append(still.format(share=f"{self.skate_share_after:.0%}"))
        if self.is_on_top:
            parts.append(translate("earlier planting kept: removed contacts stay planted until you undo it"))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground, translate))
        if self.root is not None:
            parts += self.root.said(self.lengths, translate)
        stretch = max(chain.max_stretch for chain in self.chains)
        if stretch > 1.0:
            parts.append(wording.stretched(stretch, translate))
        return "; ".join(parts)

    def _planted(self, standing: Sequence[LegReport], translate: Translate) -> list[str]:
        """Parts of the sentence: number of contacts, counted as in Find Contacts, and slide before and, if measured, after."""
        contacts = [contact for chain in standing for contact in chain.contacts]
        count = sum(len(steps((each.first, each.last) for each in chain.contacts)) for chain in standing)
        then = max(chain.slide_before for chain in standing)
        now = max((chain.slide_now for chain in standing if chain.slide_now is not None), default=None)
        if not self.lengths.is_seen(then) and not self.lengths.is_seen(now or 0.0):
            return [wording.still_already(count, len(standing), translate)]
        wording_of = wording.planted if self._has_keys else wording.still_already
        planted = wording_of(count, len(standing), translate)
        if now is None:
            return [planted]
        at_frames = max(contact.slide_after or 0.0 for contact in contacts)
        only_between = self.lengths.is_seen(now) and not self.lengths.is_seen(at_frames)
        before, after = self.lengths.said(then), self.lengths.said(now)
        if before == after:
            return [planted, wording.slide_as_before(after, only_between=only_between, translate=translate)]
        slid = wording.slid(only_between=only_between, translate=translate)
        return [planted, slid.format(before=before, after=after)]

    @property
    def _has_keys(self) -> bool:
        return any(chain.keys for chain in self.chains) or (self.root is not None and self.root.keys > 0)

    def _unseen(self, translate: Translate) -> list[str]:
        """Part of the sentence about the first leg whose visible bone does not follow it, if any."""
        names = [chain.chain for chain in self.chains if not chain.is_seen]
        return [not_seen(name, translate) for name in names[:1]]


@dataclass(frozen=True, slots=True)
class ReachReport:
    """Reach of one chain before and after fitting the root."""

    armature: str
    chain: str
    upper: str
    lower: str
    tip: str
    frames: int
    reached_before: int
    """Number of frames at which the target was in reach before."""
    reached: int
    """Number of frames at which the target is in reach now."""
    out_of_reach_before: list[list[float]]
    """`[first, last]` ranges of frames at which the target was out of reach before."""
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames at which the target is out of reach now."""

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach


@dataclass(frozen=True, slots=True)
class RootFitReport:
    """The root, and the reach of its chains."""

    chains: Sequence[ReachReport]
    root: RootReport
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    notes: list[Sentence]
    lengths: Lengths

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(chain.is_on_target for chain in self.chains)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return _json("fit_root", self)

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        parts = [wording.moved(self.root.bone, self.lengths.said(self.root.max_move), translate)]
        missed = next((chain for chain in self.chains if chain.out_of_reach), None)
        if missed is not None:
            parts.append(out_of_reach_from(missed.chain, missed.out_of_reach[0][0], translate))
        return "; ".join(parts)


def _json(kind: str, report: PlantReport | RootFitReport) -> str:
    values = asdict(report, dict_factory=as_json)
    del values["lengths"]
    return json.dumps(headed(kind, {**values, "sentence": report.sentence()}))


def missed_by(chain: LegReport | ReachReport, translate: Translate) -> str:
    """Sentence about the problem of a chain that is not on target."""
    if not chain.out_of_reach:
        return not_seen(chain.chain, translate)
    return out_of_reach_from(chain.chain, chain.out_of_reach[0][0], translate)


def out_of_reach_from(chain: str, frame: float, translate: Translate) -> str:
    """Sentence about a chain that does not reach, and its first such frame."""
    return translate("{chain} is out of reach, first at frame {frame}").format(chain=chain, frame=f"{frame:g}")
