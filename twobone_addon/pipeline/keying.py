"""The keys of a solved chain: one per frame, or reduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.array_types import Array, Indices, KeyFrames
from ..core.arrays import frame_rows, magnitude, path_length
from ..core.curves.drift import Drift, portions
from ..core.curves.frames import cuts, goes_on, meets, seam_slopes, turning_points
from ..core.curves.reduction import reduce_keys
from ..core.rig.bones import BoneChannels, RestBone
from ..core.rig.channels import channel_rotations
from ..core.rig.inheritance import parent_transform, pose_with_channels
from ..core.rig.posing import joints_of
from ..records import replace
from ..scene.blender_types import Channel
from ..scene.bones import location_path, rotation_path, scale_path
from ..scene.keys.tables import (
    ChannelKeys,
    Keyed,
    SmoothKeys,
    StraightKeys,
)
from .keys_beside import held_beside, holds
from .motion.plan_motion import points
from .plan.chain_plan import ELSEWHERE, ChainPlan
from .pose.solving import CurvedChain, CurveSamples, SolvedChain


@dataclass(frozen=True, slots=True)
class _Bone:
    """A bone, with the columns of the chain's curves that pose it."""

    bone: RestBone
    channels: BoneChannels
    present: Array
    """`(F, 4)` or `(1, 4)`, present values of its rotation channels."""
    rotation: dict[int, int]
    """Column of each rotation channel that is keyed, by index."""
    scale: list[int]
    """Columns of its scale; empty if that is not keyed."""

    @classmethod
    def of(cls, solved: CurvedChain, bone: RestBone, channels: BoneChannels, present: Array) -> _Bone:
        rotation, scale = (
            {curve.index: number for number, curve in enumerate(solved.curves) if curve.path == path}
            for path in (rotation_path(bone), scale_path(bone))
        )
        return cls(bone, channels, present, rotation, [scale[axis] for axis in sorted(scale)])

    def posed(self, parent: Array | None, values: Array, rows: Indices) -> Array:
        """Pose `(M, 4, 4)` of the bone, armature space; see `PosedByCurves.poses`."""
        now = (self.channels.location, self.channels.rotation, self.channels.scale)
        channels = BoneChannels(*(frame_rows(component, rows) for component in now))
        if self.rotation:
            still = frame_rows(self.present, rows)
            components = (values[:, self.rotation[index]] if index in self.rotation else still[:, index] for index in range(4))
            turned = np.stack(np.broadcast_arrays(*components), axis=-1)
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
            # Only how it turns is keyed, so nothing else of it can drift.
            still = BoneChannels(np.zeros((1, 3)), np.eye(3)[None], np.ones((1, 3)))
            end = _Bone.of(solved, plan.end_bone, still, motion.end_rotation_values)
        return cls(solved, tuple(_Bone.of(solved, *bone) for bone in bones), end, lever)

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
        posed = [*(poses[index][:, :3, 3] for index in plan.rest.turning[1:]), points(poses[-1], plan.rest.tip)]
        if self.end is not None:
            end = self.end.posed(self._above_end(poses, rows), values, rows)
            posed.append(points(end, np.array([0.0, self.end.bone.length, 0.0])))
            keyed.append(end)
        posed += self._feet_along(values, rows)
        posed += [points(pose, np.array([self.lever, 0.0, 0.0])) for pose in keyed if self.lever]
        world = frame_rows(motion.world_from_armature, rows)
        return np.stack(np.broadcast_arrays(*(points(world, point) for point in posed)), axis=1)

    def drift_from(self, values: Array, rows: Indices | None = None) -> Drift:
        """Function measuring how far other values move the points from where `values` `(N, K)` at `rows` `(N,)` have them.

        Without `rows` the values are those of all rows: a long take needs no list of them.
        """
        of_parts = [(part, np.arange(part.start, part.stop) if rows is None else rows[part]) for part in portions(len(values))]
        exact = np.concatenate([self.points(values[part], of_part) for part, of_part in of_parts])
        return lambda tried, indices: magnitude(self.points(tried, indices if rows is None else rows[indices]) - exact[indices])

    def _above_end(self, poses: list[Array], rows: Indices) -> Array | None:
        plan, motion = self.solved.plan, self.solved.motion
        if plan.end_parent != ELSEWHERE:
            return poses[plan.end_parent]
        above = motion.along[0].above
        return None if above is None else frame_rows(above, rows)

    def _feet_along(self, values: Array, rows: Indices) -> list[Array]:
        """Moves `(M, 3)` of the feet that are keyed along, armature space, from where their locations are zero."""
        columns = {(curve.path, curve.index): number for number, curve in enumerate(self.solved.curves)}
        moves = []
        for foot, motion in zip(self.solved.plan.along, self.solved.motion.along, strict=True):
            above = None if motion.above is None else frame_rows(motion.above, rows)
            place = np.reshape(parent_transform(foot.bone, above).place, (-1, 3, 3))
            location = values[:, [columns[location_path(foot.bone), axis] for axis in range(3)]]
            moves.append((place @ location[..., None])[..., 0])
        return moves


