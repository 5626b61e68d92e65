"""Report of Find Limbs, and its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...pipeline.report.reports import WholeReport
from ...said import Sentence, joined, note

STATEMENTS = {
    "SMALL": "too small",
    "STRAND": "a strand, such as hair or cloth",
    "FAN": "it fans out like a wing",
    "UNEVEN": "one link is much longer than the other",
    "SPLAYED": "too far apart for legs",
    "HIGH": "not on the ground, and not where arms are",
    "AROUND": "it surrounds the legs",
    "HEAD": "above the arms",
    "NAMED": "its name says it is no limb",
    "SELDOM": "most poses do not show it",
    "LOOSE": "its foot or hand is parented elsewhere: parent it to the limb",
}
"""Reasons why branches are no limbs, by code."""

SHAPES = {"ARM": "an arm", "LEG": "a leg"} | STATEMENTS
"""Kinds and reasons by shape alone, which names may overrule, by code."""

MOST = 4
"""Largest number of left-out branches that the note names; the report has all."""


@dataclass(frozen=True, slots=True)
class LimbReport:
    """One limb that was found."""

    kind: str
    """`LEG` or `ARM`."""
    side: str
    """`LEFT`, `RIGHT` or `CENTER`."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip: foot or hand, or the lower bone where there is none."""
    tip_end: str
    """`HEAD` or `TAIL` of that bone."""
    toe: str
    """Bone of the toes; empty where there is none."""
    chain: str
    """Name of the stored chain."""
    added: bool
    """Whether the chain is new."""
    sole: str
    """Source of a leg's sole: `MESH`, `BONE` or `REST`; `MOTION` where Find Contacts has to find it; empty for arms."""
    ankle_height: float | None
    """Height of the ankle above the sole, world units; `None` where it is not known yet."""
    shape_says: str
    """Result by shape alone, where names overrule it: `ARM`, `LEG`, or a reason to leave it out; else empty."""


@dataclass(frozen=True, slots=True)
class LeftOutLimb:
    """A pair of branches, or one without a counterpart, that is no limb."""

    bones: list[str]
    """The first bone of each branch."""
    reason: str
    """A code, such as `SMALL`: [What is left out](limbs.md#what-is-left-out)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbsReport(WholeReport):
    """The limbs of one armature."""

    KIND: ClassVar[str] = "find_limbs"

    armature: str
    limbs: list[LimbReport]
    left_out: list[LeftOutLimb]
    limbs_from: str = "REST"
    """`REST`, or `MOTION` where poses of the action showed limbs that the rest pose does not."""
    rest_is_no_pose: bool = False
    """Whether nothing was found because the rest pose is no standing pose, and there is no motion."""
    sides_differ: bool = False
    """Whether left and right by name contradict the direction of feet, knees or elbows; names decide."""

    @property
    def is_as_asked(self) -> bool:
        """Whether any limbs were found; leaving branches out is a normal result."""
        return bool(self.limbs)

    @property
    def is_changed(self) -> bool:
        """Whether any limbs were found, added or known."""
        return bool(self.limbs)

    @property
    def shown_chain(self) -> str:
        """Name of the chain to show next, the first new one; empty where none is new."""
        return next((limb.chain for limb in self.limbs if limb.added), "")

    @property
    def summary(self) -> Sentence:
        """Summary of limbs added and known."""
        if not self.limbs and self.rest_is_no_pose:
            return Sentence("The rest pose is no standing pose. Choose an action, or store limbs by hand.")
        if not self.limbs:
            return Sentence("No arms or legs found in {armature}.", {"armature": self.armature})
        added, known = (", ".join(limb.chain for limb in self.limbs if limb.added is new) for new in (True, False))
        parts = [Sentence("Limbs added: {names}.", {"names": added})] if added else []
        parts += [Sentence("Already in the list: {names}.", {"names": known})] if known else []
        parts += [Sentence("Sides are from the names; feet, knees or elbows say the opposite.")] if self.sides_differ else []
        return joined(parts)


def said_left_out(left_out: Sequence[LeftOutLimb]) -> list[Sentence]:
    """A note on what was left out and why, if anything was."""
    things = [
        Sentence("{bones} ({reason})", {"bones": " / ".join(each.bones), "reason": Sentence(STATEMENTS[each.reason])})
        for each in left_out[:MOST]
    ]
    if len(left_out) > MOST:
        things.append(Sentence("{count} more", {"count": len(left_out) - MOST}))
    return [note("Left out: {things}.", things=joined(things, "; "))] if things else []


def said_named(limbs: Sequence[LimbReport]) -> list[Sentence]:
    """A note on limbs recognised by name against their shape, if there are any."""
    things = [
        Sentence("{bones} ({reason})", {"bones": limb.upper, "reason": Sentence(SHAPES[limb.shape_says])})
        for limb in limbs
        if limb.shape_says
    ]
    return [note("Limbs recognised by name, against their shape: {things}.", things=joined(things, "; "))] if things else []
