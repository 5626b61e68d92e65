"""The settings of one bake: declared once, checked when built.

`BakeSettings` is the table. Each field carries an `Option` that says how people meet it: kind, range,
unit, label and a one-line text. The operator's properties, the stored chain's properties, the command
line's flags, the job file's schema and the options' page are all made from `OPTIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import SettingError
from ..options import Option, options_of
from .chain import ChainSettings
from .keys import KeySettings
from .plane import LETTERS, LIMB_PLANES, PlaneSettings
from .reach import ReachSettings
from .shared import check_all

__all__ = ["LETTERS", "LIMB_PLANES", "OPTION", "OPTIONS", "PAIRS", "BakeSettings"]


@dataclass(frozen=True, slots=True)
class BakeSettings(KeySettings, ReachSettings, PlaneSettings, ChainSettings):
    """Everything one bake of one chain depends on besides the file itself; the last base's fields come first.

    Raises `SettingError` when a value has no meaning: not a finite number, out of range, an unknown
    choice, an end before the start. Nothing is clamped silently.
    """

    stored: str = ""
    """Name of the stored chain these settings come from, whose animated settings are read per frame. Not an option."""

    asked: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the settings that were given for this bake, neither stored on a chain nor chosen for it. Not an option."""

    limits: tuple[tuple[float, float], ...] = ()
    """Least and greatest angle of each joint, radians, where `joints` is `ALL`: of the first its turn from rest, of each
    other the angle between its link and the one before. Empty: those of upper and lower bone. Not an option."""

    def __post_init__(self) -> None:
        """Refuse what has no meaning, one setting at a time, then the settings together."""
        check_all(self, OPTIONS)
        for low, high in PAIRS:
            if getattr(self, low) > getattr(self, high):
                raise SettingError(
                    f"{OPTION[low].label} ({getattr(self, low):g}) is above {OPTION[high].label} "
                    f"({getattr(self, high):g}). Swap them."
                )
        for number, (least, greatest) in enumerate(self.limits, start=1):
            if not least <= greatest:
                raise SettingError(f"The minimum of joint {number} ({least:g}) is above its maximum ({greatest:g}). Swap them.")
        if 0.0 < self.max_distance < self.min_distance:
            raise SettingError(
                f"Minimum Distance ({self.min_distance:g}) is above Maximum Distance ({self.max_distance:g}). Swap them."
            )


OPTIONS: tuple[Option, ...] = options_of(BakeSettings)
"""Every setting, in the order of the panel."""

PAIRS = (("upper_min", "upper_max"), ("lower_min", "lower_max"))
"""Settings of which the first is not to be above the second."""

LIMITS = tuple(name for pair in PAIRS for name in pair)
"""Joint limits of two links."""

OPTION: dict[str, Option] = {option.name: option for option in OPTIONS}
"""The same, by name."""
