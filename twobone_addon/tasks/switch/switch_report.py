"""Report of a switch between FK and IK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from ...pipeline.report.reports import Refused, headed
from ...said import INFO, Sentence, Translate, as_json, in_english


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """One switched limb."""

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
    ranges: list[tuple[float, float]]
    """`[first, last]` frames of each part that was switched; elsewhere the limb was on the wanted side already."""
    baked: bool = False
    """Whether the motion was baked onto the side that the limb now follows."""
    max_moved: float | None = None
    """Largest visible movement of a joint, world units; `None` where no motion was baked or measured."""
    notes: list[Sentence] = field(default_factory=list)
    action: str = ""
    """Name of the action, where several were switched."""
    remarks: list[Sentence] = field(default_factory=list)
    """Further statements for the status bar."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return all(remark.level == INFO for remark in self.remarks)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return bool(self.properties or self.baked)

    def sentence(self, translate: Translate = in_english) -> str:
        """Text of what was switched, over which frames, and what needs the user's attention."""
        return "; ".join([self._switched(translate), *(remark.text(translate) for remark in self.remarks)])

    def _switched(self, translate: Translate) -> str:
        to_fk = self.to == "FK"
        if not self.is_changed:
            return translate("The limb is on FK already") if to_fk else translate("The limb is on IK already")
        if not self.keys:
            return translate("Switched to FK") if to_fk else translate("Switched to IK")
        if len(self.ranges) > 1:
            text = translate("Switched to FK at frames {frames}") if to_fk else translate("Switched to IK at frames {frames}")
            return text.format(frames=in_words(self.ranges))
        text = translate("Switched to FK, keyed from {first} to {last}")
        if not to_fk:
            text = translate("Switched to IK, keyed from {first} to {last}")
        return text.format(first=f"{self.frame_start:g}", last=f"{self.frame_end:g}")


@dataclass(frozen=True, slots=True)
class SwitchedLimbs:
    """The switched limbs of one or more chains."""

    limbs: Sequence[SwitchReport]
    refused: Sequence[Refused] = ()
    """Actions, of several, in which nothing could be switched."""
    further: Sequence[Sentence] = ()
    """Notes on all limbs."""

    @property
    def notes(self) -> list[Sentence]:
        """Notes for the user: of each limb, then on all limbs."""
        return [*(sentence for limb in self.limbs for sentence in limb.notes), *self.further]

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return not self.refused and all(limb.is_as_asked for limb in self.limbs)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return any(limb.is_changed for limb in self.limbs)

    def to_json(self) -> str:
        """The report as JSON, with the keys of a bake's report; values of a single limb are repeated beside `chains`."""
        chains = [asdict(limb, dict_factory=as_json) | {"sentence": limb.sentence()} for limb in self.limbs]
        refused = [asdict(each, dict_factory=as_json) for each in self.refused]
        values = {**(chains[0] if len(chains) == 1 else {}), "chains": chains, "refused": refused}
        notes = [sentence.text() for sentence in self.notes]
        return json.dumps(headed("switch", {**values, "notes": notes, "sentence": self.sentence()}))

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the user; limbs that need attention come first."""
        ordered = sorted(self.limbs, key=lambda limb: limb.is_as_asked)
        return "; ".join(limb.sentence(translate) for limb in ordered)


def in_words(parts: Sequence[Sequence[float]]) -> str:
    """Text of ranges, such as `20-30, 45`."""
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in parts)
