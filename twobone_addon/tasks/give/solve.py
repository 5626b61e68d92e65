"""From the motion that a chain has to the motion that its target, and its pole, would need to have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import magnitude, path_length
from ...core.rig.limb_planes import pole_places, seen_normals
from ...core.rig.plane_frames import out_of_plane
from ...core.rig.posing import joints_of, pose_path
from ...core.rig.rotations import nearest_rotation, solve_linear, to_quaternion
from ...core.rig.steering import rounded_at_distance
from ...core.solver import UNSEEN_BEND
from ...pipeline.motion.plan_motion import PlanMotion, aimed, plan_motion, points, without_target
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.pose.chain_task import SINGLE_PRECISION
from ...pipeline.pose.limb_plane import posed_normals, seen_bend
from ...pipeline.pose.solving import SolvedChain, SolvedPose, solve_chain_pose, without_turns
from ...pipeline.report.twist import Twist, largest_twists
from ...scene.sampling.quantities import Samples


@dataclass(frozen=True, slots=True)
class TargetMotion:
    """What a chain does now, as its target and pole would make it do it."""

    motion: PlanMotion
    """The motion with the pole at its goal."""
    pose: SolvedPose
    """What a bake would make of the goals, without the turns."""
    twist: Twist
    """How far that would turn bones about their own axes."""
    targets_world: Array
    """`(F, 3)`"""
    poles_world: Array | None
    """`(F, 3)`; `None` without pole."""
    turns_world: Array | None
    """`(F, 3, 3)` rotation of the bone at the tip, which the target is to have; `None` where that bone does not copy it."""
    joints: Array
    """`(F, n + 1, 3)` the chain's joints as they are now, armature space."""
    off_plane: Array
    """`(F,)` farthest that a joint is from the plane through the root joint, world units."""
    length: float
    """Of the chain, world units, at its longest."""
    wrong_side: Mask
    """`(F,)` where the chain is bent to the other side than the settings say."""


def solve_target(plan: ChainPlan, samples: Samples, world_from_keys: Array) -> TargetMotion:
    """Find where target and pole have to be, and what a bake would make of them.

    world_from_keys : (F, 4, 4), from the target's location as it is keyed to where that brings it
    """
    motion = plan_motion(plan, samples)
    joints = _present_joints(plan, motion, samples)
    targets_world = _as_keyed(motion, joints, world_from_keys)
    poles_world = None
    if plan.settings.plane == "POLE":
        sides = np.full(len(joints), -1.0 if plan.settings.bend == "NEGATIVE" else 1.0)
        normals = posed_normals(plan, motion, joints)
        if plan.settings.reference == "REST":
            normals = seen_normals(joints, normals)
        poles = pole_places(joints, sides, plan.settings.pole_angle, normals)
        poles_world = points(motion.world_from_armature, poles)
    turns_world = _end_turns(plan, motion)
    places = np.tile(np.eye(4), (len(joints), 1, 1))
    places[:, :3, 3] = targets_world
    if turns_world is not None:
        places[:, :3, :3] = turns_world
    posed = aimed(replace(motion, pole_world=poles_world, influence=np.ones(len(joints))), places)
    pose = solve_chain_pose(plan, posed)
    frames = pose.task.frames
    away = out_of_plane(frames[:, None], joints - joints[:, :1])
    linear = motion.world_from_armature[:, :3, :3]
    bends = seen_bend(frames, joints)
    return TargetMotion(
        motion=without_target(posed),
        pose=without_turns(pose),
        twist=largest_twists([SolvedChain(plan, posed, [], pose)])[0],
        targets_world=targets_world,
        poles_world=poles_world,
        turns_world=turns_world,
        joints=joints,
        off_plane=magnitude(_carried(linear, frames[:, None, :, 2] * away[..., None])).max(axis=1),
        length=float(magnitude(_carried(linear, np.diff(joints, axis=1))).sum(axis=1).max()),
        wrong_side=(np.abs(bends) > UNSEEN_BEND) & (bends * pose.task.bend < 0.0),
    )


def round_trip(plan: ChainPlan, solved: TargetMotion, target_world: Array, pole_world: Array | None) -> tuple[Array, Array]:
    """What a bake with target and pole as they really are makes of the chain, and of the bone at its tip.

    target_world : (F, 4, 4); pole_world : (F, 3)

    The farthest `(F,)` that it brings a joint from where that is now, world units, and how far `(F,)`, radians, it turns the
    bone at the tip where that copies the target, else 0.
    """
    motion = aimed(replace(solved.motion, pole_world=pole_world), target_world)
    chain = solve_chain_pose(plan, motion)
    linear = motion.world_from_armature[:, :3, :3]
    moved = magnitude(_carried(linear, chain.turned.joints - solved.joints)).max(axis=1)
    if solved.turns_world is None or motion.end_pose is None:
        return moved, np.zeros(len(moved))
    copied = nearest_rotation((motion.armature_from_world @ target_world)[:, :3, :3])
    return moved, angles_between(copied, nearest_rotation(motion.end_pose[:, :3, :3]))


def angles_between(first: Array, second: Array) -> Array:
    """Angles `(F,)`, radians, between rotations `(F, 3, 3)`."""
    quaternions = to_quaternion(np.swapaxes(first, -1, -2) @ second)
    return 2.0 * np.arctan2(magnitude(quaternions[..., 1:]), np.abs(quaternions[..., 0]))


def _end_turns(plan: ChainPlan, motion: PlanMotion) -> Array | None:
    """Rotation `(F, 3, 3)`, world space, that leaves the bone at the tip as it is when this copies it."""
    if plan.settings.end_rotation != "TARGET" or motion.end_pose is None:
        return None
    return nearest_rotation((motion.world_from_armature @ motion.end_pose)[:, :3, :3])


def location_values(space: Array, places_world: Array) -> Array:
    """Locations `(F, 3)` that bring an object to `places_world` `(F, 3)`; `space` as `keys.location_space` returns it."""
    return solve_linear(space[:, :3, :3], places_world - space[:, :3, 3])


def _present_joints(plan: ChainPlan, motion: PlanMotion, samples: Samples) -> Array:
    """Joints `(F, n + 1, 3)` as they are now, armature space.

    Blender's matrices hold them in single precision, and a nearly straight chain's middle joint would magnify that. So
    where the chain's own channels lead to the same place they are worked out of these, as the bake does it. Where they do
    not, such as under IK, whose matrices are not quite square, the joints are the visible ones.
    """
    seen = joints_of(plan.rest, [samples.every(pose) for pose in plan.poses])
    own = joints_of(plan.rest, pose_path(plan.rest, motion.chain))
    size = np.abs(seen).max(axis=(1, 2)) + path_length(seen)
    same = magnitude(own - seen).max(axis=1) <= SINGLE_PRECISION * size
    return np.where(same[:, None, None], own, seen)


def _as_keyed(motion: PlanMotion, joints: Array, world_from_keys: Array) -> Array:
    """Places of the tips `(F, 3)`, world space, as single-precision keys can bring the target there."""
    values = location_values(world_from_keys, points(motion.world_from_armature, joints[:, -1]))
    return points(world_from_keys, rounded_at_distance(values, motion.armature_from_world @ world_from_keys, joints[:, 0]))


def _carried(linear: Array, vectors: Array) -> Array:
    """Vectors `(F, j, 3)` transformed by `linear` `(F, 3, 3)`."""
    return np.einsum("...ij,...kj->...ki", linear, vectors)
