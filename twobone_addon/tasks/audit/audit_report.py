"""What an audit reports of each clip and limb, and why a clip is not fine."""

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
    """One time of a foot on the ground."""

    first: float
    last: float
    """Frames."""
    slide: float
    """World units that a standing point slides along the ground: mean place of its last third against its first."""
    height: float
    """World units of the sole over the floor for three quarters of the time; negative below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbAudit:
    """One limb in one clip. Lengths are in world units, angles in radians; `None`: not a foot, or nothing tells it."""

    chain: str
    """Name of the stored chain, or the one that Find Limbs would give it."""
    kind: str
    """`LEG` or `ARM`."""
    length: float
    """Of the stretched limb."""
    skate_share: float | None = None
    """Share of the frames with a low ball at which it moves faster than 0.56 legs a second; see `core.contacts.skating`."""
    slide: float | None = None
    """Median slide of the contacts."""
    floating: float | None = None
    """Median height of standing soles over the floor, if above it."""
    floating_share: float | None = None
    """Share of the frames on the ground at which the sole is higher than the limit."""
    sinking: float | None = None
    """Deepest that the sole is below the floor, but for a hundredth of the frames."""
    sinking_share: float | None = None
    """Share of all frames at which it is deeper than the limit."""
    knee_pop: float = 0.0
    """99.5th percentile of the second difference of the bend over a thirtieth of a second."""
    knee_pop_worst: float = 0.0
    knee_pop_frame: float = 0.0
    """The largest, and its frame."""
    limb_pop: float = 0.0
    """The largest second difference of the places of middle joint and tip about the root, limb lengths."""
    limb_pop_frame: float = 0.0
    hyperextension: float = 0.0
    """Farthest bend to the other side than the usual one."""
    hyperextension_frame: float = 0.0
    stretched: float = 0.0
    """Share of frames at full stretch, within a thousandth of the length."""
    jitter: float | None = None
    """Standard deviation of the noise of middle joint and tip about the root, limb lengths; `None` under a second."""
    loop_gap: float = 0.0
    """Largest distance of a joint about the root between the last frame and the first, limb lengths."""
    loop_speed_gap: float = 0.0
    """Largest difference of its velocity between them, limb lengths a second."""
    contacts: list[ContactAudit]


MEASURES = tuple(entry.name for entry in fields(LimbAudit) if entry.name not in {"chain", "kind", "contacts", "length"})
"""Numbers of a limb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """One clip."""

    armature: str
    is_fine: bool
    reasons: list[Sentence]
    """Why it is not, the worst first."""
    chains: list[LimbAudit]
    skating: Skating | None
    """Of all feet, `None` without any."""
    slide: float | None
    """Median slide of all contacts of all feet, limb lengths."""
    ground: str
    ground_height: float | None
    """Height at which feet stand, or the one given; `None` on an object and without feet."""
    ground_velocity: list[float]
    first_is_rest: bool
    """Whether the first frame is a rest pose; it is left out of all measures."""
    frames: int
    frame_start: float
    frame_end: float
    badness: float
    """The largest measure as a multiple of its limit: over 1 is not fine."""
    worst_frame: float
    """Where to look first."""
    seconds: dict[str, float]
    evaluation: str | dict[str, str]
    picture: str = ""
    """File of the picture; empty without one."""
    notes: Sequence[Sentence] = ()

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return self.is_fine

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        texts = {name: [said.text() for said in getattr(self, name)] for name in ("reasons", "notes")}
        return headed("audit", {**asdict(self), **texts, "sentence": self.sentence()})

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(self.to_dict())

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        return "; ".join(reason.text(translate) for reason in self.reasons) or translate("Fine")


def compared(clip: AuditReport, action: str, earlier: Mapping[str, Any]) -> Iterator[Sentence]:
    """Measures of a clip beside those of an earlier report, as JSON has it, for each limb that both have."""
    clips = earlier.get("clips", [earlier])
    same = next((each for each in clips if each.get("action", action) == action), clips[0] if len(clips) == 1 else None)
    if same is None:
        yield note('"{action}" is not in the earlier report', action=action)
        return
    limbs = {limb["chain"]: limb for limb in same["chains"]}
    for limb in clip.chains:
        before = limbs.get(limb.chain, {})
        for name in MEASURES:
            one, two = before.get(name), getattr(limb, name)
            if one is not None and two is not None and not name.endswith("_frame") and (one or two):
                values = {"limb": limb.chain, "measure": name.replace("_", " "), "before": f"{one:.4g}", "after": f"{two:.4g}"}
                yield Sentence("{limb}: {measure:22} before {before:>9}   after {after:>9}", values)
