"""Report of baking a chain's motion onto its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import ChainReport
from ...said import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReport(ChainReport):
    """One target. `max_error` is its largest distance from the tip, `max_off_plane` that of the joints from the plane."""

    BAKED: ClassVar[str] = "{keys} keys on the targets of {chains} chains"

    pole: str
    """Name of the pole; empty where there is none."""
    max_round_trip: float | None
    """Largest distance that a bake with this target moves a joint, world units; measured with the keys as written."""
    max_end_turn: float | None
    """Largest angle that this bake rotates the bone at the tip, degrees, where that copies the target."""
    stored: str
    """Name of the stored chain; empty where there is none."""

    @property
    def keyed(self) -> tuple[str, ...]:
        """Names of the keyed objects."""
        return self.target, self.pole

    @property
    def says(self) -> Sentence:
        """The keyed objects, and the chain that they were keyed for."""
        things = ", ".join(name for name in self.keyed if name) + (f" ({self.stored})" if self.stored else "")
        values = {"things": things, "keys": self.keys, "curves": self.channels}
        return Sentence("{things}: {keys} keys on {curves} curves", values)
