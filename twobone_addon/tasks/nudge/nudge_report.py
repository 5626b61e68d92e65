"""Report of a nudge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import WholeReport
from ...said import Sentence, joined


@dataclass(frozen=True, slots=True)
class NudgeEntry:
    """One nudge of a limb."""

    frame: float
    offset: list[float]
    """`[x, y, z]` offset of the tip, world units."""
    before: float
    """Number of frames before its frame over which it acts."""
    after: float
    """Number of frames after its frame over which it acts."""
    falloff: str
    """`SMOOTH`, `LINEAR` or `CONSTANT`."""
    loop: str
    """`AUTO`, `ON` or `OFF`."""


@dataclass(frozen=True, slots=True)
class NudgedLimb:
    """The limb, with the field names that other reports use for theirs."""

    chain: str
    upper: str
    lower: str
    tip: str
    nudged_by: list[float]
    max_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeReport(WholeReport):
    """One limb and all nudges that it has now. Distances are in world units."""

    KIND: ClassVar[str] = "nudge"

    armature: str
    chains: list[NudgedLimb]
    """The one limb; its values are repeated beside this list."""
    chain: str
    """Name of the stored chain; empty where none is stored for the limb."""
    upper: str
    lower: str
    tip: str
    frame: float
    removed: bool
    """Whether the nudge at the frame was removed."""
    nudged_by: list[float]
    """Measured offset of the tip, at the frame, from its place without nudges; the solved one without verification."""
    nudges: list[NudgeEntry]
    frames: int
    """Number of keyed frames."""
    ranges: list[list[float]]
    """`[first, last]` keyed frames of each part."""
    keys: int
    channels: int
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames at which the goal is out of reach, and the limb has the closest pose."""
    max_missed: float
    """Largest distance of the tip from its goal at these frames."""
    max_error: float | None
    """Largest measured distance of the tip from its goal at all other frames; `None` without verification."""
    on_edited_keys: bool
    """Whether keys of earlier nudges were edited since, so that these nudges are part of the motion now."""
    said_distance: str
    """Length of the nudge as text with its unit."""
    seconds: dict[str, float]
    evaluation: str | dict[str, str]

    @property
    def summary(self) -> Sentence:
        """Summary of what was moved, and of what needs the user's attention."""
        name, others = self.chain or self.upper, len(self.nudges) - (not self.removed)
        values = {"limb": name, "frame": f"{self.frame:g}", "distance": self.said_distance}
        result = Sentence("{limb} nudged by {distance} at frame {frame}", values)
        if self.removed:
            result = Sentence("Nudge of {limb} at frame {frame} removed", values)
        parts = [result, *([Sentence("other nudges: {count}", {"count": f"{others}"})] if others else [])]
        if self.out_of_reach:
            spans = ", ".join(f"{first:g}-{last:g}" if first != last else f"{first:g}" for first, last in self.out_of_reach)
            parts.append(Sentence("out of reach at frames {frames}", {"frames": spans}))
        return joined(parts, "; ")

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return not self.out_of_reach and not self.notes
