"""What Find Limbs reports, and the sentence that people read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ..report.statements import Translate, in_english

STATEMENTS = {
    "SMALL": "too small",
    "STRAND": "a strand, such as hair or cloth",
    "FAN": "it fans out like a wing",
    "UNEVEN": "one link is much longer than the other",
    "SPLAYED": "too far apart for legs",
    "HIGH": "not on the ground, and not where arms are",
    "AROUND": "it hangs around the legs",
    "HEAD": "above the arms",
}
"""Why something is no limb."""

MOST = 4
"""Things left out that the sentence names; the report has all."""


@dataclass(frozen=True, slots=True)
class LimbReport:
    """A limb, and its chain."""

    kind: str
    """`LEG` or `ARM`."""
    side: str
    """`LEFT`, `RIGHT` or `CENTER`."""
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip."""
    tip_end: str
    """`HEAD` or `TAIL` of that bone."""
    toe: str
    """Bone of the toes; empty where there is none."""
    chain: str
    """Name of the stored chain."""
    added: bool
    """Whether the chain is new."""


@dataclass(frozen=True, slots=True)
class LeftOutLimb:
    """Two branches that were looked at, or one without a counterpart, and are no limbs."""

    bones: list[str]
    """The first bone on each side, or on the only one."""
    reason: str
    """One of `STATEMENTS`."""


@dataclass(frozen=True, slots=True)
class LimbsReport:
    """What one armature has."""

    armature: str
    limbs: list[LimbReport]
    left_out: list[LeftOutLimb]

    def to_json(self) -> str:
        """As scripts read it."""
        return json.dumps(asdict(self))

    def sentence(self, translate: Translate = in_english) -> str:
        """What was found, and what was left out and why."""
        return " ".join([*self._found(translate), *self._left_out(translate)])

    def _found(self, translate: Translate) -> list[str]:
        if not self.limbs:
            return [translate("No arms or legs found in {armature}.").format(armature=self.armature)]
        said = []
        added, known = ([limb.chain for limb in self.limbs if limb.added is new] for new in (True, False))
        if added:
            said.append(translate("Limbs added: {names}.").format(names=", ".join(added)))
        if known:
            said.append(translate("Already in the list: {names}.").format(names=", ".join(known)))
        return said

    def _left_out(self, translate: Translate) -> list[str]:
        if not self.left_out:
            return []
        things = [_thing(each, translate) for each in self.left_out[:MOST]]
        if len(self.left_out) > MOST:
            things.append(translate("{count} more").format(count=len(self.left_out) - MOST))
        return [translate("Left out: {things}.").format(things="; ".join(things))]


def _thing(left_out: LeftOutLimb, translate: Translate) -> str:
    return f"{' / '.join(left_out.bones)} ({translate(STATEMENTS[left_out.reason])})"
