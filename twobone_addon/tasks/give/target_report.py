"""Report of baking a chain's motion onto its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import FurtherReport
from ...said import Translate, in_english


@dataclass(frozen=True, slots=True)
class TargetReport(FurtherReport):
    """One target. `max_error` is its largest distance from the tip, `max_off_plane` that of the joints from the plane."""

    KIND: ClassVar[str] = "give"
    IS_OF_TARGET: ClassVar[bool] = True

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
        return self.chain.target, self.pole

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the user: keyed objects, and the chain that they were keyed for."""
        things = ", ".join(name for name in self.keyed if name) + (f" ({self.stored})" if self.stored else "")
        text = translate("{things}: {keys} keys on {curves} curves")
        return text.format(things=things, keys=self.chain.keys, curves=self.chain.channels)
