"""Settings of chains completed: what is left out is filled in from the rig, or taken from the limb of the other side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ChainError
from ...records import replace
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, objects_by_name, other_side
from ...scene.rig.chain_finding import automatic_tip, chain_from_names, chain_from_selection
from ...settings import LIMB_PLANES, PAIRS, BakeSettings
from .found_chain import chain_found
from .naming import named_as
from .planes_of_rig import decided, first_plane, normal_at_rest
from .stored import StoredChain, active_chain, chain_stored, explicit, over_stored, stored_settings, with_custom_range


def completed(scene: Scene, given: Mapping[str, Any], active: Object | None = None, stored: str = "") -> BakeSettings:
    """Complete settings, from those `given` by name on top of those of the chain `stored` under a name.

    Without an armature, `active` is used; without bones, the active chain in the armature's list, if there is one; what is
    left `AUTO` is chosen by `decided`.
    Raises a `TwoBoneError` if something needed is missing.
    """
    if stored:
        armature = find_armature(given.get("armature", ""), active)
        chain = chain_stored(armature, stored)
        return stored_settings(armature, chain, over_stored(scene, chain, given))
    armature = objects_by_name().get(given["armature"]) if given.get("armature") else active
    chain = active_chain(armature)
    if armature is not None and chain is not None and not (given.get("upper") or given.get("lower")):
        return stored_settings(armature, chain, over_stored(scene, chain, given))
    return fresh_settings(scene, given, armature)


def fresh_settings(scene: Scene, given: Mapping[str, Any], armature: Object | None) -> BakeSettings:
    """The settings of a chain that is not stored: bones as given or selected, plane and bend as for a new chain."""
    asked = explicit(with_custom_range(scene, given))
    return decided(BakeSettings(**asked, asked=frozenset(asked)), armature)


def fresh_chain(armature: Object) -> dict[str, str]:
    """Settings of a new chain for the selected bones: bones, tip, and its plane, see `first_plane`.

    The tip is left empty (automatic) unless a third bone is selected. Raises a `TwoBoneError` if the selection
    does not identify a chain.
    """
    names = chain_from_selection(armature)
    automatic = automatic_tip(armature.pose.bones[names.lower], "AUTO")
    return {
        "upper": names.upper,
        "lower": names.lower,
        "tip": "" if automatic == (names.tip, names.tip_at_tail) else names.tip,
        **first_plane(chain_found(armature, names)),
    }


def names_of(chain: StoredChain) -> ChainNames:
    """The bones of a stored chain; raises `ChainError`, which names the chain, if they do not form one."""
    with named_as(chain.name, chain.id_data.name):
        return chain_from_names(chain.id_data, chain.upper, chain.lower, chain.tip, chain.tip_end)


AXIAL_MIRROR = np.array([1.0, -1.0, -1.0])
"""Signs by which mirroring across X changes an axis of rotation."""

OTHER_SIDE_OF_BODY = {"LEFT": "RIGHT", "RIGHT": "LEFT", "CENTER": "CENTER"}

OTHER_SIDE = {"POSITIVE": "NEGATIVE", "NEGATIVE": "POSITIVE", "KEEP": "KEEP"}


def mirrored_settings(armature: Object, settings: BakeSettings, guides: Mapping[str, str] | None = None) -> BakeSettings:
    """The settings of a chain, mirrored for the chain on the other side.

    The mirror is the armature's own YZ plane, and sides are told apart by names (`thigh.L`, `thigh.R`) as Blender flips them.
    The normal of the bend plane is an axial vector: mirroring keeps its X and negates Y and Z. If the mirrored normal points
    against the normal of the mirrored chain's plane, the bend changes its sign, and so do the joint limits.

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
    normal, other = (normal_at_rest(armature, limb_settings, limb_settings.upper) for limb_settings in (settings, mirrored))
    if AXIAL_MIRROR * normal @ other >= 0.0:
        return mirrored
    # Seen from the other side, the greatest angle is the least.
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
