"""Reports of planted feet and fitted roots: their records and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ....core.audit import HUMAN_LEGS
from ....pipeline.report.reports import ClipReport, Visible, skipped_chains
from ....pipeline.report.units import Units, digits
from ....records import replace
from ....said import Sentence, joined
from ...find_contacts.task import not_seen, steps, taken_as_it_is
from ..pose.standing import LeftContact

MUCH_SLIDING = 0.4
"""Share of sliding low frames above which the sentence mentions it: a swing takes 40 % of a walk, and all of it may be low."""

OFF_FLOOR = 0.01
"""Leg lengths from which on a foot that stands above or below the floor is named: 9 mm of a leg of 0.9 m."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Formats distances of a character, by its scene's units and the length of its longest leg in world units."""

    units: Units
    leg: float

    def said(self, distance: float) -> str:
        """A distance in world units as text; where legs are no human's in these units, with its part of the leg as well."""
        text = self.units.said(distance, self.leg)
        is_human = self.units.system != "NONE" and HUMAN_LEGS[0] <= self.leg * self.units.scale <= HUMAN_LEGS[1]
        return text if is_human or not self.is_seen(distance) else f"{text} ({digits(100.0 * distance / self.leg)} % of the leg)"

    def is_seen(self, distance: float) -> bool:
        """Whether a distance in world units is visible."""
        return distance >= self.units.seen(self.leg)


@dataclass(frozen=True, slots=True)
class PlantedContact:
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
    moved: float | None = None
    """Largest distance of a standing point from its place before planting, at frames: the size of the repair."""
    travel: float | None = None
    """Distance that the foot travelled over its ground during the contact, as found; `None` where you keyed it."""
    confidence: float | None = None
    """0 to 1: how well the motion supports the contact; `None` where you keyed it."""


@dataclass(frozen=True, slots=True)
class SlidingContact:
    """A contact in which the foot slides more than before planting. Distances in world units."""

    first: float
    last: float
    before: float
    """Largest distance of a standing point from its place at the first frame of the contact, before planting."""
    after: float
    """The same after planting."""


