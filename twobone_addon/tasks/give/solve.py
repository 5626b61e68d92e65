"""Find the target and pole motion that would reproduce a chain's present motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import every_row, magnitude, path_length
from ...core.rig.limb_planes import pole_places, seen_normals
from ...core.rig.plane_frames import out_of_plane
from ...core.rig.posing import joints_of, pose_path
from ...core.rig.rotations import nearest_rotation, solve_linear, to_quaternion
from ...core.rig.steering import rounded_at_distance
from ...core.solver import UNSEEN_BEND
from ...pipeline.keying import ended_at_cuts
from ...pipeline.motion.plan_motion import PlanMotion, aimed, plan_motion, points, without_target
from ...pipeline.plan.chain_plan import ChainPlan
from ...pipeline.pose.chain_task import SINGLE_PRECISION
from ...pipeline.pose.limb_plane import posed_normals, seen_bend
from ...pipeline.pose.solving import SolvedChain, SolvedPose, solve_chain_pose, without_turns
from ...pipeline.report.twist import Twist, largest_twists
from ...records import replace
from ...scene.sampling.quantities import Samples


@dataclass(frozen=True, slots=True)
class TargetMotion:
    """A chain's present motion, and the target and pole motion that reproduces it."""

    motion: PlanMotion
    """The chain's motion with the pole at its goal."""
    pose: SolvedPose
    """Pose that a bake with these goals would give, without rotations."""
    twist: Twist
    """Largest turn of bones about their own axes in that bake."""
    targets_world: Array
    """`(F, 3)` target locations."""
    poles_world: Array | None
    """`(F, 3)` pole locations; `None` without pole."""
    turns_world: Array | None
    """`(F, 3, 3)` target rotations, those of the bone at the tip; `None` where that bone does not copy the target."""
    joints: Array
    """`(F, n + 1, 3)` the chain's present joints, armature space."""
    off_plane: Array
    """`(F,)` largest distance of a joint from the plane through the root joint, world units."""
    length: float
    """Largest length of the chain over the frames, world units."""
    wrong_side: Mask
    """`(F,)` frames at which the chain bends to the side opposite to the settings' bend."""


def solve_target(plan: ChainPlan, samples: Samples, world_from_keys: Array) -> TargetMotion:
    """Find the target and pole motion, and the pose that a bake with them would give.

    world_from_keys : (F, 4, 4), from the target's location channels to world space
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
    target_matrices = np.tile(np.eye(4), (len(joints), 1, 1))
    target_matrices[:, :3, 3] = targets_world
    if turns_world is not None:
        target_matrices[:, :3, :3] = turns_world
    # The pose that a bake would give: with full influence, from the goals as they will be keyed.
    posed = aimed(replace(motion, pole_world=poles_world, influence=np.ones(len(joints))), target_matrices)
    pose = solve_chain_pose(plan, posed)
    frames = pose.task.frames
    off_plane = out_of_plane(frames[:, None], joints - joints[:, :1])
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
        off_plane=magnitude(_carried(linear, frames[:, None, :, 2] * off_plane[..., None])).max(axis=1),
        length=float(magnitude(_carried(linear, np.diff(joints, axis=1))).sum(axis=1).max()),
        wrong_side=(np.abs(bends) > UNSEEN_BEND) & (bends * pose.task.bend < 0.0),
    )


def ended_where_cut(plan: ChainPlan, solved: TargetMotion) -> ChainPlan:
    """The plan of a chain whose guides' spans end at the cuts of its motion, see `ended_at_cuts`."""
    world, joints = (
        every_row(sampled, len(plan.frames))[plan.report_rows] for sampled in (solved.motion.world_from_armature, solved.joints)
    )
    return ended_at_cuts(plan, _carried(world[:, :3, :3], joints) + world[:, None, :3, 3])


def round_trip(plan: ChainPlan, solved: TargetMotion, target_world: Array, pole_world: Array | None) -> tuple[Array, Array]:
    """Errors of a bake with the target and pole as evaluated, against the chain's present motion.

    target_world : (F, 4, 4); pole_world : (F, 3)

    Returns the largest distance `(F,)` of a joint from its present place, world units, and the angle `(F,)`, radians, by
    which the bone at the tip is rotated where it copies the target, else 0.
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
    """World rotations `(F, 3, 3)` of the bone at the tip; `None` where it does not copy the target."""
    if plan.settings.end_rotation != "TARGET" or motion.end_pose is None:
        return None
    return nearest_rotation((motion.world_from_armature @ motion.end_pose)[:, :3, :3])


def location_values(space: Array, places_world: Array) -> Array:
    """Locations `(F, 3)` that bring an object to `places_world` `(F, 3)`; `space` as `keys.location_space` returns it."""
    return solve_linear(space[:, :3, :3], places_world - space[:, :3, 3])


def _present_joints(plan: ChainPlan, motion: PlanMotion, samples: Samples) -> Array:
    """Present joints `(F, n + 1, 3)`, armature space.

    Blender's pose matrices are in single precision, an error that a nearly straight chain's middle joint magnifies. So
    joints are computed from the chain's own channels, as the bake does, wherever that gives the same place. Where it does
    not, such as under IK, whose matrices are not quite orthogonal, they are read from the evaluated pose.
    """
    evaluated = joints_of(plan.rest, [samples.every(pose) for pose in plan.poses])
    from_channels = joints_of(plan.rest, pose_path(plan.rest, motion.chain))
    size = np.abs(evaluated).max(axis=(1, 2)) + path_length(evaluated)
    same = magnitude(from_channels - evaluated).max(axis=1) <= SINGLE_PRECISION * size
    return np.where(same[:, None, None], from_channels, evaluated)


def _as_keyed(motion: PlanMotion, joints: Array, world_from_keys: Array) -> Array:
    """Tip places `(F, 3)`, world space, rounded to those that single-precision location keys of the target can reach."""
    values = location_values(world_from_keys, points(motion.world_from_armature, joints[:, -1]))
    return points(world_from_keys, rounded_at_distance(values, motion.armature_from_world @ world_from_keys, joints[:, 0]))


def _carried(linear: Array, vectors: Array) -> Array:
    """Vectors `(F, j, 3)` transformed by `linear` `(F, 3, 3)`."""
    return np.einsum("...ij,...kj->...ki", linear, vectors)
