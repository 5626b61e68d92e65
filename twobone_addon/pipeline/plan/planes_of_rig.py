"""The plane of a chain from its rig: a first plane for a new chain, its normal in the scene as it is, joint limits in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array_types import Array
from ...core.rig.hinges import joint_limits_in_plane
from ...core.rig.limb_normals import resting_hinge
from ...core.rig.limb_planes import rest_normal
from ...core.rig.plane_frames import PlaneSpaces, flat_letters, has_plane, nearest_letters, still_frames, thin_letters
from ...core.rig.rotations import determinant
from ...errors import ChainError
from ...records import unchecked
from ...scene.blender_types import Object
from ...scene.bones import bones_below
from ...scene.lookup import objects_by_name
from ...scene.rig.rest_reading import all_places, mesh_extents, turn_limits
from ...settings import AUTO, AUTOMATIC, LIMB_PLANES, BakeSettings
from .found_chain import FoundChain, find_chain


def normal_now(armature: Object, settings: BakeSettings, upper: str, *, at_rest: bool = False) -> Array | None:
    """Unit normal `(3,)` of a letter plane or of a plane object, armature space; `None` if there is no plane.

    at_rest : use the rest pose of the upper bone's parent instead of its present pose
    """
    world = _linear(armature.matrix_world)
    is_object = settings.plane == "OBJECT"
    plane_object = objects_by_name().get(settings.plane_object) if is_object else None
    if is_object or settings.plane_space == "WORLD":
        if determinant(world) == 0.0 or (is_object and plane_object is None):
            return None
        world = np.linalg.inv(world)
    bone = armature.pose.bones.get(upper)
    parent = bone.parent if bone else None
    spaces = PlaneSpaces(
        world,
        None if parent is None else _linear(parent.bone.matrix_local if at_rest else parent.matrix),
        None if plane_object is None else world @ _linear(plane_object.matrix_world),
    )
    frame = still_frames(settings.plane, settings.plane_space, spaces)
    return frame[:, 2] if has_plane(frame) else None


def normal_at_rest(armature: Object, settings: BakeSettings, upper: str) -> Array:
    """Unit normal `(3,)` like that of `normal_now`, with the rig at rest; the armature's X if there is no plane."""
    normal = normal_now(armature, settings, upper, at_rest=True)
    return np.array([1.0, 0.0, 0.0]) if normal is None else normal


def _linear(matrix: object) -> Array:
    return np.array(matrix, dtype=float)[:3, :3]


CURRENT_POSE = {"plane": "POSE", "plane_space": "ARMATURE", "bend": "POSITIVE", "reference": "POSE"}
"""Settings that leave a limb unchanged if its tip is on the target already."""

SHEET = 0.05
"""Largest thickness, relative to the size of the rig, of a flat mesh such as a cut-out's; heads and bodies are thicker."""


def decided(settings: BakeSettings, armature: Object | None) -> BakeSettings:
    """The settings with every `AUTO` of plane, plane space, bend, depth and reference decided by the rig.

    An automatic plane is that of `first_plane`, or of `fitting_letters` if plane space or depth are given, which only matter
    in letter planes. A named plane decides nothing else: the rest is as in `AUTOMATIC`. Raises a `TwoBoneError` if the
    plane is automatic and the bones are no chain.
    """
    chosen = dict(AUTOMATIC)
    if settings.plane == AUTO:
        choose = first_plane if settings.plane_space == settings.depth == AUTO else fitting_letters
        chosen |= choose(find_chain(settings, armature))
    undecided: dict[str, Any] = {name: value for name, value in chosen.items() if getattr(settings, name) == AUTO}
    return unchecked(settings, {**undecided, "automatic": settings.automatic | undecided.keys()}) if undecided else settings


def first_plane(chain: FoundChain) -> dict[str, str]:
    """Plane, plane space, bend and reference for a new chain.

    Usually the plane of its current pose. In a flat rig, such as a cut-out, whose bones and meshes lie in a letter plane, both
    at rest and in the present pose: that letter plane, and the side of the chain's bend at rest. A single limb does not show
    that its rig is flat, since every leg lies in a plane; only flat meshes do.
    """
    flat = _flat(chain.armature) if _is_whole_rig(chain) else ()
    return {**_letters(chain, flat), "reference": "REST"} if flat else dict(CURRENT_POSE)


def fitting_letters(chain: FoundChain) -> dict[str, str]:
    """Plane, plane space and bend of the letter plane nearest to the chain's bend at rest."""
    return _letters(chain, _flat(chain.armature))


def _flat(armature: Object) -> tuple[str, ...]:
    """The letter planes in which all bones and meshes of a rig lie; bones alone do not count: those of a T-pose are flat, too."""
    points = all_places(armature)
    flat = flat_letters(points)
    if not flat:
        return ()
    sheets = thin_letters(mesh_extents(armature), SHEET * np.ptp(points, axis=0).max())
    return tuple(letters for letters in flat if letters in sheets)


def _is_whole_rig(chain: FoundChain) -> bool:
    """Whether the rig is more than one limb and its parents: it has another deforming bone, or a mesh."""
    upper = chain.armature.data.bones[chain.names.upper]
    root = upper.parent_recursive[-1] if upper.parent else upper
    limb_bones = {upper, *upper.parent_recursive, *bones_below(upper)}
    # Controls, which move no mesh, often lie in the limb's own plane.
    beside = any(bone.use_deform and bone not in limb_bones for bone in bones_below(root))
    return beside or bool(mesh_extents(chain.armature).any())


def _letters(chain: FoundChain, flat: tuple[str, ...]) -> dict[str, str]:
    joints = chain.rest.rest_joints()
    plane, side = nearest_letters(joints, flat) if flat else nearest_letters(joints)
    return {"plane": plane, "plane_space": "ARMATURE", "bend": "POSITIVE" if side > 0 else "NEGATIVE"}


def limits_of_rig(settings: BakeSettings, active: Object | None) -> dict[str, Any]:
    """Joint limits for a chain, read from its bones; `active` is the armature if the settings name none.

    Two joints give `upper_min` and so on, more give `limits`. Raises `ChainError` if nothing limits the bones about the hinge
    of the chain's plane.
    """
    chain = find_chain(settings, active)
    names, rest = chain.names, chain.rest
    turns = np.array([turn_limits(chain.armature.pose.bones[rest.bones[index].name]) for index in rest.turning])
    limits = joint_limits_in_plane(rest, _normal(chain, settings), turns)
    if np.all(limits == (-np.pi, np.pi)):
        raise ChainError(
            'No joint limits found from "{upper}" to "{lower}" around the bending axis. Add Limit Rotation constraints in Local '
            "Space to them, or turn on their IK limits.",
            upper=names.upper,
            lower=names.lower,
        )
    if len(limits) > 2:  # noqa: PLR2004 - more joints than upper and lower bone have settings for
        return {"use_limits": True, "limits": tuple((float(low), float(high)) for low, high in limits)}
    (upper_min, upper_max), (lower_min, lower_max) = limits.tolist()
    return {
        "use_limits": True,
        "limits": (),
        "upper_min": upper_min,
        "upper_max": upper_max,
        "lower_min": lower_min,
        "lower_max": lower_max,
    }


def _normal(chain: FoundChain, settings: BakeSettings) -> Array:
    """Normal `(3,)` of the chain's plane at rest, armature space."""
    if settings.plane == "POSE":
        return chain.rest.upper.rest[:3, :3] @ resting_hinge(chain.rest)
    if settings.plane in LIMB_PLANES:
        return rest_normal(chain.rest)
    return normal_at_rest(chain.armature, settings, chain.names.upper)
