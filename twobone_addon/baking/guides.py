"""New targets and poles: their names, and where they go, at the tip and beyond the middle joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..rig.planes import STRAIGHT, carried_frames, letter_axes
from ..rig.rotations import unit
from ..scene.blender_types import Object
from ..scene.chain_finding import ChainNames
from ..scene.rest_reading import starts_at_tail

TARGET_SIZE = 0.15
"""Size of a target relative to the chain's length: seen beside the bones, not hiding them."""

POLE_SIZE = 0.1


TARGET_SHAPE = "SPHERE"
POLE_SHAPE = "PLAIN_AXES"


@dataclass(frozen=True, slots=True)
class Guide:
    """A place for an empty, in world space."""

    location_world: Array
    """`(3,)`"""
    size: float
    """World units."""


def target_guide(armature: Object, names: ChainNames) -> Guide:
    """A target on the chain's tip as it is posed now; `armature` is evaluated."""
    joints_world = _joints_world(armature, names)
    return Guide(joints_world[2], TARGET_SIZE * _length(joints_world))


def pole_guide(armature: Object, names: ChainNames, plane: str, bend: str) -> Guide:
    """A pole one chain's length beyond the middle joint, on the side to which the chain is bent now.

    A straight chain says nothing about its side: then it is the side to which `bend` would bend it in the letter
    plane `plane` of the armature, `YZ` for other planes.
    """
    root, mid, tip = joints_world = _joints_world(armature, names)
    along = unit(tip - root)
    length = _length(joints_world)
    aside = (mid - root) - along * ((mid - root) @ along)
    if np.sqrt(aside @ aside) <= STRAIGHT * length:
        aside = _side_of_bend(armature, along, plane, bend)
    return Guide(mid + unit(aside) * length, POLE_SIZE * length)


def guide_name(role: str, armature: Object, names: ChainNames) -> str:
    """`role` and the bone that begins at the tip, such as a foot; without one, the bone that ends there."""
    carrier = armature.pose.bones[names.tip]
    starting = [child.name for child in carrier.children if starts_at_tail(child)] if names.tip_at_tail else []
    return f"{role} {starting[0] if starting else names.tip}"


def _side_of_bend(armature: Object, along: Array, plane: str, bend: str) -> Array:
    """Direction from a straight chain to where its middle joint goes when it bends: to the right of it for POSITIVE."""
    linear = np.array(armature.matrix_world)[:3, :3]
    letters = plane if plane in {"XY", "XZ", "YZ"} else "YZ"
    frame = carried_frames(letter_axes(letters), linear)
    aside = np.cross(along, frame[:, 2]) * (-1.0 if bend == "NEGATIVE" else 1.0)
    # A chain that stands on its plane has no side in it; any direction across it will do.
    return aside if np.any(np.abs(aside) > STRAIGHT) else frame[:, 0]


def _joints_world(armature: Object, names: ChainNames) -> Array:
    """Root, middle joint and tip as posed, `(3, 3)`, world space."""
    bones = armature.pose.bones
    tip = bones[names.tip].tail if names.tip_at_tail else bones[names.tip].head
    places = (bones[names.upper].head, bones[names.lower].head, tip)
    return np.array([armature.matrix_world @ place for place in places])


def _length(joints: Array) -> float:
    return float(np.sqrt(np.sum(np.diff(joints, axis=0) ** 2, axis=-1)).sum())
