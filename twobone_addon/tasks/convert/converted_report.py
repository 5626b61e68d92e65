"""What became of a limb that was converted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import FurtherReport
from ...said import Sentence


@dataclass(frozen=True, slots=True)
class ConvertedReport(FurtherReport):
    """One limb. `reached` counts the frames at which IK had the tip on its target."""

    KIND: ClassVar[str] = "convert"

    bone: str
    """Bone that carries the constraint."""
    constraint: str
    """The IK constraint."""
    max_moved: float | None
    """Farthest that any point of the limb's bones moved by the conversion, world units."""

    @property
    def at_worst(self) -> tuple[float, Sentence]:
        """How far the limb moved, and that no other moved farther."""
        distance = self.chain.statements[0].values["distance"]
        return self.max_moved or 0.0, Sentence("all move as on IK (within {distance})", {"distance": distance})
