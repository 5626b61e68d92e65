"""What became of a nudge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import WholeReport
from ...said import Sentence, joined


@dataclass(frozen=True, slots=True)
class NudgeEntry:
    """One nudge that a limb has."""

    frame: float
    offset: list[float]
    """World units."""
    before: float
    after: float
    falloff: str
    loop: str


@dataclass(frozen=True, slots=True)
class NudgedLimb:
    """A limb, under the names by which other reports list theirs."""

    chain: str
    upper: str
    lower: str
    tip: str
    nudged_by: list[float]
    max_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeReport(WholeReport):
    """One limb, and all nudges that it has now. Distances are in world units."""

    KIND: ClassVar[str] = "nudge"

    armature: str
    chains: list[NudgedLimb]
    """The one limb, whose values also stand beside this."""
    chain: str
    """Name of the stored chain; empty where the limb is in no list."""
    upper: str
    lower: str
    tip: str
    frame: float
    removed: bool
    """Whether the nudge at the frame was removed."""
    nudged_by: list[float]
    """Offset of the tip from its place without nudges at the frame, measured; as solved without verification."""
    nudges: list[NudgeEntry]
    frames: int
    """Number of frames with keys."""
    ranges: list[list[float]]
    """`[first, last]` of them, for each part."""
    keys: int
    channels: int
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames at which the limb is too short, and has the closest pose."""
    max_missed: float
    """Largest distance of the tip from its goal at those."""
    max_error: float | None
    """Largest measured distance of the tip from its goal at all others; `None` without verification."""
    on_edited_keys: bool
    """Whether keys of earlier nudges were edited since, so that these are part of the motion now."""
    said_distance: str
    """How far the tip was moved, in words."""
    seconds: dict[str, float]
    evaluation: str | dict[str, str]

    @property
    def summary(self) -> Sentence:
        """What was moved, and what a person should look at."""
        name, others = self.chain or self.upper, len(self.nudges) - (not self.removed)
        values = {"limb": name, "frame": f"{self.frame:g}", "distance": self.said_distance}
        said = Sentence("{limb} nudged by {distance} at frame {frame}", values)
        if self.removed:
            said = Sentence("Nudge of {limb} at frame {frame} removed", values)
        parts = [said, *([Sentence("other nudges: {count}", {"count": f"{others}"})] if others else [])]
        if self.out_of_reach:
            spans = ", ".join(f"{first:g}-{last:g}" if first != last else f"{first:g}" for first, last in self.out_of_reach)
            parts.append(Sentence("out of reach at frames {frames}", {"frames": spans}))
        return joined(parts, "; ")

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not self.out_of_reach and not self.notes
