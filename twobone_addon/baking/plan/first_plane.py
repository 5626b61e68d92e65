"""The plane that a chain starts with where nobody has chosen one, and the letter plane that would fit it."""

from __future__ import annotations

import numpy as np

from ...rig.planes.plane_frames import flat_letters, nearest_letters, thin_letters
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
    as it is posed now, that letter plane, and the side of the chain's bend at rest.
    """
    flat = _flat(found.armature)
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


def _letters(found: FoundChain, flat: tuple[str, ...]) -> dict[str, str]:
    joints = found.rest.rest_joints()
    plane, side = nearest_letters(joints, flat) if flat else nearest_letters(joints)
    return {"plane": plane, "plane_space": "ARMATURE", "bend": "POSITIVE" if side > 0 else "NEGATIVE"}
