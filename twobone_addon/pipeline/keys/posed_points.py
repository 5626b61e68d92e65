"""Joint positions of a solved chain for other values of its curves, such as those of fewer keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import frame_rows
from ...core.rig.bones import BoneChannels, RestBone
from ...core.rig.channels import channel_rotations
from ...core.rig.inheritance import pose_with_channels
from ...core.rig.posing import joints_of
from ...records import replace
from ...scene.bones import rotation_path, scale_path
from ..motion.plan_motion import points
from ..pose.solving import CurvedChain


@dataclass(frozen=True, slots=True)
class RotationColumns:
    """The chain's curves that hold a bone's rotation channels."""

    columns: dict[int, int]
    """Number of the curve, by index of the rotation channel."""

    @classmethod
    def of(cls, solved: CurvedChain, bone: RestBone) -> RotationColumns:
        """The columns of a bone; empty if its rotation is not keyed."""
        path = rotation_path(bone)
        return cls({curve.index: number for number, curve in enumerate(solved.curves) if curve.path == path})

    def filled(self, present: Array, values: Array) -> Array:
        """Rotation channels `(M, 4)`: keyed ones from `values` `(M, K)`, the others from `present` `(M, 4)`."""
        own = (values[:, self.columns[index]] if index in self.columns else present[:, index] for index in range(4))
        return np.stack(np.broadcast_arrays(*own), axis=-1)


@dataclass(frozen=True, slots=True)
class _Bone:
    """A bone, with the columns of the chain's curves that pose it."""

    bone: RestBone
    channels: BoneChannels
    present: Array
    """`(F, 4)` or `(1, 4)`, present values of its rotation channels."""
    rotation: RotationColumns
    scale: list[int]
    """Columns of its scale; empty if that is not keyed."""

    @classmethod
    def of(cls, solved: CurvedChain, bone: RestBone, channels: BoneChannels, present: Array) -> _Bone:
        path = scale_path(bone)
        scale = {curve.index: number for number, curve in enumerate(solved.curves) if curve.path == path}
        return cls(bone, channels, present, RotationColumns.of(solved, bone), [scale[axis] for axis in sorted(scale)])

    def posed(self, parent: Array | None, values: Array, rows: Indices) -> Array:
        """Pose `(M, 4, 4)` of the bone, armature space; see `PosedByCurves.poses`."""
        own = (self.channels.location, self.channels.rotation, self.channels.scale)
        channels = BoneChannels(*(frame_rows(each, rows) for each in own))
        if self.rotation.columns:
            turned = self.rotation.filled(frame_rows(self.present, rows), values)
            channels = replace(channels, rotation=channel_rotations(self.bone.rotation_mode, turned))
        if self.scale:
            channels = replace(channels, scale=values[:, self.scale])
        return pose_with_channels(self.bone, parent, channels)


@dataclass(frozen=True, slots=True)
class PosedByCurves:
    """A solved chain, to be posed by values of its curves."""

    solved: CurvedChain
    links: tuple[_Bone, ...]
    end: _Bone | None
    """The bone at the tip, if it is keyed."""
    lever: float
    """Distance from the axes of the keyed bones of further points, which show how these twist; 0 for none."""

    @classmethod
    def of(cls, solved: CurvedChain, lever: float = 0.0) -> PosedByCurves:
        """Prepare a chain to be posed many times."""
        plan, motion = solved.plan, solved.motion
        bones = zip(plan.rest.bones, motion.chain.channels, motion.rotation_values, strict=True)
        end = None
        if plan.end_bone is not None and motion.end_rotation_values is not None:
            still = BoneChannels(np.zeros((1, 3)), np.eye(3)[None], np.ones((1, 3)))
            end = _Bone.of(solved, plan.end_bone, still, motion.end_rotation_values)
        return cls(solved, tuple(_Bone.of(solved, *each) for each in bones), end, lever)

    def poses(self, values: Array, rows: Indices) -> list[Array]:
        """Poses `(M, 4, 4)` of the bones, armature space, for curve values `(M, K)` at the plan's frames `rows` `(M,)`."""
        above = self.solved.motion.chain.parent_pose
        parent = None if above is None else frame_rows(above, rows)
        poses = []
        for link in self.links:
            parent = link.posed(parent, values, rows)
            poses.append(parent)
        return poses

    def joints(self, values: Array, rows: Indices) -> Array:
        """World positions `(M, n + 1, 3)` of all joints, from root to tip; arguments as those of `poses`."""
        motion = self.solved.motion
        joints = joints_of(self.solved.plan.rest, self.poses(values, rows))
        world = frame_rows(motion.world_from_armature, rows)
        return (world[:, None, :3, :3] @ joints[..., None])[..., 0] + world[:, None, :3, 3]

    def points(self, values: Array, rows: Indices) -> Array:
        """World positions `(M, p, 3)` of the middle joints, then the tip, then the end bone's tail if that bone is keyed.

        Last are points beside all keyed bones, if there is a lever.

        values : (M, K), of the chain's curves, at the plan's frames `rows` (M,)
        """
        plan, motion, poses = self.solved.plan, self.solved.motion, self.poses(values, rows)
        keyed = [poses[index] for index in plan.rest.turning]
        found = [*(poses[index][:, :3, 3] for index in plan.rest.turning[1:]), points(poses[-1], plan.rest.tip)]
        if self.end is not None:
            end = self.end.posed(poses[plan.end_parent], values, rows)
            found.append(points(end, np.array([0.0, self.end.bone.length, 0.0])))
            keyed.append(end)
        found += [points(pose, np.array([self.lever, 0.0, 0.0])) for pose in keyed if self.lever]
        world = frame_rows(motion.world_from_armature, rows)
        return np.stack(np.broadcast_arrays(*(points(world, place) for place in found)), axis=1)
