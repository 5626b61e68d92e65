"""Format distances for people: in the scene's units, no finer than the eye can see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...core.array_types import Array

SEEN = 1e-4
"""Smallest visible distance, as a fraction of a limb's length: a tenth of a millimetre on a leg."""

METRIC = (("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3))
METRES = {"KILOMETERS": "km", "CENTIMETERS": "cm", "MILLIMETERS": "mm"}
IMPERIAL = (("mi", 63360.0), ("ft", 12.0), ("in", 1.0))
INCHES = {"MILES": "mi", "INCHES": "in"}
METRES_PER_INCH = 0.0254
LARGE = 100.0
"""Values from which on whole numbers are shown; below, two significant digits."""


@dataclass(frozen=True, slots=True)
class Units:
    """How a scene displays lengths."""

    system: str = "NONE"
    """`NONE`, `METRIC` or `IMPERIAL`."""
    scale: float = 1.0
    """Metres in one unit of the scene."""
    length: str = "ADAPTIVE"
    """The unit chosen for all lengths, by Blender's name. Metres and feet, which files start with, count as `ADAPTIVE`: each
    length is shown in the unit that fits."""

    def text(self, distance: float) -> str:
        """A distance in scene units, as `12 cm`; without a unit system, as `0.12 units`."""
        if self.system == "NONE":
            return f"{digits(distance)} units"
        table, names = (METRIC, METRES) if self.system == "METRIC" else (IMPERIAL, INCHES)
        value = distance * self._per_unit()
        chosen = [unit for unit in table if unit[0] == names.get(self.length)]
        fitting = chosen or [unit for unit in table if value >= unit[1]] or [table[-1]]
        name, size = fitting[0]
        return f"{digits(value / size)} {name}"

    def seen(self, limb_length: float) -> float:
        """The smallest distance, in scene units, worth reporting for a limb of this length: a power of ten in m or inches."""
        size = SEEN * limb_length * self._per_unit()
        return 10.0 ** round(math.log10(size)) / self._per_unit() if size > 0.0 and math.isfinite(size) else 0.0

    def said(self, distance: float, limb_length: float) -> str:
        """A distance on a limb of this length, as text; if too small to see, only that it is below that limit."""
        least = self.seen(limb_length)
        return f"< {self.text(least)}" if distance < least else self.text(distance)

    def _per_unit(self) -> float:
        """Metres, or inches, in one unit of the scene."""
        if self.system == "NONE":
            return 1.0
        return self.scale if self.system == "METRIC" else self.scale / METRES_PER_INCH


def units_of(scene: Any) -> Units:
    """The units of a scene."""
    settings = scene.unit_settings
    return Units(settings.system, settings.scale_length, settings.length_unit)


def limb_length(joints_world: Array) -> float:
    """Largest length of a limb over all frames, from joints `(F, n + 1, 3)`; 0 if no length is finite."""
    links = joints_world[:, 1:] - joints_world[:, :-1]
    lengths = ((links * links).sum(axis=-1) ** 0.5).sum(axis=-1)
    known = lengths[lengths < float("inf")]
    return float(known.max()) if known.size else 0.0


def digits(value: float) -> str:
    """A number for people: two significant digits, or all before the decimal point."""
    return f"{value:.0f}" if value >= LARGE else f"{float(f'{value:.2g}'):g}"
