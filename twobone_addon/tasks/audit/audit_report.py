"""Report of an audit: measures of each clip and limb, and reasons why a clip is not fine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...core.audit.measures import Skating
from ...pipeline.report.reports import headed
from ...said import Sentence, Translate, in_english, note


@dataclass(frozen=True, slots=True)
class ContactAudit:
    """One contact of a foot with the ground."""

    first: float
    """First frame."""
    last: float
    """Last frame."""
    slide: float
    """Distance, world units, that a standing point slides along the ground: mean of its last third from that of its first."""
    height: float
    """Height of the sole over the floor, world units, for three quarters of the time; negative below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbAudit:
    """One limb in one clip. Lengths are in world units, angles in radians; `None` where it is no foot or cannot be measured."""

    chain: str
    """Name of the stored chain, or the one that Find Limbs would give it."""
    kind: str
    """`LEG` or `ARM`."""
    length: float
    """Length of the stretched limb."""
    skate_share: float | None = None
    """Share of frames with a low ball of the foot at which it is faster than 0.56 legs a second, see `core.contacts.skating`."""
    slide: float | None = None
    """Median slide of the contacts."""
    floating: float | None = None
    """Median height of standing soles over the floor, if above it."""
    floating_share: float | None = None
    """Share of the frames on the ground at which the sole is higher than the limit."""
    sinking: float | None = None
    """Largest depth of the sole below the floor, ignoring the deepest hundredth of the frames."""
    sinking_share: float | None = None
    """Share of all frames at which the sole is deeper than the limit."""
    knee_pop: float = 0.0
    """99.5th percentile of the second difference of the bend over a thirtieth of a second."""
    knee_pop_worst: float = 0.0
    """Largest second difference of the bend."""
    knee_pop_frame: float = 0.0
    """Frame of `knee_pop_worst`."""
    limb_pop: float = 0.0
    """Largest second difference of the places of middle joint and tip relative to the root, limb lengths."""
    limb_pop_frame: float = 0.0
    """Frame of `limb_pop`."""
    hyperextension: float = 0.0
    """Largest bend to the side opposite to the usual one."""
    hyperextension_frame: float = 0.0
    """Frame of `hyperextension`."""
    stretched: float = 0.0
    """Share of frames at full stretch, within a thousandth of the length."""
    jitter: float | None = None
    """Standard deviation of the noise of middle joint and tip relative to the root, limb lengths; `None` under a second."""
    loop_gap: float = 0.0
    """Largest distance between a joint's places at the last and the first frame, relative to the root, limb lengths."""
    loop_speed_gap: float = 0.0
    """Largest difference between its velocities at these frames, limb lengths a second."""
    contacts: list[ContactAudit]


MEASURES = tuple(entry.name for entry in fields(LimbAudit) if entry.name not in {"chain", "kind", "contacts", "length"})
"""Names of a limb's measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """One clip."""

    armature: str
    is_fine: bool
    reasons: list[Sentence]
    """Reasons why it is not fine, the worst first."""
    chains: list[LimbAudit]
    skating: Skating | None
    """Skating of all feet; `None` without feet."""
    slide: float | None
    """Median slide of all contacts of all feet, limb lengths."""
    ground: str
    ground_height: float | None
    """Height at which feet stand, or the given one; `None` on an object and without feet."""
    ground_velocity: list[float]
    first_is_rest: bool
    """Whether the first frame is a rest pose; it is left out of all measures."""
    frames: int
    frame_start: float
    frame_end: float
    badness: float
    """Largest ratio of a measure to its limit; over 1 is not fine."""
    worst_frame: float
    """Frame of that measure."""
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    picture: str = ""
    """File of the picture; empty without one."""
    notes: Sequence[Sentence] = ()

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs the user's attention."""
        return self.is_fine

    def to_dict(self) -> dict[str, object]:
        """The report as a dictionary for JSON."""
        texts = {name: [sentence.text() for sentence in getattr(self, name)] for name in ("reasons", "notes")}
        return headed("audit", {**asdict(self), **texts, "sentence": self.sentence()})

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(self.to_dict())

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the user."""
        return "; ".join(reason.text(translate) for reason in self.reasons) or translate("Fine")


def compared(clip: AuditReport, action: str, earlier: Mapping[str, Any]) -> Iterator[Sentence]:
    """Measures of a clip beside those of an earlier report (parsed JSON), for each limb that both have."""
    clips = earlier.get("clips", [earlier])
    earlier_clip = next((each for each in clips if each.get("action", action) == action), clips[0] if len(clips) == 1 else None)
    if earlier_clip is None:
        yield note('"{action}" is not in the earlier report', action=action)
        return
    limbs = {limb["chain"]: limb for limb in earlier_clip["chains"]}
    for limb in clip.chains:
        earlier_limb = limbs.get(limb.chain, {})
        for name in MEASURES:
            before, after = earlier_limb.get(name), getattr(limb, name)
            if before is not None and after is not None and not name.endswith("_frame") and (before or after):
                values = {
                    "limb": limb.chain,
                    "measure": name.replace("_", " "),
                    "before": f"{before:.4g}",
                    "after": f"{after:.4g}",
                }
                yield Sentence("{limb}: {measure:22} before {before:>9}   after {after:>9}", values)
