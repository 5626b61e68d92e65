"""Report of a converted limb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import FurtherReport
from ...said import Sentence


@dataclass(frozen=True, slots=True)
class ConvertedReport(FurtherReport):
    """One limb. `reached` counts the frames at which the IK had the tip on its target."""

    KIND: ClassVar[str] = "convert"

    bone: str
    """Bone that carries the IK constraint; empty for a Rigify limb."""
    constraint: str
    """Name of the IK constraint; empty for a Rigify limb."""
    max_moved: float | None
    """Largest distance that the conversion moved any point of the limb's bones, world units."""

    @property
    def at_worst(self) -> tuple[float, Sentence]:
        """How far the limb moved, and the sentence that says so if no other limb moved farther."""
        distance = self.chain.statements[0].values["distance"]
        return self.max_moved or 0.0, Sentence("all move as on IK (within {distance})", {"distance": distance})
