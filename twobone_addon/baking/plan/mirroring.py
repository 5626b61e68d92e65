"""A stored chain's settings carried over to the other side of the armature.

The mirror is the armature's own YZ plane, and names tell sides apart (`thigh.L`, `thigh.R`) as Blender flips them.
What is seen from one side is seen from the other on the other side, unless the plane stands along the mirror: the
axis of a turn is an axial vector, so mirroring keeps its X and negates Y and Z. Where the mirrored axis points against
the normal of the mirrored chain's plane, the bend changes its sign, and with it the joint limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...array_types import Array
from ...errors import ChainError
from ...rig.planes.plane_frames import LETTERS, carried_frames, letter_axes
from ...scene.blender_types import Object
from ...scene.lookup import objects_by_name, other_side
from ...settings import LIMB_PLANES, PAIRS

AXIAL_MIRROR = np.array([1.0, -1.0, -1.0])
"""What mirroring across X does to the axis of a turn."""

OTHER_SIDE_OF_BODY = {"LEFT": "RIGHT", "RIGHT": "LEFT", "CENTER": "CENTER"}

OTHER_SIDE = {"POSITIVE": "NEGATIVE", "NEGATIVE": "POSITIVE", "KEEP": "KEEP"}


def mirrored_values(armature: Object, values: dict[str, Any], guides: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The settings of a chain, objects by name, for the chain on the other side.

    Target, pole and plane object change to those in `guides`, or to the object with the flipped name if there is one; else they
    stay. Raises `ChainError` where the bones have no other side.
    """
    mirrored = dict(values)
    for name in ("upper", "lower", "tip"):
        mirrored[name] = _other_bone(armature, values[name]) if values[name] else ""
    for name, bone in (("target", "target_bone"), ("pole", "pole_bone"), ("plane_object", "")):
        mirrored[name] = _other_object(values[name])
        if bone and values[bone]:
            mirrored[bone] = _bone_or_same(mirrored[name], values[bone])
    mirrored |= guides or {}
    mirrored["pole_angle"] = -values["pole_angle"]
    if _seen_reversed(armature, values, mirrored):
        mirrored["bend"] = OTHER_SIDE[values["bend"]]
        for low, high in PAIRS:
            mirrored[low], mirrored[high] = -values[high], -values[low]
        mirrored["limits"] = tuple((-greatest, -least) for least, greatest in values["limits"])
    return mirrored


def mirrored_limb(armature: Object, limb: Mapping[str, str]) -> dict[str, str]:
    """What a chain is on the character, for the chain on the other side: without a toe where the other side has none."""
    toe = other_side(limb["toe"])
    return {
        "limb": limb["limb"],
        "side": OTHER_SIDE_OF_BODY[limb["side"]],
        "toe": toe if toe in armature.pose.bones else "",
    }


def _other_bone(armature: Object, name: str) -> str:
    flipped = other_side(name)
    if flipped == name:
        raise ChainError(f'The name of bone "{name}" has no side. Name it like "{name}.L" to mirror its chain.')
    if flipped not in armature.pose.bones:
        raise ChainError(
            f'Armature "{armature.name}" has no bone "{flipped}" to mirror "{name}" to. Symmetrize the armature first.'
        )
    return flipped


def _other_object(name: str) -> str:
    flipped = other_side(name) if name else ""
    return flipped if flipped in objects_by_name() else name


def _bone_or_same(owner: str, bone: str) -> str:
    flipped = other_side(bone)
    found = objects_by_name().get(owner)
    return flipped if found is not None and found.pose is not None and flipped in found.pose.bones else bone


def _seen_reversed(armature: Object, values: dict[str, Any], mirrored: dict[str, Any]) -> bool:
    if values["plane"] in LIMB_PLANES:
        return False  # Their sides are those of the limb and of the pole, which are mirrored themselves.
    return bool(AXIAL_MIRROR * normal_at_rest(armature, values) @ normal_at_rest(armature, mirrored) < 0.0)


def normal_at_rest(armature: Object, values: dict[str, Any]) -> Array:
    """Normal `(3,)` of the chain's plane at rest, armature space; the armature's X where no plane can be told."""
    if values["plane"] not in LETTERS:
        spanning = objects_by_name().get(values["plane_object"])
        if spanning is None:
            return np.array([1.0, 0.0, 0.0])
        linear = np.array(armature.matrix_world.inverted_safe() @ spanning.matrix_world)[:3, :3]
        return carried_frames(np.eye(3)[:, :2], linear)[:, 2]
    linear = np.eye(3)
    parent = armature.pose.bones[values["upper"]].parent if values["upper"] in armature.pose.bones else None
    if values["plane_space"] == "WORLD":
        linear = np.array(armature.matrix_world.inverted_safe())[:3, :3]
    elif values["plane_space"] == "PARENT" and parent is not None:
        linear = np.array(parent.bone.matrix_local)[:3, :3]
    return carried_frames(letter_axes(values["plane"]), linear)[:, 2]
