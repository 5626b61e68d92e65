"""What Find Limbs reports, and the sentence that people read."""

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
"""Why something is no limb."""

SHAPES = {"ARM": "an arm", "LEG": "a leg"} | STATEMENTS
"""What the shape of a limb says that names overrule."""

MOST = 4
"""Things left out that the sentence names; the report has all."""


@dataclass(frozen=True, slots=True)
class LimbReport:
    """One limb."""

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
    """Of legs, what tells where they stand: `MESH`, `BONE` or `REST`; `MOTION` where Find Contacts has to tell."""
    ankle_height: float | None
    """World units above the sole; `None` where it is not known yet."""
    shape_says: str
    """What the shape alone says where names decide otherwise: `ARM`, `LEG`, or a reason to leave it out; empty elsewhere."""


@dataclass(frozen=True, slots=True)
class LeftOutLimb:
    """Two branches, or one without a counterpart, that are no limbs."""

    bones: list[str]
    """The first bone on each side, or on the only one."""
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
    """Whether names call left what feet, knees or elbows say is right; names decide."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there are limbs: what is left out counts among what was done."""
        return bool(self.limbs)

    @property
    def is_changed(self) -> bool:
        """Whether there are limbs, added or known."""
        return bool(self.limbs)

    @property
    def shown_chain(self) -> str:
        """Name of the chain that a person wants to see next; empty where none is new."""
        return next((limb.chain for limb in self.limbs if limb.added), "")

    @property
    def summary(self) -> Sentence:
        """What was found."""
        if not self.limbs and self.rest_is_no_pose:
            return Sentence("The rest pose is no standing pose. Choose an action, or store limbs by hand.")
        if not self.limbs:
            return Sentence("No arms or legs found in {armature}.", {"armature": self.armature})
        added, known = (", ".join(limb.chain for limb in self.limbs if limb.added is new) for new in (True, False))
        said = [Sentence("Limbs added: {names}.", {"names": added})] if added else []
        said += [Sentence("Already in the list: {names}.", {"names": known})] if known else []
        said += [Sentence("Sides are from the names; feet, knees or elbows say the opposite.")] if self.sides_differ else []
        return joined(said)


def said_left_out(left_out: Sequence[LeftOutLimb]) -> list[Sentence]:
    """What was left out and why, in a sentence; none where nothing was."""
    things = [
        Sentence("{bones} ({reason})", {"bones": " / ".join(each.bones), "reason": Sentence(STATEMENTS[each.reason])})
        for each in left_out[:MOST]
    ]
    if len(left_out) > MOST:
        things.append(Sentence("{count} more", {"count": len(left_out) - MOST}))
    return [note("Left out: {things}.", things=joined(things, "; "))] if things else []


def said_named(limbs: Sequence[LimbReport]) -> list[Sentence]:
    """Which limbs names tell against their shape, in a sentence; none where there are none."""
    things = [
        Sentence("{bones} ({reason})", {"bones": limb.upper, "reason": Sentence(SHAPES[limb.shape_says])})
        for limb in limbs
        if limb.shape_says
    ]
    return [note("Limbs recognised by name, against their shape: {things}.", things=joined(things, "; "))] if things else []
