"""Which bones are meant: from names, or from what is selected, whatever was clicked first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import ChainError, SelectionError
from .blender_types import Object, PoseBone
from .versions import is_selected

COINCIDENT = 1e-4
"""A tail this near to a joint, relative to the bone's link, is that joint: single precision far from the origin."""


MOST_BONES = 3
"""Upper, lower and tip."""


@dataclass(frozen=True, slots=True)
class ChainNames:
    """A chain by the names of its bones."""

    armature: str
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip: the lower bone itself or one below it."""
    tip_at_tail: bool
    """Whether the tip is that bone's tail; else its head."""


def chain_from_names(armature: Object, upper: str, lower: str, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain with these bones; raises `ChainError` where they do not form one."""
    bones = armature.pose.bones
    for role, name in (("Upper bone", upper), ("Lower bone", lower), ("Tip bone", tip)):
        if name and name not in bones:
            raise ChainError(f'{role} "{name}" is not in armature "{armature.name}". Choose one of its bones.')
    if bones[upper] not in ancestors(bones[lower]):
        raise ChainError(f'Bone "{lower}" does not hang from "{upper}". Choose an upper bone and a lower bone of the same limb.')
    tip_name, at_tail = _named_tip(bones[lower], bones[tip], tip_end) if tip else automatic_tip(bones[lower], tip_end)
    return ChainNames(armature.name, upper, lower, tip_name, at_tail)


def chain_from_selection(armature: Object, tip: str = "", tip_end: str = "AUTO") -> ChainNames:
    """The chain that the selected bones mean; raises `SelectionError` with what to select.

    Three bones are upper, lower and tip; two are upper and lower. One bone may be any of the three: of the pairs
    parent and child around it, the one whose two links are most alike in length is the limb.
    """
    selected = sorted((bone for bone in armature.pose.bones if is_selected(bone)), key=lambda bone: len(ancestors(bone)))
    if not 1 <= len(selected) <= MOST_BONES:
        found = f"{len(selected)} bones" if selected else "no bone"
        raise SelectionError(
            f'Armature "{armature.name}" has {found} selected. '
            "Select the upper and the lower bone of a limb, such as thigh and shin."
        )
    if len(selected) == 1:
        upper, lower = _limb_around(selected[0])
        return chain_from_names(armature, upper.name, lower.name, tip, tip_end)
    for above, below in pairwise(selected):
        if above not in ancestors(below):
            raise SelectionError(
                f'Bones "{above.name}" and "{below.name}" are not on one limb. Choose bones that hang from one another.'
            )
    third = selected[2].name if len(selected) == MOST_BONES else ""
    return chain_from_names(armature, selected[0].name, selected[1].name, tip or third, tip_end)


def ancestors(bone: PoseBone) -> list[PoseBone]:
    """The bones it hangs from, nearest first."""
    return list(bone.parent_recursive)


def automatic_tip(lower: PoseBone, tip_end: str) -> tuple[str, bool]:
    """Tip of a lower bone: its tail, or where its children start if that is one other place.

    Imported bones often end anywhere (their tails are made up), but their children start at the joint.
    """
    if tip_end == "TAIL":
        return lower.name, True
    origin = lower.bone.head_local
    starts = [child for child in lower.children if (child.bone.head_local - origin).length > 0.0]
    if not starts:
        if tip_end == "HEAD":
            raise ChainError(f'Bone "{lower.name}" has no bone below it. Use its tail as the tip.')
        return lower.name, True
    first = starts[0]
    reach = (first.bone.head_local - origin).length
    apart = max((child.bone.head_local - first.bone.head_local).length for child in starts)
    at_tail = (first.bone.head_local - lower.bone.tail_local).length <= COINCIDENT * reach
    if tip_end == "HEAD" or (apart <= COINCIDENT * reach and not at_tail):
        return first.name, False
    return lower.name, True


def _named_tip(lower: PoseBone, tip: PoseBone, tip_end: str) -> tuple[str, bool]:
    if tip == lower:
        if tip_end == "HEAD":
            raise ChainError(f'The tip is the head of the lower bone "{lower.name}" itself. Choose its tail.')
        return tip.name, True
    if lower not in ancestors(tip):
        raise ChainError(f'Tip bone "{tip.name}" does not hang from the lower bone "{lower.name}". Choose a bone below it.')
    return tip.name, tip_end == "TAIL"


def _limb_around(bone: PoseBone) -> tuple[PoseBone, PoseBone]:
    """The pair of parent and child at or just above this bone whose links are most alike in length."""
    pairs = []
    if bone.parent:
        pairs.append((bone.parent, bone))
        if bone.parent.parent:
            pairs.append((bone.parent.parent, bone.parent))
    pairs += [(bone, child) for child in bone.children]
    if not pairs:
        raise SelectionError(f'Bone "{bone.name}" has no bone above or below it. Select the upper and the lower bone of a limb.')
    return max(pairs, key=lambda pair: _likeness(*pair))


def _likeness(upper: PoseBone, lower: PoseBone) -> float:
    """Ratio of the shorter to the longer link."""
    name, at_tail = automatic_tip(lower, "AUTO")
    carrier = lower.id_data.pose.bones[name].bone
    tip = carrier.tail_local if at_tail else carrier.head_local
    links = np.array([(lower.bone.head_local - upper.bone.head_local).length, (tip - lower.bone.head_local).length])
    return float(links.min() / links.max()) if links.max() > 0.0 else 0.0
