"""From samples to what the rig room works with: channels, parents, targets and plane frames, in armature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..rig.bones import BoneChannels, ChainMotion, RestBone
from ..rig.eulers import from_eulers
from ..rig.planes import carried_frames, letter_axes
from ..rig.rotations import about_axis, from_quaternion, unit
from ..scene.sampling import Samples
from .planning import ChainPlan


@dataclass(frozen=True, slots=True)
class PlanMotion:
    """Everything about a plan that moves, one row per frame of the plan."""

    chain: ChainMotion
    rotation_values: tuple[Array, ...]
    """`(F, 4)` of each bone, as its rotation channel has them: quaternion, axis-angle, or Euler angles and 0."""
    world_from_armature: Array
    """`(F, 4, 4)`"""
    armature_from_world: Array
    """`(F, 4, 4)`"""
    targets_armature: Array
    """`(F, 3)`"""
    plane_frames: Array
    """`(F, 3, 3)`, see `rig.planes`."""


def plan_motion(plan: ChainPlan, samples: Samples, rows: Array) -> PlanMotion:
    """Take the rows of the plan's frames out of the samples."""
    world_from_armature = samples[plan.armature_world][rows]
    armature_from_world = np.linalg.inv(world_from_armature)
    parent_pose = samples[plan.parent][rows] if plan.parent else None
    values = [samples[quantity][rows] for quantity in plan.channels]
    return PlanMotion(
        chain=ChainMotion(
            parent_pose, tuple(_channels(bone, value) for bone, value in zip(plan.rest.bones, values, strict=True))
        ),
        rotation_values=tuple(value[:, 3:7] for value in values),
        world_from_armature=world_from_armature,
        armature_from_world=armature_from_world,
        targets_armature=points(armature_from_world, samples[plan.target_world][rows][:, :3, 3]),
        plane_frames=_plane_frames(plan, armature_from_world, parent_pose),
    )


def points(matrices: Array, places: Array) -> Array:
    """Points `(F, 3)` brought along by `matrices` `(F, 4, 4)`."""
    return (matrices[:, :3, :3] @ places[..., None])[..., 0] + matrices[:, :3, 3]


def _channels(bone: RestBone, values: Array) -> BoneChannels:
    return BoneChannels(values[:, :3], rotation_matrices(bone.rotation_mode, values[:, 3:7]), values[:, 7:])


def rotation_matrices(mode: str, values: Array) -> Array:
    """Matrices `(F, 3, 3)` of what a rotation channel holds, `(F, 4)`."""
    if mode == "QUATERNION":
        return from_quaternion(values)
    if mode == "AXIS_ANGLE":
        return about_axis(unit(values[:, 1:]), values[:, 0])
    return from_eulers(values[:, :3], mode)


def _plane_frames(plan: ChainPlan, armature_from_world: Array, parent_pose: Array | None) -> Array:
    space = plan.settings.plane_space
    count = len(armature_from_world)
    if space == "WORLD":
        linear = armature_from_world[:, :3, :3]
    elif space == "PARENT" and parent_pose is not None:
        linear = parent_pose[:, :3, :3]
    else:
        linear = np.broadcast_to(np.eye(3), (count, 3, 3))
    return carried_frames(letter_axes(plan.settings.plane), linear)
