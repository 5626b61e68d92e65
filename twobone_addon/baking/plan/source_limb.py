"""The limb of another character that a chain follows: from where it is measured, and how much it is scaled."""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ...arrays import path_length
from ...errors import ChainError, SettingError
from ...rig.bones import RestBone, RestChain
from ...rig.rotations import nearest_rotation
from ...scene.blender_types import Object
from ...scene.lookup import find_object
from ...scene.walk.quantities import Quantity
from ...settings import BakeSettings
from .chain_plan import SourceLimb

AUTOMATIC = 0.0
"""Target Scale that stands for the lengths of both limbs."""


def source_limb(settings: BakeSettings, armature: Object, rest: RestChain, end_bone: RestBone | None) -> SourceLimb | None:
    """The limb whose root and scale the settings name; `None` where they name none. Raises a `TwoBoneError`."""
    if not settings.target_root_bone:
        if settings.target_scale != 1.0:
            raise SettingError(
                f"Target Scale is {settings.target_scale:g}, but there is no Target Root Bone to scale from. "
                "Name the first bone of the limb that is followed, or set the scale to 1."
            )
        return None
    source = find_object("Target root", settings.target, settings.target_root_bone)
    turn = np.eye(3)
    if end_bone is not None and settings.end_rotation == "TARGET" and settings.target_bone:
        turn = _rest_turn(source, settings.target_bone).T @ nearest_rotation(_world(armature)[:3, :3] @ end_bone.rest[:3, :3])
    scale = settings.target_scale
    if scale == AUTOMATIC:
        own = float(path_length(rest.rest_joints())) * _size(armature)
        scale = own / _source_length(source, settings)
    return SourceLimb(Quantity("WORLD", settings.target, settings.target_root_bone), scale, turn)


def _source_length(source: Object, settings: BakeSettings) -> float:
    """From joint to joint at rest, world units."""
    bone = source.data.bones.get(settings.target_bone)
    joints = []
    while bone is not None:
        joints.append(bone.head_local)
        if bone.name == settings.target_root_bone:
            break
        bone = bone.parent
    length = float(path_length(np.array(joints, dtype=float))) * _size(source) if bone is not None and len(joints) > 1 else 0.0
    if not length:
        raise ChainError(
            f'Target Root Bone "{settings.target_root_bone}" is not above target bone "{settings.target_bone}" of '
            f'"{source.name}", so the limb between them has no length to scale by. Name the bone where that limb begins, '
            "or give the scale."
        )
    return length


def _rest_turn(source: Object, bone: str) -> Array:
    return nearest_rotation((_world(source) @ np.array(source.data.bones[bone].matrix_local))[:3, :3])


def _world(thing: Object) -> Array:
    return np.array(thing.matrix_world, dtype=float)


def _size(thing: Object) -> float:
    """How many world units a unit of the object is, in the mean."""
    return float(np.cbrt(abs(np.linalg.det(_world(thing)[:3, :3]))))
