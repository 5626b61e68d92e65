"""Mirror a stored chain's settings to the other side of the armature.

The mirror is the armature's own YZ plane, and sides are told apart by names (`thigh.L`, `thigh.R`) as Blender flips them.
The normal of the bend plane is an axial vector: mirroring keeps its X and negates Y and Z. If the mirrored normal points
against the normal of the mirrored chain's plane, the bend changes its sign, and so do the joint limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ChainError
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
    for name in ("upper", "lower", "tip"):
        own = getattr(settings, name)
        changed[name] = _other_bone(armature, own) if own else ""
    for name, bone in (("target", "target_bone"), ("pole", "pole_bone"), ("plane_object", "")):
        changed[name] = _other_object(getattr(settings, name))
        if bone and getattr(settings, bone):
            changed[bone] = _bone_or_same(changed[name], getattr(settings, bone))
    mirrored = replace(settings, **(changed | dict(guides or {})))
    return _to_the_other_side(mirrored) if _seen_reversed(armature, settings, mirrored) else mirrored


def _to_the_other_side(settings: BakeSettings) -> BakeSettings:
    """The settings with the chain bent to the other side of its plane."""
    limits = {low: -getattr(settings, high) for low, high in PAIRS} | {high: -getattr(settings, low) for low, high in PAIRS}
    each = tuple((-greatest, -least) for least, greatest in settings.limits)
    return replace(settings, bend=OTHER_SIDE[settings.bend], limits=each, **limits)


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


def _other_object(name: str) -> str:
    flipped = other_side(name) if name else ""
    return flipped if flipped in objects_by_name() else name


def _bone_or_same(owner: str, bone: str) -> str:
    flipped = other_side(bone)
    found = objects_by_name().get(owner)
    return flipped if found is not None and found.pose is not None and flipped in found.pose.bones else bone


def _seen_reversed(armature: Object, settings: BakeSettings, mirrored: BakeSettings) -> bool:
    if settings.plane in LIMB_PLANES:
        return False  # These planes follow the limb and the pole, which are mirrored themselves.
    own, other = (normal_at_rest(armature, each, each.upper) for each in (settings, mirrored))
    return bool(AXIAL_MIRROR * own @ other < 0.0)