QUATERNION = ".rotation_quaternion"


def loop_slopes(plan: ChainPlan, curves: Sequence[CurveSamples]) -> tuple[Array, Array] | None:
    """Slopes `(K,)` of the curves, per frame, at the first and the last key of a loop; `None` if there is no loop.

    Automatic treats a range without cuts as a loop if its first and last pose match, and either target or chain are set to
    repeat or the motion leaves the first pose as it arrives at the last. Quaternions may come back with the other sign.
    """
    if plan.settings.loop == "OFF" or len(plan.report_rows) == 1 or not curves:
        return None
    first, last = plan.report_rows[[0, -1]]
    rows = np.array([first, first + 1, last - 1, last])
    values = np.stack([curve.values[rows] for curve in curves], axis=-1)
    signs = np.ones(len(curves))
    for path in {curve.path for curve in curves if curve.path.endswith(QUATERNION)}:
        columns = [number for number, curve in enumerate(curves) if curve.path == path]
        if values[0, columns] @ values[-1, columns] < 0.0:
            signs[columns] = -1.0
    values[2:] *= signs
    times = plan.frames[rows]
    if plan.settings.loop == "AUTO" and (plan.is_cut or not (meets(values) and (plan.repeats or goes_on(times, values)))):
        return None
    slopes = seam_slopes(times, values)
    return slopes, slopes * signs


@dataclass(frozen=True, slots=True)
class KeyDrift:
    """Largest drift of joints from the full-rate motion, world units; 0 without reduction."""

    tip: float = 0.0
    """Of the tip, and of the tail of the bone at the tip if that is keyed."""
    middle: float = 0.0
    """Of the joints between root and tip."""


NO_DRIFT = KeyDrift()


class FewKeys(NamedTuple):
    """Reduced keys, on the same frames for all channels, with their drift."""

    keys: list[SmoothKeys]
    drifts: Array
    """`(P,)` largest drift of each point that was measured, world units."""


def fewest_keys(
    curves: Sequence[CurveSamples],
    values: Array,
    times: Array,
    drift: Drift,
    tolerance: float,
    *,
    key_frames: Array,
    required: ArrayLike = (),
    preferred: ArrayLike = (),
    ends: tuple[Array, Array] | None = None,
) -> FewKeys:
    """The fewest keys of curves with `values` `(N, K)` at `times` `(N,)`; all else as for `reduce_keys`.

    Every task reduces here.
    """
    reduction = reduce_keys(
        times, values, drift, tolerance, key_frames=key_frames, required=required, preferred=preferred, ends=ends
    )
    frames, keys = KeyFrames(reduction.frames), []
    for column, curve in enumerate(curves):
        left, right, smooth = reduction.left[:, column], reduction.right[:, column], reduction.smooth[:, column]
        keys.append(SmoothKeys(curve.path, curve.index, curve.group, frames, reduction.values[:, column], left, right, smooth))
    return FewKeys(keys, reduction.worst_drifts)


def planned_few_keys(
    plan: ChainPlan,
    curves: Sequence[CurveSamples],
    values: Array,
    drift: Drift,
    extremes: Array,
    *,
    preferred: ArrayLike = (),
) -> FewKeys:
    """The fewest keys over the range of a plan, by its settings, of curves with `values` `(F, K)`.

    extremes : frames at which the motion turns, which keep their keys if the settings ask for that
    """
    keeps_extremes = plan.settings.keep_keys in {"EXTREMES", "BOTH"}
    return fewest_keys(
        curves,
        values,
        plan.frames,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=np.concatenate([plan.kept_frames, extremes if keeps_extremes else []]),
        preferred=preferred,
        ends=loop_slopes(plan, curves),
    )


SWEEP = 0.05
"""Change of a unit axis from one sample to the next, in radians, from which its direction sweeps: slower ones are fitted."""

AXIS_ANGLE = ".rotation_axis_angle"


def with_calm_axes(curves: Sequence[CurveSamples]) -> tuple[list[CurveSamples], Array]:
    """The curves and all their values `(F, K)`, in which no axis of an axis and angle sweeps; all rotations stay the same.

    Near no rotation the axis turns by half a turn within a fraction of a frame, although the bone hardly moves. Blender takes the
    axis' direction alone, so where it sweeps it is made as long as its angle is large: that vector passes zero smoothly.
    """
    values = calm = np.stack([curve.values for curve in curves], axis=-1)
    for path in dict.fromkeys(curve.path for curve in curves if curve.path.endswith(AXIS_ANGLE)):
        columns = {curve.index: number for number, curve in enumerate(curves) if curve.path == path}
        if len(columns) < 4:  # noqa: PLR2004 - an angle and an axis
            continue
        axis_columns = [columns[index] for index in (1, 2, 3)]
        angles, axes = np.abs(values[:, columns[0]]), values[:, axis_columns]
        if len(axes) > 1 and angles.min() > 0.0 and magnitude(np.diff(axes, axis=0)).max() > SWEEP:
            calm = calm.copy() if calm is values else calm
            calm[:, axis_columns] = axes * (angles / angles.max())[:, None]
    # The curves are views of the values, so that those of a long take are in memory only once.
    return [replace(curve, values=calm[:, column]) for column, curve in enumerate(curves)], calm


