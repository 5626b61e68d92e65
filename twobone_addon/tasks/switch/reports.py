"""Reports of switched limbs: what was switched, over which frames, and how far it was seen to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ...pipeline.report.form import Told
from ...pipeline.report.reports import STATEMENTS, Report
from ...said import INFO, Sentence, Statement, joined


@dataclass(frozen=True, kw_only=True)
class SwitchReport(Told):
    """One switched limb."""

    TELLS: ClassVar[tuple[str, ...]] = ("sentence",)

    armature: str
    upper: str
    lower: str
    to: str
    """`FK` or `IK`."""
    visible_bone: str
    """Deforming bone in place of the lower bone; empty where there is none."""
    properties: list[str]
    """Data paths of the switches; empty where the limb was on the wanted side already."""
    owners: list[str]
    """Names of the data-blocks that have these properties, usually the armature."""
    values: list[float]
    """Values that these properties were set to."""
    keys: int
    """Number of keys; 0 where there is no animation, so that the properties were only set."""
    frame_start: float
    frame_end: float
    ranges: list[list[float]]
    """`[first, last]` frames of each part that was switched; elsewhere the limb was on the wanted side already."""
    baked: bool = False
    """Whether the motion was baked onto the side that the limb now follows."""
    max_moved: float | None = None
    """Largest visible movement of a joint, world units; `None` where no motion was baked or measured."""
    notes: list[Sentence] = field(default_factory=list)
    action: str = ""
    """Name of the action, where several were switched."""
    remarks: list[Statement] = field(default_factory=list)
    """Further statements for the status bar."""
    lacks_ik: bool = False
    """Whether the limb has no IK to be switched to, so that it stays as it is."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return all(remark.level == INFO for remark in self.remarks)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return bool(self.properties or self.baked)

    @property
    def says(self) -> Sentence:
        """What was switched, over which frames, and what needs the user's attention."""
        return joined([self.switched(), *self.remarks], "; ")

    @property
    def sentence(self) -> str:
        """The result in one sentence, in English."""
        return self.says.text()

    def line(self) -> str:
        """What the command line prints of the limb."""
        is_said = self.baked or not self.properties or any(remark.kind == "OWN_KEYS" for remark in self.remarks)
        kept = "" if is_said else f"; {STATEMENTS['OWN_KEYS']}"
        return f"{self.armature}: {self.upper} to {self.lower}: {self.sentence}{kept}"

    def switched(self, count: int = 1) -> Sentence:
        """What was switched, of this limb or of `count` limbs alike."""
        one_or_many, values = int(count > 1), {"side": self.to, "count": count}
        if self.lacks_ik:
            return Sentence(WITHOUT_IK[one_or_many], values)
        if not self.is_changed:
            return Sentence(ALREADY[one_or_many], values)
        if not self.keys:
            return Sentence(SET[one_or_many], values)
        if len(self.ranges) > 1:
            return Sentence(IN_PARTS[one_or_many], {**values, "frames": frames_in_words(self.ranges)})
        first, last = f"{self.frame_start:g}", f"{self.frame_end:g}"
        return Sentence(KEYED[one_or_many], {**values, "first": first, "last": last})


ALREADY = ("The limb is on {side} already", "{count} limbs are on {side} already")


WITHOUT_IK = ("1 limb has no IK and stays as it is", "{count} limbs have no IK and stay as they are")


SET = ("Switched to {side}", "{count} limbs switched to {side}")


IN_PARTS = ("Switched to {side} at frames {frames}", "{count} limbs switched to {side} at frames {frames}")


KEYED = (
    "Switched to {side}, keyed from {first} to {last}",
    "{count} limbs switched to {side}, keyed from {first} to {last}",
)
"""Templates for one limb, and for several."""


MEASURED = {"SEEN_TO_MOVE", "UNMOVED"}
"""Kinds of remarks that say how far the limb was seen to move; of several limbs, only the largest distance is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedLimbs(Report, SwitchReport):
    """The switched limbs: all of them together, under the names that each of `chains` has."""

    TELLS: ClassVar[tuple[str, ...]] = Report.TELLS
    SAYS_NOTES: ClassVar[bool] = False

    chains: Sequence[SwitchReport]
    """One for each limb."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing was refused or needs the user's attention."""
        return not self.refused and all(limb.is_as_asked for limb in self.chains)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return any(limb.is_changed for limb in self.chains)

    def lines(self) -> list[str]:
        """What the command line prints."""
        return [*(limb.line() for limb in self.chains), *(f"  {said.text()}" for said in self.notes)]

    @property
    def summary(self) -> Sentence:
        """What became of how many limbs, the largest movement, and what else needs attention."""
        if len(self.chains) == 1:
            return self.chains[0].says
        alike: dict[str, list[SwitchReport]] = {}
        # What was switched is said first.
        for limb in sorted(self.chains, key=lambda limb: not limb.is_changed):
            alike.setdefault(limb.switched().text(), []).append(limb)
        farthest = max(self.chains, key=lambda limb: limb.max_moved or 0.0, default=None)
        remarks = [remark for limb in self.chains for remark in limb.remarks if remark.kind not in MEASURED or limb is farthest]
        ordered = sorted(remarks, key=lambda remark: remark.level == INFO)
        once = {remark.text(): remark for remark in ordered}
        return joined([*(limbs[0].switched(len(limbs)) for limbs in alike.values()), *once.values()], "; ")


def frames_in_words(parts: Sequence[Sequence[float]]) -> str:
    """Text of ranges, such as `20-30, 45`."""
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in parts)
