"""The limb of another character that a chain follows: from where it is measured, and how much it is scaled."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.arrays import path_length
from ...core.rig.bones import RestBone, RestChain
from ...core.rig.rotations import nearest_rotation
from ...errors import ChainError, SettingError
from ...scene.blender_types import Object, Scene
from ...scene.graph.rig_graph import dependencies
from ...scene.lookup import find_object, objects_by_name
from ...scene.sampling.evaluate import evaluate
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import at_once
from ...settings import BakeSettings
from .chain_plan import SourceLimb

AUTOMATIC = 0.0
"""Target Scale that stands for the lengths of both limbs."""


def source_limb(
    scene: Scene, settings: BakeSettings, armature: Object, rest: RestChain, end_bone: RestBone | None
) -> SourceLimb | None:
    """The limb whose root and scale the settings name; `None` where they name none. Raises a `TwoBoneError`.

    The rest poses are compared as both objects stand at the scene's first frame, whatever frame is shown: an object that
    turns later turns its limb, not its rest pose.
    """
    if not settings.target_root_bone:
        if settings.target_scale != 1.0:
            raise SettingError(
                "Target Scale is {scale:g}, but there is no Target Root Bone to scale from. Name the first bone of the limb "
                "that is followed, or set the scale to 1.",
                scale=settings.target_scale,
            )
        return None
    source = find_object("Target root", settings.target, settings.target_root_bone)
    scale, turn = settings.target_scale, np.eye(3)
    turned = end_bone if settings.end_rotation == "TARGET" and settings.target_bone else None
    if turned is not None or scale == AUTOMATIC:  # only these compare rest poses, which are to be evaluated
        own_world, source_world = _first_matrices(scene, armature, source)
        if turned is not None:
            source_rest = nearest_rotation(source_world[:3, :3] @ _rest(source, settings.target_bone))
            turn = source_rest.T @ nearest_rotation(own_world[:3, :3] @ turned.rest[:3, :3])
        if scale == AUTOMATIC:
            own = float(path_length(rest.rest_joints())) * _size(own_world)
            scale = own / _source_length(source, settings, _size(source_world))
    return SourceLimb(Quantity("WORLD", settings.target, settings.target_root_bone), scale, turn)


def _source_length(source: Object, settings: BakeSettings, size: float) -> float:
    """From joint to joint at rest, world units."""
    bone = source.data.bones.get(settings.target_bone)
    joints = []
    while bone is not None:
        joints.append(bone.head_local)
        if bone.name == settings.target_root_bone:
            break
        bone = bone.parent
    length = float(path_length(np.array(joints, dtype=float))) * size if bone is not None and len(joints) > 1 else 0.0
    if not length:
        raise ChainError(
            'Target Root Bone "{bone}" is not above target bone "{target_bone}" of "{source}", so the limb between them has no '
            "length to scale by. Name the bone where that limb begins, or give the scale.",
            bone=settings.target_root_bone,
            target_bone=settings.target_bone,
            source=source.name,
        )
    return length


def _first_matrices(scene: Scene, *things: Object) -> list[Array]:
    """World matrices `(4, 4)` of objects at the scene's first frame."""
    quantities = [Quantity("WORLD", thing.name) for thing in things]
    reads_scene = dependencies(objects_by_name(), [(thing.name, "") for thing in things]).reads_scene
    values = at_once(evaluate(scene, quantities, np.array([float(scene.frame_start)]), in_scene=reads_scene))
    return [values[quantity][0] for quantity in quantities]


def _rest(source: Object, bone: str) -> Array:
    return np.array(source.data.bones[bone].matrix_local, dtype=float)[:3, :3]


def _size(world: Array) -> float:
    """How many world units a unit of an object with that world matrix is, in the mean."""
    return float(np.cbrt(abs(np.linalg.det(world[:3, :3]))))
