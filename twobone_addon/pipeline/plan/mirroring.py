"""Mirror a stored chain's settings to the other side of the armature.

The mirror is the armature's own YZ plane, and sides are told apart by names (`thigh.L`, `thigh.R`) as Blender flips them.
The normal of the bend plane is an axial vector: mirroring keeps its X and negates Y and Z. If the mirrored normal points
against the normal of the mirrored chain's plane, the bend changes its sign, and so do the joint limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ChainError
from ...records import replace
from ...scene.blender_types import Object
from ...scene.lookup import objects_by_name, other_side
from ...settings import LIMB_PLANES, PAIRS, BakeSettings
from .planes_of_rig import normal_at_rest

AXIAL_MIRROR = np.array([1.0, -1.0, -1.0])
"""Signs by which mirroring across X changes an axis of rotation."""

OTHER_SIDE_OF_BODY = {"LEFT": "RIGHT", "RIGHT": "LEFT", "CENTER": "CENTER"}

OTHER_SIDE = {"POSITIVE": "NEGATIVE", "NEGATIVE": "POSITIVE", "KEEP": "KEEP"}


def mirrored_settings(armature: Object, settings: BakeSettings, guides: Mapping[str, str] | None = None) -> BakeSettings:
    """The settings of a chain, mirrored for the chain on the other side.

    Target, pole and plane object change to those in `guides`, or to the object with the flipped name if there is one; else they
    stay. Raises `ChainError` if the bones have no other side.
    """
    changed: dict[str, Any] = {"pole_angle": -settings.pole_angle}
    for role in ("upper", "lower", "tip"):
        name = getattr(settings, role)
        changed[role] = _other_bone(armature, name) if name else ""
    objects = objects_by_name()
    for role, role_bone in (("target", "target_bone"), ("pole", "pole_bone"), ("plane_object", "")):
        name = getattr(settings, role)
        flipped = other_side(name) if name else ""
        changed[role] = flipped if flipped in objects else name
        bone, owner = getattr(settings, role_bone, ""), objects.get(changed[role])
        if bone and owner is not None and owner.pose is not None and other_side(bone) in owner.pose.bones:
            changed[role_bone] = other_side(bone)
    changed.update(guides or {})
    mirrored = replace(settings, **changed)
    if settings.plane in LIMB_PLANES:
        return mirrored  # These planes follow the limb and the pole, which are mirrored themselves.
    normal, other = (normal_at_rest(armature, each, each.upper) for each in (settings, mirrored))
    if AXIAL_MIRROR * normal @ other >= 0.0:
        return mirrored
    limits = {low: -getattr(mirrored, high) for low, high in PAIRS} | {high: -getattr(mirrored, low) for low, high in PAIRS}
    of_joints = tuple((-greatest, -least) for least, greatest in mirrored.limits)
    return replace(mirrored, bend=OTHER_SIDE[mirrored.bend], limits=of_joints, **limits)


def mirrored_limb(armature: Object, limb: Mapping[str, str]) -> dict[str, str]:
    """Kind of limb, side of the body and toe, mirrored for the chain on the other side; no toe if that side has none."""
    toe = other_side(limb["toe"])
    return {
        "limb": limb["limb"],
        "side": OTHER_SIDE_OF_BODY[limb["side"]],
        "toe": toe if toe in armature.pose.bones else "",
    }


def _other_bone(armature: Object, name: str) -> str:
    flipped = other_side(name)
    if flipped == name:
        raise ChainError('The name of bone "{bone}" has no side. Name it like "{bone}.L" to mirror its chain.', bone=name)
    if flipped not in armature.pose.bones:
        raise ChainError(
            'Armature "{armature}" has no bone "{mirrored}" to mirror "{bone}" to. Symmetrize the armature first.',
            armature=armature.name,
            mirrored=flipped,
            bone=name,
        )
    return flipped
