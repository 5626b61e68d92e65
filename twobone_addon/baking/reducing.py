"""Few keys instead of one per frame: the reduction of the curves room, held against the chain itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..array_types import Array
from ..curves.drift import Indices
from ..curves.reduction import Reduction, reduce_keys
from ..rig.bones import BoneChannels, RestBone
from ..rig.inheritance import pose_with_channels
from ..scene.lookup import rotation_path, scale_path
from ..scene.quantities import frame_rows
from ..scene.writing import ChannelKeys
from .motion import points, rotation_matrices
from .solving import Solved


def reduced(solved: Solved) -> tuple[list[ChannelKeys], float]:
    """The fewest keys that keep the tip within the tolerance, on the same frames for all channels, and the worst drift."""
    plan = solved.plan
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    own = _posed_points(solved, values, np.arange(len(values)))

    def drift(tried: Array, indices: Indices) -> Array:
        away = _posed_points(solved, tried, indices) - own[indices]
        return np.sqrt(np.sum(away * away, axis=-1)).max(axis=-1)

    found = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        preferred=plan.report_frames[_turning_points(solved)],
    )
    return [_channel_keys(solved, found, number) for number in range(values.shape[1])], found.worst_drift


def _posed_points(solved: Solved, values: Array, rows: Indices) -> Array:
    """Where the tip is, and the end bone's tail if it is keyed: world points `(M, p, 3)`.

    values : (M, K), of the chain's curves, at the plan's frames `rows` (M,)
    """
    plan, motion = solved.plan, solved.motion
    parent = None if motion.chain.parent_pose is None else frame_rows(motion.chain.parent_pose, rows)
    poses = []
    for bone, channels, present in zip(plan.rest.bones, motion.chain.channels, motion.rotation_values, strict=True):
        tried = _tried_channels(solved, bone, _at(channels, rows), frame_rows(present, rows), values)
        parent = pose_with_channels(bone, parent, tried)
        poses.append(parent)
    found = [points(poses[-1], plan.rest.tip)]
    if plan.end_bone is not None and motion.end_rotation_values is not None:
        still = BoneChannels(np.zeros(3), np.eye(3), np.ones(3))
        tried = _tried_channels(solved, plan.end_bone, still, frame_rows(motion.end_rotation_values, rows), values)
        end = pose_with_channels(plan.end_bone, poses[plan.end_parent], tried)
        found.append(points(end, np.array([0.0, plan.end_bone.length, 0.0])))
    world = frame_rows(motion.world_from_armature, rows)
    return np.stack([points(world, place) for place in found], axis=1)


def _at(channels: BoneChannels, rows: Indices) -> BoneChannels:
    return BoneChannels(*(frame_rows(values, rows) for values in (channels.location, channels.rotation, channels.scale)))


def _tried_channels(solved: Solved, bone: RestBone, channels: BoneChannels, present: Array, values: Array) -> BoneChannels:
    """A bone's channels with those that are keyed taken from `values` `(M, K)`; `present` `(M, 4)` is its rotation."""
    columns = {(curve.path, curve.index): values[:, number] for number, curve in enumerate(solved.curves)}
    path = rotation_path(bone)
    if any((path, index) in columns for index in range(4)):
        turned = np.broadcast_arrays(*(columns.get((path, index), present[:, index]) for index in range(4)))
        channels = replace(channels, rotation=rotation_matrices(bone.rotation_mode, np.stack(turned, axis=-1)))
    path = scale_path(bone)
    if (path, 0) in columns:
        channels = replace(channels, scale=np.stack([columns[path, axis] for axis in range(3)], axis=-1))
    return channels


def _turning_points(solved: Solved) -> Indices:
    """Frames, among those of the report, at which the goal turns back along one of the plane's axes."""
    goals = solved.chain.pose.goals[solved.plan.report_rows]
    directions = np.sign(np.diff(goals, axis=0))
    return np.flatnonzero(np.any(directions[1:] * directions[:-1] < 0.0, axis=-1)) + 1


def _channel_keys(solved: Solved, found: Reduction, number: int) -> ChannelKeys:
    curve = solved.curves[number]
    return ChannelKeys(
        curve.path,
        curve.index,
        curve.group,
        found.frames,
        found.values[:, number],
        "BEZIER",
        found.left[:, number],
        found.right[:, number],
    )