@dataclass(frozen=True, slots=True)
class PartlyPlanted:
    """A contact of which planting holds only a part, while the foot slides over the whole as Audit measures it."""

    first: float
    last: float
    slide: float
    """Distance, world units, that a standing point still slides: mean of its last third from that of its first."""


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
    contacts: list[PlantedContact]
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
    ball_acceleration_before: float
    """Largest acceleration of the ball of the foot over steps of a thirtieth of a second, world units per second squared, before
    planting."""
    ball_acceleration_after: float | None
    """`ball_acceleration_before` after planting."""
    foot_turned: float | None
    """Largest angle in radians between the foot, from heel to ball, and the foot before planting."""
    max_departure: float | None
    """Largest distance of heel or ball from its place before planting, world units, at all frames."""
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
    over_floor: float | None = None
    """Height of the standing sole over the floor on which the character stands at rest, where it is farthest from it, world
    units; below it is negative. `None` where the ground is given, or feet stand at many heights."""
    left: list[LeftContact] = field(default_factory=list)
    """Contacts left as they are: planting would move the foot by more than Maximum Repair, or the foot shuffles."""
    slid_more: Sequence[SlidingContact] = ()
    """Contacts in which the foot slides more than before."""
    partly: Sequence[PartlyPlanted] = ()
    """Contacts that are held only in part, and over which the foot still slides by more than Audit accepts."""

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach and not self.slid_more and self.is_seen

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

    def said(self, lengths: Lengths) -> list[Sentence]:
        """Parts of the sentence about root motion, if requested, and moves, if any."""
        along, parts = math.hypot(*self.travel[:2]), []
        if self.root_motion != "KEEP":
            distance = lengths.said(along) if along else ""
            parts.append(root_motion(self.bone, distance, is_added=self.root_motion == "ADD"))
        if self.max_move:
            parts.append(moved(self.bone, lengths.said(self.max_move)))
        return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantReport(ClipReport):
    """All legs of a character."""

    SAYS_NOTES: ClassVar[bool] = False
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"lengths", "still_skates"})

    chains: list[LegReport]
    root: RootReport | None
    lengths: Lengths
    skate_share_before: float
    """Skate share of all chains together before planting."""
    skate_share_after: float | None
    """Skate share of all chains together after planting."""
    still_skates: bool = False
    """Whether Audit finds that any of them skates after planting; not in the JSON."""
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

    @property
    def summary(self) -> Sentence:
        """One line for people; what makes the rest pointless comes first."""
        standing = [chain for chain in self.chains if chain.contacts]
        parts = [not_seen(chain.chain) for chain in self.chains if not chain.is_seen][:1]
        if standing:
            parts += self._planted(standing)
        else:
            nothing = "No contacts left; the earlier planting was removed"
            parts.append(Sentence(nothing if self.is_anew else "No foot contacts found; nothing was changed"))
        parts += self._slid_more()
        parts += self._left()
        parts += self._partly()
        parts += self._off_floor()
        missed = [chain for chain in standing if chain.out_of_reach]
        if missed:
            parts.append(out_of_reach_from(missed[0].chain, missed[0].out_of_reach[0][0]))
        if not standing:
            return joined(parts, "; ")
        if self.cycle_gap is not None and self.lengths.is_seen(self.cycle_gap):
            gap = {"distance": self.lengths.said(self.cycle_gap)}
            parts.append(Sentence("the cycle no longer closes (gap {distance})", gap))
        if self.still_skates and self.skate_share_after is not None and self.skate_share_after > MUCH_SLIDING:
            share = {"share": f"{self.skate_share_after:.0%}"}
            parts.append(Sentence("{share} of low frames still move: give contacts if feet stand there", share))
        if self.is_on_top:
            parts.append(Sentence("earlier planting kept: removed contacts stay planted until you undo it"))
        if self.held_ground:
            parts.append(taken_as_it_is(self.held_ground))
        if self.root is not None:
            parts += self.root.said(self.lengths)
        stretch = max(chain.max_stretch for chain in self.chains)
        if stretch > 1.0:
            parts.append(stretched(stretch))
        return joined(parts, "; ")

    def _slid_more(self) -> list[Sentence]:
        """Part of the sentence about the contact that became worst, if any slides more than before."""
        worse = [(contact.after - contact.before, contact, chain.chain) for chain in self.chains for contact in chain.slid_more]
        if not worse:
            return []
        _, contact, name = max(worse, key=lambda entry: entry[0])
        values = {
            "count": sum(len(steps((slid.first, slid.last) for slid in chain.slid_more)) for chain in self.chains),
            "chain": name,
            "first": f"{contact.first:g}",
            "last": f"{contact.last:g}",
            "before": self.lengths.said(contact.before),
            "after": self.lengths.said(contact.after),
        }
        said = "contacts that slide more than before: {count}; {chain} at frames {first}-{last} by {after}, {before} before"
        return [Sentence(said, values)]

    def _left(self) -> list[Sentence]:
        """Parts of the sentence about contacts left as they are, if any; those that were given are named one by one."""
        contacts = [(contact, chain.chain) for chain in self.chains for contact in chain.left]
        parts, left = [], [(contact.moved, contact.first, name) for contact, name in contacts if not contact.is_given]
        if left:
            farthest, frame, name = max(left)
            said = "contacts left as they are: {count}; planting would move {chain} by {distance} at frame {frame}"
            values = {"count": len(left), "distance": self.lengths.said(farthest), "chain": name, "frame": f"{frame:g}"}
            parts.append(Sentence(said, values))
        for contact, name in contacts:
            if contact.is_given:
                said = "{chain} at frames {first}-{last} left as it is: planting would move it by {distance}"
                values = {
                    "first": f"{contact.first:g}",
                    "last": f"{contact.last:g}",
                    "distance": self.lengths.said(contact.moved),
                }
                parts.append(Sentence(said, {"chain": name, **values}))
        return parts

    def _off_floor(self) -> list[Sentence]:
        """Parts of the sentence about feet that stand above or below the floor of the rest pose."""
        parts = []
        for chain in self.chains:
            off = chain.over_floor
            if off is not None and abs(off) > OFF_FLOOR * self.lengths.leg:
                above = "{chain} stands {distance} above the floor of the rest pose: set Ground to Height"
                below = "{chain} stands {distance} below the floor of the rest pose: set Ground to Height"
                values = {"chain": chain.chain, "distance": self.lengths.said(abs(off))}
                parts.append(Sentence(above if off > 0.0 else below, values))
        return parts

    def _partly(self) -> list[Sentence]:
        """Part of the sentence about contacts that are held only in part, if any."""
        partly = [(contact.slide, contact, chain.chain) for chain in self.chains for contact in chain.partly]
        if not partly:
            return []
        _, contact, name = max(partly, key=lambda entry: entry[0])
        values = {
            "count": len(partly),
            "chain": name,
            "first": f"{contact.first:g}",
            "last": f"{contact.last:g}",
            "distance": self.lengths.said(contact.slide),
        }
        said = "contacts planted only in part: {count}; {chain} still slides by {distance} at frames {first}-{last}"
        return [Sentence(said, values)]

    def _planted(self, standing: Sequence[LegReport]) -> list[Sentence]:
        """Parts of the sentence: number of contacts, counted as in Find Contacts, and slide before and, if measured, after."""
        contacts = [contact for chain in standing for contact in chain.contacts]
        count = sum(len(steps((contact.first, contact.last) for contact in chain.contacts)) for chain in standing)
        then = max(chain.slide_before for chain in standing)
        now = max((chain.slide_now for chain in standing if chain.slide_now is not None), default=None)
        if not self.lengths.is_seen(then) and not self.lengths.is_seen(now or 0.0):
            return [still_already(count, len(standing))]
        has_keys = any(chain.keys for chain in self.chains) or (self.root is not None and self.root.keys > 0)
        said = (planted if has_keys else still_already)(count, len(standing))
        if now is None:
            return [said]
        at_frames = max(contact.slide_after or 0.0 for contact in contacts)
        only_between = self.lengths.is_seen(now) and not self.lengths.is_seen(at_frames)
        before, after = self.lengths.said(then), self.lengths.said(now)
        if before == after:
            as_before = "sliding by up to {distance}, as before"
            if only_between:
                as_before = "sliding by up to {distance} between frames, as before"
            return [said, Sentence(as_before, {"distance": after})]
        slid = Sentence("slide was up to {before}, now {after}", {"before": before, "after": after})
        if only_between:
            slid = replace(slid, template="slide was up to {before}, now {after} between frames")
        return [said, slid]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RootFitReport(ClipReport):
    """The root, and the reach of its chains."""

    SAYS_NOTES: ClassVar[bool] = False
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"lengths"})

    chains: list[ReachReport]
    root: RootReport
    lengths: Lengths
    skipped: list[str] = field(default_factory=list)
    """Names of enabled chains that have never had a target."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(chain.is_on_target for chain in self.chains)

    @property
    def summary(self) -> Sentence:
        """One line for people."""
        parts = [moved(self.root.bone, self.lengths.said(self.root.max_move))]
        missed = next((chain for chain in self.chains if chain.out_of_reach), None)
        if missed is not None:
            parts.append(out_of_reach_from(missed.chain, missed.out_of_reach[0][0]))
        return joined([*parts, *skipped_chains(self.skipped)], "; ")


def missed_by(chain: LegReport | ReachReport) -> Sentence:
    """Sentence about the problem of a chain that is not on target."""
    if chain.out_of_reach:
        return out_of_reach_from(chain.chain, chain.out_of_reach[0][0])
    if isinstance(chain, LegReport) and chain.slid_more:
        values = {"chain": chain.chain, "frame": f"{chain.slid_more[0].first:g}"}
        return Sentence("{chain} slides more than before, first at frame {frame}", values)
    return not_seen(chain.chain)


def out_of_reach_from(chain: str, frame: float) -> Sentence:
    """Sentence about a chain that does not reach, and its first such frame."""
    return Sentence("{chain} is out of reach, first at frame {frame}", {"chain": chain, "frame": f"{frame:g}"})


def planted(contacts: int, feet: int) -> Sentence:
    """Number of contacts planted."""
    if contacts == 1:
        return Sentence("1 contact planted")
    if feet == 1:
        return Sentence("{contacts} contacts of one foot planted", {"contacts": contacts})
    return Sentence("{contacts} contacts of {chains} feet planted", {"contacts": contacts, "chains": feet})


def still_already(contacts: int, feet: int) -> Sentence:
    """Number of contacts that were planted already."""
    if contacts == 1:
        return Sentence("1 contact was already planted")
    if feet == 1:
        return Sentence("{contacts} contacts on one foot were already planted", {"contacts": contacts})
    return Sentence("{contacts} contacts on {chains} feet were already planted", {"contacts": contacts, "chains": feet})


def root_motion(bone: str, distance: str, *, is_added: bool) -> Sentence:
    """Root motion added or removed; an empty distance if there was none."""
    if not distance:
        return Sentence("no root motion to add") if is_added else Sentence("no root motion to remove")
    if is_added:
        return Sentence("root motion of {distance} added to {bone}", {"distance": distance, "bone": bone})
    return Sentence("root motion of {distance} removed from {bone}", {"distance": distance, "bone": bone})


def stretched(factor: float) -> Sentence:
    """Largest factor by which legs are scaled, as what they gain."""
    return Sentence("legs stretched by up to {percent:.2g} %", {"percent": 100.0 * (factor - 1.0)})


def moved(bone: str, distance: str) -> Sentence:
    """Largest move of the root that lets legs reach."""
    return Sentence("{bone} moved by up to {distance}", {"bone": bone, "distance": distance})
