"""What people call a limb."""

from __future__ import annotations

from ...limbs.body.judging import Kind
from ...limbs.finding import FoundLimb

FRONT_AND_HIND = ("Front", "Hind")


def title(limb: FoundLimb) -> str:
    """`Left Leg`, `Right Hind Leg`, `Left Arm 2`."""
    words = [limb.side.value.capitalize()] if limb.side.value != "CENTER" else []
    kind, number = limb.kind.value.capitalize(), limb.place.number
    if limb.place.count == 1:
        return " ".join([*words, kind])
    if limb.kind is Kind.LEG and limb.place.count == len(FRONT_AND_HIND):
        return " ".join([*words, FRONT_AND_HIND[number], kind])
    return " ".join([*words, kind, str(number + 1)])
