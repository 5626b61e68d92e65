"""The settings of an audit: what is measured, and the limits up to which a clip is fine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .contacts import ContactSettings
from .options import Group, choice_option, number_option, path_option


def _limit(default: float, label: str, text: str) -> float:
    return number_option(Group.REACH, default, label, text, minimum=0.0)


@dataclass(frozen=True)
class AuditSettings(ContactSettings):
    """Armature, frames and ground, as for contacts, and the limits beyond which a clip is not fine.

    The defaults lie just beyond clean motion: walks recorded over force plates, CMU's walks, and planted feet with exact truth.
    Lengths are fractions of the limb's length. A limit as large as 1000 turns a check off.
    """

    max_slide: float = _limit(
        0.02,
        "Maximum Slide",
        "Median distance in limb lengths that standing feet may slide; twice that for a single foot",
    )
    max_skate: float = _limit(
        0.2,
        "Maximum Skating",
        "Share of the frames with a low foot at which it may slide, if feet slide in contacts or have none",
    )
    max_float: float = _limit(0.02, "Maximum Floating", "Median height in limb lengths at which feet may stand above the ground")
    max_sink: float = _limit(
        0.02,
        "Maximum Sinking",
        "Depth in limb lengths to which soles may sink for a quarter of the frames; at any frame four times that",
    )
    max_knee_pop: float = _limit(
        1.2, "Maximum Knee Pop", "Second difference of the bend of a knee or elbow over a thirtieth of a second, in radians"
    )
    max_limb_pop: float = _limit(
        0.5, "Maximum Limb Pop", "Second difference of the positions of knee and foot, or elbow and hand, in limb lengths"
    )
    max_hyperextension: float = number_option(
        Group.REACH, math.radians(20.0), "Maximum Hyperextension", "How far a knee or elbow may bend to the wrong side",
        minimum=0.0, unit="ANGLE",
    )  # fmt: skip
    max_jitter: float = _limit(0.003, "Maximum Jitter", "Standard deviation of the noise of joints, in limb lengths")
    max_loop_gap: float = _limit(0.05, "Maximum Loop Gap", "Distance in limb lengths between a cycle's first and last pose")
    cycles: str = choice_option(
        Group.REACH, "AUTO", "Cycles", "Which clips must end in the pose in which they begin",
        ("AUTO", "Automatic", "Actions that are marked as cyclic"),
        ("ALL", "All", "Every clip"),
        ("NONE", "None", "No clip"),
    )  # fmt: skip
    picture: str = path_option(
        Group.ADVANCED, "Picture",
        "SVG file for a picture of each clip. {shot} and {action} in its name stand for those of the clip", is_written=True,
    )  # fmt: skip
    compare: str = path_option(
        Group.ADVANCED, "Compare", "Report of an earlier audit, whose measures are shown beside the new ones", is_written=False
    )
