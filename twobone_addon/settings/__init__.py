"""The settings of one bake: declared once, checked when built.

`BakeSettings` is the table. Each field carries an `Option` that describes it to users: kind, range, unit,
label and a one-line text. The operator's properties, the stored chain's properties, the command line's
flags, the job file's schema and the options page are all made from `OPTIONS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import SettingError
from ..said import Sentence, note
from .bake_options import AUTO, AUTOMATIC, LETTERS, LIMB_PLANES, ChainSettings, KeySettings, PlaneSettings, ReachSettings
from .options import Option, Settings, options_of

__all__ = ["AUTO", "AUTOMATIC", "LETTERS", "LIMB_PLANES", "OPTION", "OPTIONS", "ORIGINS", "PAIRS", "BakeSettings"]


@dataclass(frozen=True, slots=True)
class BakeSettings(KeySettings, ReachSettings, PlaneSettings, ChainSettings, Settings):
    """Everything that a bake of one chain depends on besides the file itself; the last base's fields come first.

    Raises `SettingError` if a value is invalid: not a finite number, out of range, an unknown choice, an end
    before the start. Nothing is clamped silently.
    """

    stored: str = ""
    """Name of the stored chain these settings come from, whose animated settings are read per frame. Not an option."""

    asked: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the settings given explicitly for this bake, not taken from a stored chain or chosen automatically. Not an
    option."""

    automatic: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the settings whose value the rig or a default has decided, see `decided`: nobody chose it. Not an option."""

    label: str = field(default="", compare=False)
    """Name of the chain in refusals, where a request is about several; empty if it is about this one only. Not an option."""

    limits: tuple[tuple[float, float], ...] = ()
    """Least and greatest angle of each joint in radians, if `joints` is `ALL`: for the first its rotation from rest, for the
    others the angle between its link and the one before. Empty: the limits of upper and lower bone. Not an option."""

    def __post_init__(self) -> None:
        """Refuse invalid values, first of single settings, then in combination."""
        Settings.__post_init__(self)
        for low, high in PAIRS:
            if getattr(self, low) > getattr(self, high):
                raise SettingError(
                    "{low} ({least:g}) is above {high} ({greatest:g}). Swap them.",
                    low=Sentence(OPTION[low].label),
                    least=getattr(self, low),
                    high=Sentence(OPTION[high].label),
                    greatest=getattr(self, high),
                )
        for number, (least, greatest) in enumerate(self.limits, start=1):
            if not least <= greatest:
                raise SettingError(
                    "The minimum of joint {number} ({least:g}) is above its maximum ({greatest:g}). Swap them.",
                    number=number,
                    least=least,
                    greatest=greatest,
                )
        if 0.0 < self.max_distance < self.min_distance:
            raise SettingError(
                "Minimum Distance ({least:g}) is above Maximum Distance ({greatest:g}). Swap them.",
                least=self.min_distance,
                greatest=self.max_distance,
            )

    def empty_choices(self) -> Iterator[tuple[str, Sentence]]:
        """Settings that have no effect because the numbers they need are at their neutral values, each with a note."""
        if self.reach == "SOFTEN" and not self.softness and not self.softness_near:
            yield "reach", note("Reach Soften has no effect: Softness and Softness Near are both 0.")
        if self.reach == "STRETCH" and self.stretch_max == self.compress_min == 1.0:
            yield "reach", note("Reach Stretch has no effect: Stretch Maximum and Compress Minimum are both 1.")
        if self.use_limits and not self.limits and all(getattr(self, name) == OPTION[name].default for name in LIMITS):
            yield "use_limits", note("Joint Limits has no effect: all limits are +/-180 degrees.")


ORIGINS = frozenset({"asked", "automatic", "label"})
"""Fields of `BakeSettings` that tell where its values come from, which makes no other bake and stands in no report."""

OPTIONS: tuple[Option, ...] = options_of(BakeSettings)
"""All options, in the order of the panel."""

PAIRS = (("upper_min", "upper_max"), ("lower_min", "lower_max"))
"""Pairs of settings of which the first must not be above the second."""

LIMITS = tuple(name for pair in PAIRS for name in pair)
"""Settings of the joint limits of two links."""

OPTION: dict[str, Option] = {option.name: option for option in OPTIONS}
"""All options, by name."""
