"""Few keys instead of one per frame: the reduction of the curves room, held against the chain itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...array_types import Array, Indices
from ...arrays import frame_rows, magnitude
from ...curves.frames import turning_points
from ...curves.reducing.drift import portions
from ...curves.reducing.reduction import Reduction, reduce_keys
from ...rig.bones import BoneChannels, RestBone
from ...rig.channels import channel_rotations
from ...rig.inheritance import pose_with_channels
from ...scene.keys.tables import ChannelKeys
from ...scene.paths import rotation_path, scale_path
from ..motion.plan_motion import points
from ..plan.chain_plan import ChainPlan
from ..pose.solving import CurveSamples, SolvedChain
from .looping import loop_slopes


@dataclass(frozen=True, slots=True)
class KeyDrift:
    """Farthest that keys let joints drift from the full-rate motion, world units; 0 without reduction."""

    tip: float = 0.0
    """The tip, and the tail of the bone at the tip where that is keyed."""
    middle: float = 0.0
    """The joints between root and tip."""


NO_DRIFT = KeyDrift()


def reduced(solved: SolvedChain) -> tuple[list[ChannelKeys], KeyDrift]:
    """The fewest keys that keep all joints within the tolerance, on the same frames for all channels, and their drift."""
    plan = solved.plan
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    rows = np.arange(len(values))
    own = np.concatenate([posed_points(solved, values[part], rows[part]) for part in portions(len(values))])

    def drift(tried: Array, indices: Indices) -> Array:
        away = posed_points(solved, tried, indices) - own[indices]
        return magnitude(away)

    extremes = extreme_frames(solved)
    found = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=kept_frames(plan, extremes),
        preferred=extremes,
        ends=loop_slopes(plan, solved.curves),
    )
    return reduced_keys(solved.curves, found), key_drift(plan, found.worst_drifts)


def key_drift(plan: ChainPlan, worst: Array) -> KeyDrift:
    """The largest drifts `worst` `(p,)` of `posed_points`, told apart."""
    middle = len(plan.rest.turning) - 1
    return KeyDrift(float(worst[middle:].max()), float(worst[:middle].max(initial=0.0)))


def extreme_frames(solved: SolvedChain) -> Array:
    """Frames `(E,)` at which the goal turns back, seen along the plane's axes."""
    plan = solved.plan
    return plan.report_frames[turning_points(solved.pose.on_targets.goals[plan.report_rows])]


def kept_frames(plan: ChainPlan, extremes: Array) -> Array:
    """Frames that keep their keys as the settings ask, of which `extremes` are some."""
    return np.concatenate([plan.kept_frames, extremes if plan.settings.keep_keys in {"EXTREMES", "BOTH"} else []])


def posed_points(solved: SolvedChain, values: Array, rows: Indices) -> Array:
    """Where the middle joints are, then the tip, then the end bone's tail if it is keyed: world points `(M, p, 3)`.

    values : (M, K), of the chain's curves, at the plan's frames `rows` (M,)
    """
    plan, motion = solved.plan, solved.motion
    parent = None if motion.chain.parent_pose is None else frame_rows(motion.chain.parent_pose, rows)
    poses = []
    for bone, channels, present in zip(plan.rest.bones, motion.chain.channels, motion.rotation_values, strict=True):
        tried = _tried_channels(solved, bone, _at(channels, rows), frame_rows(present, rows), values)
        parent = pose_with_channels(bone, parent, tried)
        poses.append(parent)
    found = [*(poses[index][:, :3, 3] for index in plan.rest.turning[1:]), points(poses[-1], plan.rest.tip)]
    if plan.end_bone is not None and motion.end_rotation_values is not None:
        still = BoneChannels(np.zeros(3), np.eye(3), np.ones(3))
        tried = _tried_channels(solved, plan.end_bone, still, frame_rows(motion.end_rotation_values, rows), values)
        end = pose_with_channels(plan.end_bone, poses[plan.end_parent], tried)
        found.append(points(end, np.array([0.0, plan.end_bone.length, 0.0])))
    world = frame_rows(motion.world_from_armature, rows)
    return np.stack(np.broadcast_arrays(*(points(world, place) for place in found)), axis=1)


def _at(channels: BoneChannels, rows: Indices) -> BoneChannels:
    return BoneChannels(*(frame_rows(values, rows) for values in (channels.location, channels.rotation, channels.scale)))


def _tried_channels(solved: SolvedChain, bone: RestBone, channels: BoneChannels, present: Array, values: Array) -> BoneChannels:
    """A bone's channels with those that are keyed taken from `values` `(M, K)`; `present` `(M, 4)` is its rotation."""
    columns = {(curve.path, curve.index): values[:, number] for number, curve in enumerate(solved.curves)}
    path = rotation_path(bone)
    if any((path, index) in columns for index in range(4)):
        turned = tried_rotation(solved, path, present, values)
        channels = replace(channels, rotation=channel_rotations(bone.rotation_mode, turned))
    path = scale_path(bone)
    if (path, 0) in columns:
        channels = replace(channels, scale=np.stack([columns[path, axis] for axis in range(3)], axis=-1))
    return channels


def tried_rotation(solved: SolvedChain, path: str, present: Array, values: Array) -> Array:
    """Rotation channels `(M, 4)`: those at `path` that are keyed out of `values` `(M, K)`, the others as `present` `(M, 4)`."""
    columns = {curve.index: values[:, number] for number, curve in enumerate(solved.curves) if curve.path == path}
    return np.stack(np.broadcast_arrays(*(columns.get(index, present[:, index]) for index in range(4))), axis=-1)


def reduced_keys(curves: Sequence[CurveSamples], found: Reduction) -> list[ChannelKeys]:
    """The keys of a reduction, whose columns are those of the curves."""
    columns = zip(curves, found.values.T, np.swapaxes(found.left, 0, 1), np.swapaxes(found.right, 0, 1), strict=True)
    return [
        ChannelKeys(curve.path, curve.index, curve.group, found.frames, values, "BEZIER", left, right)
        for curve, values, left, right in columns
    ]