def ended_at_cuts(plan: ChainPlan, joints_world: Array) -> ChainPlan:
    """The plan with keys kept on both sides of every cut, see `cuts`, so that no reduced span and no loop leads across one.

    joints_world : `(K, p, 3)` all joints of the limb, the root joint first, at the plan's report frames
    """
    frames = plan.report_frames
    if np.any(np.diff(frames) != 1.0):  # A step between keys farther apart may be motion.
        return plan
    begun = cuts(joints_world, float(path_length(joints_world).max()))
    if not len(begun):
        return plan
    kept = np.union1d(plan.kept_frames, frames[np.concatenate([begun - 1, begun])])
    return replace(plan, is_cut=True, kept_frames=kept)


@dataclass(frozen=True, slots=True)
class KeyedChain:
    """One solved chain with its keys, ready to be written."""

    solved: SolvedChain
    keys: list[ChannelKeys]
    drift: KeyDrift
    sets: tuple[str, ...] = ()
    """Data paths of properties that are set along with the keys."""


def keyed_chain(solved: SolvedChain, lever: float = 0.0) -> KeyedChain:
    """Choose the keys of a solved chain according to its settings.

    lever : distance at which points beside the bones stay within the tolerance as well; by default twists are no drift
    """
    # Only the spans between reduced keys, and handles, could reach across a cut.
    if solved.plan.settings.keys == "REDUCE" or solved.plan.settings.interpolation == "BEZIER":
        rows = solved.plan.report_rows
        values = np.stack([curve.values[rows] for curve in solved.curves], axis=-1)
        solved = replace(solved, plan=ended_at_cuts(solved.plan, PosedByCurves.of(solved).joints(values, rows)))
    if solved.plan.settings.keys == "REDUCE":
        curves, values = with_calm_axes(solved.curves)
        solved, plan = replace(solved, curves=curves), solved.plan
        measured = PosedByCurves.of(solved, lever).drift_from(values)
        # Frames at which a coordinate of the goal along the plane's axes has an extreme.
        extremes = plan.report_frames[turning_points(solved.pose.on_targets.goals[plan.report_rows])]
        keys, worst = planned_few_keys(plan, curves, values, measured, extremes, preferred=extremes)
        middle = len(plan.rest.turning) - 1
        drift = KeyDrift(float(worst[middle:].max()), float(worst[:middle].max(initial=0.0)))
    else:
        keys, drift = full_rate_keys(solved.plan, solved.curves), NO_DRIFT
    return KeyedChain(solved, all_held_beside(solved.plan, solved.plan.keyed, solved.curves, keys), drift)


def all_held_beside(
    plan: ChainPlan, keyed: Mapping[Channel, Keyed], curves: Sequence[CurveSamples], keys: Sequence[ChannelKeys]
) -> list[ChannelKeys]:
    """The keys of curves, with those beside the range that the settings ask for; `keyed` has the present keys by channel."""
    is_held = holds(plan.settings)
    if not any(is_held):
        return list(keys)
    return [
        held_beside(channel_keys, keyed[curve.channel], plan.within, is_held, curve.ends)
        for curve, channel_keys in zip(curves, keys, strict=True)
    ]


def full_rate_keys(plan: ChainPlan, curves: Sequence[CurveSamples]) -> list[ChannelKeys]:
    """Keys of each curve at all report frames of the plan."""
    rows = plan.report_rows
    frames, interpolation = plan.report_frames, plan.settings.interpolation
    if interpolation != "BEZIER":
        straight = "LINEAR" if interpolation == "LINEAR" else "CONSTANT"
        return [
            StraightKeys(curve.path, curve.index, curve.group, frames, curve.values[rows], straight, held=plan.held)
            for curve in curves
        ]
    slopes = [np.gradient(curve.values, plan.frames)[rows] if len(plan.frames) > 1 else np.zeros(1) for curve in curves]
    ends = loop_slopes(plan, curves)
    if ends is not None:
        for slope, start, end in zip(slopes, *ends, strict=True):
            slope[0], slope[-1] = start, end
    keys: list[ChannelKeys] = []
    for curve, slope in zip(curves, slopes, strict=True):
        values = curve.values[rows]
        keys.append(SmoothKeys(curve.path, curve.index, curve.group, frames, values, *_handles(frames, values, slope)))
    return keys


def _handles(frames: KeyFrames, values: Array, slopes: Array) -> tuple[Array, Array]:
    """Left and right handles `(K, 2)` a third of the way to the neighbouring keys, along the slopes of the motion.

    Those of a single key are a third of a frame long.
    """
    thirds = np.pad(np.diff(frames) / 3.0, 1, mode="edge") if len(frames) > 1 else np.full(2, 1.0 / 3.0)
    before, after = thirds[:-1], thirds[1:]
    left = np.stack([frames - before, values - slopes * before], axis=-1)
    right = np.stack([frames + after, values + slopes * after], axis=-1)
    return left, right
