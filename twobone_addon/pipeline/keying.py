"""The keys of a solved chain: one per frame or reduced, and those that hold what is beside its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.array_types import Array, Indices, KeyFrames, Mask
from ..core.arrays import frame_rows, magnitude, path_length
from ..core.curves.bezier import parameters_at
from ..core.curves.drift import portions
from ..core.curves.frames import NEAR_FRAME, cuts, goes_on, meets, seam_slopes, turning_points
from ..core.curves.reduction import Reduction, reduce_keys
from ..core.rig.bones import BoneChannels, RestBone
from ..core.rig.channels import channel_rotations
from ..core.rig.inheritance import pose_with_channels
from ..core.rig.posing import joints_of
from ..records import replace
from ..scene.blender_types import Channel
from ..scene.bones import rotation_path, scale_path
from ..scene.keys.tables import (
    HANDLE_FREE,
    INTERPOLATION,
    NO_KEYS,
    ChannelKeys,
    Keyed,
    KeyTable,
    SmoothKeys,
    StraightKeys,
    joined_keys,
    new_keys,
    some_keys,
)
from ..settings import BakeSettings
from .motion.plan_motion import points
from .plan.chain_plan import ChainPlan
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
            end = self.end.posed(poses[plan.end_parent], values, rows)
            posed.append(points(end, np.array([0.0, self.end.bone.length, 0.0])))
            keyed.append(end)
        posed += [points(pose, np.array([self.lever, 0.0, 0.0])) for pose in keyed if self.lever]
        world = frame_rows(motion.world_from_armature, rows)
        return np.stack(np.broadcast_arrays(*(points(world, point) for point in posed)), axis=1)


KeyPoint = tuple[float, float]
"""Frame and value."""


def held_outside(
    keyed: Keyed, *, settings: BakeSettings, within: tuple[float, float], present: tuple[float, float]
) -> KeyTable | None:
    """All keys of a channel, with new keys that hold its value one frame before and after the range, as the settings ask.

    present : values before and after the range for a channel without a curve

    `None` if the settings do not ask for any, and for an NLA strip: outside it nothing changes anyway.
    """
    if settings.destination == "NLA" or not (settings.key_before or settings.key_after):
        return None
    before, after = (now if curve is None else curve for now, curve in zip(present, keyed.frame_beside, strict=True))
    return with_held_keys(
        NO_KEYS if keyed.table is None else keyed.table,
        (within[0] - 1.0, before) if settings.key_before else None,
        (within[1] + 1.0, after) if settings.key_after else None,
    )


def with_held_keys(table: KeyTable, before: KeyPoint | None, after: KeyPoint | None) -> KeyTable:
    """The keys with one more before and one after a range, at the curve's own values there; `None` adds none.

    A Bezier segment is split at the frame (de Casteljau), so the part outside keeps its shape; for that the handle of the
    neighbouring key outside becomes free. Both may be in the same segment. An existing key at that frame stays as it is.
    """
    start, end = 0, 0
    left = first = last = NO_KEYS
    right = table
    if before is not None:
        start, first, left = _held_key(table, *before, leads_outside=False)
        end = start
    if after is not None:
        end, last, right = _held_key(table, *after, leads_outside=True)
    if not len(first["co"]) and not len(last["co"]):
        return table
    outside, beyond = some_keys(left, slice(None, start)), some_keys(right, slice(end, None))
    return joined_keys(outside, first, some_keys(table, slice(start, end)), last, beyond)


def has_keys(table: KeyTable, frames: Array) -> Mask:
    """Mask `(...)` of `frames` `(...)` at which there already is a key."""
    present = table["co"][:, 0]
    places = np.searchsorted(present, frames - NEAR_FRAME)
    return np.append(present, np.inf)[places] <= frames + NEAR_FRAME


def _held_key(table: KeyTable, frame: float, value: float, *, leads_outside: bool) -> tuple[int, KeyTable, KeyTable]:
    """Index at which a key at `frame` belongs, that key (`NO_KEYS` if there already is one), and the keys adjusted to it.

    leads_outside : whether the old curve continues after the key (it is after the range) instead of before it
    """
    frames = table["co"][:, 0]
    row = int(np.searchsorted(frames, frame - NEAR_FRAME))
    if row < len(frames) and frames[row] <= frame + NEAR_FRAME:
        return row, NO_KEYS, table
    held = new_keys(np.array([frame]), np.array([value]), INTERPOLATION["LINEAR"])
    if 0 < row < len(frames):
        # After the range a key goes on with the segment that it splits.
        if leads_outside:
            held["interpolation"][:] = table["interpolation"][row - 1]
        if table["interpolation"][row - 1, 0] == INTERPOLATION["BEZIER"]:
            table = {name: values.copy() for name, values in table.items()}
            _split(table, held, row, frame, leads_outside=leads_outside)
    return row, held, table


def _split(table: KeyTable, held: KeyTable, row: int, frame: float, *, leads_outside: bool) -> None:
    """Split the segment before `row` at `frame`: set the handles of `held` and of its neighbour outside, in row."""
    start, end = table["co"][row - 1].astype(float), table["co"][row].astype(float)
    duration = end[0] - start[0]
    # Like Blender, shorten handles that reach beyond the other key.
    right, left = (
        key + (handle - key) * min(1.0, duration / max(abs(handle[0] - key[0]), np.finfo(float).tiny))
        for key, handle in (
            (start, table["handle_right"][row - 1].astype(float)),
            (end, table["handle_left"][row].astype(float)),
        )
    )
    share = np.array((frame - start[0]) / duration)
    parameter = float(parameters_at(share, (right[0] - start[0]) / duration, (left[0] - start[0]) / duration))
    first, middle, last = start + parameter * (right - start), right + parameter * (left - right), left + parameter * (end - left)
    inner_left, inner_right = first + parameter * (middle - first), middle + parameter * (last - middle)
    if leads_outside:
        table["handle_left"][row], table["handle_left_type"][row] = last, HANDLE_FREE
        held["handle_right"][0], held["handle_right_type"][0] = inner_right, HANDLE_FREE
    else:
        table["handle_right"][row - 1], table["handle_right_type"][row - 1] = first, HANDLE_FREE
        held["handle_left"][0], held["handle_left_type"][0] = inner_left, HANDLE_FREE


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


def reduced(solved: SolvedChain, values: Array, lever: float = 0.0) -> tuple[list[SmoothKeys], KeyDrift]:
    """The fewest keys that keep all joints within the tolerance, on the same frames for all channels, and their drift.

    values : (F, K), of the chain's curves
    lever : distance at which points beside the bones stay within the tolerance as well; by default twists are no drift
    """
    plan = solved.plan
    posed = PosedByCurves.of(solved, lever)
    parts = portions(len(values))
    full_rate = np.concatenate([posed.points(values[part], np.arange(part.start, part.stop)) for part in parts])

    def drift(tried: Array, indices: Indices) -> Array:
        return magnitude(posed.points(tried, indices) - full_rate[indices])

    # Frames at which a coordinate of the goal along the plane's axes has an extreme.
    extremes = plan.report_frames[turning_points(solved.pose.on_targets.goals[plan.report_rows])]
    reduction = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=kept_frames(plan, extremes),
        preferred=extremes,
        ends=loop_slopes(plan, solved.curves),
    )
    worst, middle = reduction.worst_drifts, len(plan.rest.turning) - 1
    return reduced_keys(solved.curves, reduction), KeyDrift(float(worst[middle:].max()), float(worst[:middle].max(initial=0.0)))


SWEEP = 0.05
"""Change of a unit axis from one sample to the next, in radians, from which its direction sweeps: slower ones are fitted."""

AXIS_ANGLE = ".rotation_axis_angle"


def with_calm_axes(curves: Sequence[CurveSamples], values: Array) -> Array:
    """Values `(F, K)` of the curves, in which no axis of an axis and angle sweeps; all rotations stay the same.

    Near no rotation the axis turns by half a turn within a fraction of a frame, although the bone hardly moves. Blender takes the
    axis' direction alone, so where it sweeps it is made as long as its angle is large: that vector passes zero smoothly.
    """
    calm = values
    for path in dict.fromkeys(curve.path for curve in curves if curve.path.endswith(AXIS_ANGLE)):
        columns = {curve.index: number for number, curve in enumerate(curves) if curve.path == path}
        if len(columns) < 4:  # noqa: PLR2004 - an angle and an axis
            continue
        axis_columns = [columns[index] for index in (1, 2, 3)]
        angles, axes = np.abs(values[:, columns[0]]), values[:, axis_columns]
        if len(axes) > 1 and angles.min() > 0.0 and magnitude(np.diff(axes, axis=0)).max() > SWEEP:
            calm = calm.copy() if calm is values else calm
            calm[:, axis_columns] = axes * (angles / angles.max())[:, None]
    return calm


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


def kept_frames(plan: ChainPlan, extremes: Array) -> Array:
    """Frames that keep their keys according to the settings; `extremes` are included if the settings ask for them."""
    return np.concatenate([plan.kept_frames, extremes if plan.settings.keep_keys in {"EXTREMES", "BOTH"} else []])


def reduced_keys(curves: Sequence[CurveSamples], reduction: Reduction) -> list[SmoothKeys]:
    """The keys of a reduction with one column per curve."""
    return [reduced_channel(reduction, column, curve.path, curve.index, curve.group) for column, curve in enumerate(curves)]


def reduced_channel(reduction: Reduction, column: int, path: str, index: int, group: str) -> SmoothKeys:
    """One column of a reduction as the keys of a channel."""
    left, right = reduction.left[:, column], reduction.right[:, column]
    frames, smooth = KeyFrames(reduction.frames), reduction.smooth[:, column]
    return SmoothKeys(path, index, group, frames, reduction.values[:, column], left, right, smooth)


@dataclass(frozen=True, slots=True)
class KeyedChain:
    """One solved chain with its keys, ready to be written."""

    solved: SolvedChain
    keys: list[ChannelKeys]
    drift: KeyDrift
    sets: tuple[str, ...] = ()
    """Data paths of properties that are set along with the keys."""


def keyed_chain(solved: SolvedChain, lever: float = 0.0) -> KeyedChain:
    """Choose the keys of a solved chain according to its settings; `lever` as for `reduced`."""
    # Only the spans between reduced keys, and handles, could reach across a cut.
    if solved.plan.settings.keys == "REDUCE" or solved.plan.settings.interpolation == "BEZIER":
        rows = solved.plan.report_rows
        values = np.stack([curve.values[rows] for curve in solved.curves], axis=-1)
        solved = replace(solved, plan=ended_at_cuts(solved.plan, PosedByCurves.of(solved).joints(values, rows)))
    if solved.plan.settings.keys == "REDUCE":
        values = with_calm_axes(solved.curves, np.stack([curve.values for curve in solved.curves], axis=-1))
        # Make the curves views of `values`, so that those of a long take are in memory only once.
        solved = replace(solved, curves=[replace(curve, values=values[:, row]) for row, curve in enumerate(solved.curves)])
        keys, drift = reduced(solved, values, lever)
    else:
        keys, drift = full_rate_keys(solved.plan, solved.curves), NO_DRIFT
    held = [with_held(solved.plan, solved.plan.keyed, *pair) for pair in zip(solved.curves, keys, strict=True)]
    return KeyedChain(solved, held, drift)


def with_held(plan: ChainPlan, keyed: Mapping[Channel, Keyed], curve: CurveSamples, keys: ChannelKeys) -> ChannelKeys:
    """The keys of a curve, with those beside the range that the settings ask for; `keyed` has the present keys by channel."""
    outside = held_outside(
        keyed[curve.channel],
        settings=plan.settings,
        within=plan.within,
        present=(float(curve.present[0]), float(curve.present[-1])),
    )
    if outside is None:
        return keys
    if isinstance(keys, StraightKeys):  # Pyright checks the fields of one record, not of either.
        return replace(keys, outside=outside)
    return replace(keys, outside=outside)


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
