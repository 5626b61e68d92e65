"""Which bones are no limb's: twist bones, pieces that a rig generator cuts a bone into, and the body that limbs hang from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from ..blender_types import PoseBone

TWIST_WORD = re.compile(r"[Tt]wist|TWIST|(?<![A-Za-z])roll(?![a-z])|Roll(?![a-z])|ROLL")
"""What riggers call bones that only spread a turn along a limb; a controller does not, and neither does a troll."""

NUMBER = re.compile(r"[._-]?\d+(?=([._-][LlRr])?$)")
"""The number of a piece, before or behind its side: `thigh.L.001`, `thigh.001.L`."""

STRAIGHT = 1e-3
"""Sine of the angle up to which a bone goes straight on: pieces that one bone was cut into lie in line."""

PassedOver: TypeAlias = Callable[[PoseBone, PoseBone], bool]
"""Whether a bone is passed over as belonging to the whole bone above it, which is the second argument."""


def is_twist(bone: PoseBone, _whole: PoseBone) -> bool:
    """Whether its name says that a bone only twists."""
    return TWIST_WORD.search(bone.name) is not None


def is_piece(bone: PoseBone, whole: PoseBone) -> bool:
    """Whether a bone is a twist bone, or goes straight on from the whole one under its name and a number."""
    if is_twist(bone, whole):
        return True
    if NUMBER.sub("", bone.name) != whole.name:
        return False
    before = bone.bone.head_local - whole.bone.head_local
    along = bone.bone.tail_local - bone.bone.head_local
    return before.dot(along) > 0.0 and before.cross(along).length <= STRAIGHT * before.length * along.length


def is_nothing(_bone: PoseBone, _whole: PoseBone) -> bool:
    """Passes nothing over."""
    return False


def is_body(bone: PoseBone) -> bool:
    """Whether several limbs hang from a bone, as legs from hips and fingers from a hand: two children with children."""
    return sum(bool(child.children) for child in bones_below(bone, bone)) > 1


def whole_of(bone: PoseBone, passed_over: PassedOver) -> PoseBone:
    """The bone that this one belongs to, or itself."""
    if bone.parent is None:
        return bone
    above = whole_of(bone.parent, passed_over)
    return above if passed_over(bone, above) else bone


def bones_below(bone: PoseBone, whole: PoseBone, passed_over: PassedOver = is_piece) -> Iterator[PoseBone]:
    """The children of a bone and of what is passed over below it, but not these."""
    for child in bone.children:
        if passed_over(child, whole):
            yield from bones_below(child, whole, passed_over)
        else:
            yield child
