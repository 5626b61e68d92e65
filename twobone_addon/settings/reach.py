"""The settings of a bake that say how far the chain goes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .options import Group, choice_option, number_option, switch_option, when


@dataclass(frozen=True)
class ReachSettings:
    """What happens near the limits of the reach and of the joints."""

    reach: str = choice_option(
        Group.REACH, "CLAMP", "Reach", "What happens near the limits of the chain's reach",
        ("CLAMP", "Clamp", "Point straight at a target that is too far away, fold for one that is too close"),
        ("SOFTEN", "Soften", "Ease in before the limb is fully extended or folded"),
        ("STRETCH", "Stretch", "Scale the bones so the tip stays on the target"),
    )  # fmt: skip
    softness: float = number_option(
        Group.REACH, 0.0, "Softness", "Fraction of the chain length over which to ease into full extension",
        minimum=0.0, maximum=1.0, unit="FACTOR", needs=when(reach=["SOFTEN", "STRETCH"]),
    )  # fmt: skip
    softness_near: float = number_option(
        Group.REACH, 0.0, "Softness Near", "Fraction of the chain length over which to ease into the fully folded pose",
        minimum=0.0, maximum=1.0, unit="FACTOR", needs=when(reach=["SOFTEN", "STRETCH"]),
    )  # fmt: skip
    stretch_start: float = number_option(
        Group.REACH, 1.0, "Stretch Start", "Fraction of the chain's reach at which stretching begins",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR", needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    stretch_max: float = number_option(
        Group.REACH, 2.0, "Stretch Maximum", "Largest scale of the bones", minimum=1.0, maximum=1000.0,
        needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    compress_min: float = number_option(
        Group.REACH, 1.0, "Compress Minimum", "Smallest bone scale, used for targets too close to reach",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR", needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    min_distance: float = number_option(
        Group.REACH, 0.0, "Minimum Distance", "Keep the tip at least this far from the root joint (0 = off)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    max_distance: float = number_option(
        Group.REACH, 0.0, "Maximum Distance", "Keep the tip at most this far from the root joint (0 = off)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    use_limits: bool = switch_option(Group.REACH, "Joint Limits", "Keep both joints within limits", default=False)
    upper_min: float = number_option(
        Group.REACH, -math.pi, "Upper Minimum", "Smallest rotation of the upper bone from rest", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    upper_max: float = number_option(
        Group.REACH, math.pi, "Upper Maximum", "Largest rotation of the upper bone from rest", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    lower_min: float = number_option(
        Group.REACH, -math.pi, "Lower Minimum", "Smallest angle between the two links", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    lower_max: float = number_option(
        Group.REACH, math.pi, "Lower Maximum", "Largest angle between the two links", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
