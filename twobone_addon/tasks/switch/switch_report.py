"""What became of a switch between FK and IK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from ...pipeline.report.reports import Refused, headed
from ...said import INFO, Sentence, Translate, as_json, in_english


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """One limb."""

    armature: str
    upper: str
    lower: str
    to: str
    """`FK` or `IK`."""
    visible_bone: str
    """The bone that deforms where the lower bone is; empty where none does."""
    properties: list[str]
    """Data paths of the switches; empty where the limb was on the wanted side already."""
    owners: list[str]
    """Names of the data-blocks that have these properties, usually the armature."""
    values: list[float]
    """What they were set to."""
    keys: int
    """Keys on them; 0 where there is no animation, so that they were only set."""
    frame_start: float
    frame_end: float
    ranges: list[tuple[float, float]]
    """`[first, last]` frames of each part that was switched; elsewhere the limb was on the wanted side already."""
    baked: bool = False
    """Whether the motion was baked onto the side that the limb now follows."""
    max_moved: float | None = None
    """Farthest that a joint visibly moved, world units; `None` where no motion was baked."""
    notes: list[Sentence] = field(default_factory=list)
    action: str = ""
    """Name of the action, of several."""
    remarks: list[Sentence] = field(default_factory=list)
    """What the status bar says besides."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(remark.level == INFO for remark in self.remarks)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return bool(self.properties or self.baked)

    def sentence(self, translate: Translate = in_english) -> str:
        """What was switched, over which frames, and what a person should look at."""
        return "; ".join([self._switched(translate), *(remark.text(translate) for remark in self.remarks)])

    def _switched(self, translate: Translate) -> str:
        to_fk = self.to == "FK"
        if not self.is_changed:
            return translate("The limb is on FK already") if to_fk else translate("The limb is on IK already")
        if not self.keys:
            return translate("Switched to FK") if to_fk else translate("Switched to IK")
        if len(self.ranges) > 1:
            said = translate("Switched to FK at frames {frames}") if to_fk else translate("Switched to IK at frames {frames}")
            return said.format(frames=in_words(self.ranges))
        said = translate("Switched to FK, keyed from {first} to {last}")
        if not to_fk:
            said = translate("Switched to IK, keyed from {first} to {last}")
        return said.format(first=f"{self.frame_start:g}", last=f"{self.frame_end:g}")


@dataclass(frozen=True, slots=True)
class SwitchedLimbs:
    """What was switched of one or more chains."""

    limbs: Sequence[SwitchReport]
    refused: Sequence[Refused] = ()
    """Of several actions, those in which nothing could be switched."""
    further: Sequence[Sentence] = ()
    """Notes that are about all limbs."""

    @property
    def notes(self) -> list[Sentence]:
        """Sentences a person should read."""
        return [*(said for limb in self.limbs for said in limb.notes), *self.further]

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.refused and all(limb.is_as_asked for limb in self.limbs)

    @property
    def is_changed(self) -> bool:
        """Whether anything was switched."""
        return any(limb.is_changed for limb in self.limbs)

    def to_json(self) -> str:
        """The report as JSON has it, under the names of a bake's; of a single limb its own values stand beside `chains`."""
        chains = [asdict(limb, dict_factory=as_json) | {"sentence": limb.sentence()} for limb in self.limbs]
        refused = [asdict(each, dict_factory=as_json) for each in self.refused]
        own = {**(chains[0] if len(chains) == 1 else {}), "chains": chains, "refused": refused}
        notes = [said.text() for said in self.notes]
        return json.dumps(headed("switch", {**own, "notes": notes, "sentence": self.sentence()}))

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people: the limbs that need a look first."""
        ordered = sorted(self.limbs, key=lambda limb: limb.is_as_asked)
        return "; ".join(limb.sentence(translate) for limb in ordered)


def in_words(parts: Sequence[Sequence[float]]) -> str:
    """Ranges as people read them, such as `20-30, 45`."""
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in parts)
