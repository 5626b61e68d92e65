"""The normal of a plane that follows no limb, as the scene is now."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.rig.plane_frames import PlaneSpaces, has_plane, still_frames
from ...core.rig.rotations import determinant
from ...scene.blender_types import Object
from ...scene.lookup import objects_by_name
from ...settings import BakeSettings


def normal_now(armature: Object, settings: BakeSettings, upper: str, *, at_rest: bool = False) -> Array | None:
    """Unit normal `(3,)` of a letter plane or of a plane object, armature space; `None` where there is no plane.

    The parent of the upper bone counts as it is posed, or as it is at rest.
    """
    world = _linear(armature.matrix_world)
    is_object = settings.plane == "OBJECT"
    thing = objects_by_name().get(settings.plane_object) if is_object else None
    if is_object or settings.plane_space == "WORLD":
        if determinant(world) == 0.0 or (is_object and thing is None):
            return None
        world = np.linalg.inv(world)
    bone = armature.pose.bones.get(upper)
    parent = bone.parent if bone else None
    spaces = PlaneSpaces(
        world,
        None if parent is None else _linear(parent.bone.matrix_local if at_rest else parent.matrix),
        None if thing is None else world @ _linear(thing.matrix_world),
    )
    frame = still_frames(settings.plane, settings.plane_space, spaces)
    return frame[:, 2] if has_plane(frame) else None


def normal_at_rest(armature: Object, settings: BakeSettings, upper: str) -> Array:
    """The same with the rig at rest; the armature's X where no plane can be told."""
    found = normal_now(armature, settings, upper, at_rest=True)
    return np.array([1.0, 0.0, 0.0]) if found is None else found


def _linear(matrix: object) -> Array:
    return np.array(matrix, dtype=float)[:3, :3]
