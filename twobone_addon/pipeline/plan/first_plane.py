"""The plane that a chain starts with where nobody has chosen one, and the letter plane that would fit it."""

from __future__ import annotations

import numpy as np

from ...core.rig.plane_frames import flat_letters, nearest_letters, thin_letters
from ...scene.blender_types import Object
from ...scene.rig.rest_reading import all_places, mesh_extents
from .finding import FoundChain

CURRENT_POSE = {"plane": "POSE", "plane_space": "ARMATURE", "bend": "POSITIVE", "reference": "POSE"}
"""What leaves a limb alone that is right already."""

SHEET = 0.05
"""Thickness of a mesh, relative to the rig, up to which it is a sheet, as a cut-out's; heads and bodies are thicker."""


def first_plane(found: FoundChain) -> dict[str, str]:
    """Plane, its space, bend and reference of a new chain.

    The plane of its current pose. In a flat rig, such as a cut-out, which lies in a letter plane with its meshes, at rest and
    as it is posed now, that letter plane, and the side of the chain's bend at rest. A lone limb says nothing about the rig that
    it belongs to: every leg lies in a plane. Only flat meshes make a cut-out of it.
    """
    flat = _flat(found.armature) if _is_whole_rig(found) else ()
    return {**_letters(found, flat), "reference": "REST"} if flat else dict(CURRENT_POSE)


def fitting_letters(found: FoundChain) -> dict[str, str]:
    """Plane, its space and bend of the letter plane that fits a chain best: nearest to its bend at rest, to its side."""
    return _letters(found, _flat(found.armature))


def _flat(armature: Object) -> tuple[str, ...]:
    """The letter planes in which all of a rig lies, its bones and its meshes: a person in a T-pose has flat bones as well."""
    places = all_places(armature)
    flat = flat_letters(places)
    if not flat:
        return ()
    sheets = thin_letters(mesh_extents(armature), SHEET * np.ptp(places, axis=0).max())
    return tuple(letters for letters in flat if letters in sheets)


def _is_whole_rig(found: FoundChain) -> bool:
    """Whether there is more than one limb and its parents: another that moves a mesh, or a mesh."""
    upper = found.armature.data.bones[found.names.upper]
    root = upper.parent_recursive[-1] if upper.parent else upper
    own = {upper, *upper.parent_recursive, *upper.children_recursive}
    # Controls, which move no mesh, often lie in the limb's own plane.
    beside = any(bone.use_deform and bone not in own for bone in root.children_recursive)
    return beside or bool(mesh_extents(found.armature).any())


def _letters(found: FoundChain, flat: tuple[str, ...]) -> dict[str, str]:
    joints = found.rest.rest_joints()
    plane, side = nearest_letters(joints, flat) if flat else nearest_letters(joints)
    return {"plane": plane, "plane_space": "ARMATURE", "bend": "POSITIVE" if side > 0 else "NEGATIVE"}
