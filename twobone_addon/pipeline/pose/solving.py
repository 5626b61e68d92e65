"""Pose a chain from its plan and motion, and make curves of the pose: numbers only, nothing in the file is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...core.array_types import Array, Indices, Mask
from ...core.arrays import every_row, frame_rows, magnitude, path_length
from ...core.curves.continuity import continuous_angles, continuous_axis_angles, continuous_eulers, continuous_quaternions
from ...core.rig.bones import RestBone
from ...core.rig.channels import STILL_ZERO, LocalRotations, Matrices, OneOfSeveral, from_eulers, to_eulers
from ...core.rig.following import ChainGoal, ChainPose, FollowingChain, references
from ...core.rig.inheritance import parent_transform
from ...core.rig.inverse import follow_together
from ...core.rig.posing import TurnedChain, pose_with_rotations, scale_carriers, stretched
from ...core.rig.rotations import from_quaternion, nearest_rotation, slerp, solve_linear, to_axis_angle, to_quaternion
from ...core.rows import in_parts, picked_rows, sliced
from ...records import replace
from ...scene.blender_types import Channel
from ...scene.bones import location_path, rotation_path, scale_path
from ..keys_beside import holds
from ..motion.plan_motion import AimedMotion, PlanMotion
from ..plan.chain_plan import ELSEWHERE, ChainPlan
from .chain_task import chain_task, target_offset
from .limb_plane import Unaimed

HINGE_TOLERANCE = 1e-5
"""Angle in radians between hinge and local axis below which the bone turns about that axis alone. A link of a metre then
leaves the plane by at most 10 micrometres, and its position in the plane is right to a ten-thousandth of that."""


@dataclass(frozen=True, slots=True)
class RotationCurves:
    """Values of some channels of one rotation property."""

    indices: tuple[int, ...]
    values: Array
    """`(F, len(indices))`"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Values of the channels before and after the range, `(k,)` each; `None` without keys there."""

    before: Array | None
    after: Array | None


def rotation_curves(
    mode: str, *, rotation: LocalRotations, present: Array, outside: Surroundings, baked: frozenset[int] = frozenset()
) -> RotationCurves:
    """Values for the rotation channels of one bone.

    mode : the bone's rotation mode
    rotation : the rotations to key
    present : (F, 4), present values of the channels
    baked : channels that an earlier bake has keyed; they are keyed again, so that none of its keys is left behind
    """
    if mode == "QUATERNION":
        values = continuous_quaternions(rotation.quaternions, before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), values)
    if mode == "AXIS_ANGLE":
        angle, axes = to_axis_angle(rotation.quaternions)
        angle, axes = continuous_axis_angles(angle, axes, before=outside.before, after=outside.after)
        return RotationCurves((0, 1, 2, 3), np.concatenate([angle[:, None], axes], axis=-1))
    # A bone that turns about one of its axes needs a single curve.
    for channel in range(3):
        turn = None if baked - {channel} else hinge_turn(mode, channel, rotation.matrices, present[:, :3])
        if turn is not None:
            before, after = (side if side is None else side[channel] for side in (outside.before, outside.after))
            return RotationCurves((channel,), continuous_angles(turn, before=before, after=after)[:, None])
    return RotationCurves((0, 1, 2), _eulers(mode, rotation.matrices, outside))


def _eulers(order: str, rotation: Array, outside: Surroundings) -> Array:
    """All three Euler angles `(F, 3)`; for a rotation about one axis the other two are exactly zero, not merely small."""
    for channel in range(3):
        turn = hinge_turn(order, channel, rotation, np.zeros((len(rotation), 3)))
        if turn is not None:
            angles = turn[:, None] * np.eye(3)[channel]
            return continuous_eulers(angles, order=order, before=outside.before, after=outside.after)
    return continuous_eulers(to_eulers(rotation, order), order=order, before=outside.before, after=outside.after)


def hinge_turn(order: str, channel: int, rotation: Array, present: Array) -> Array | None:
    """Angles `(F,)` of one Euler channel that give `rotation` `(F, 3, 3)` while the others stay as in `present` `(F, 3)`.

    Possible if the others are zero, or if the channel is applied last; `None` otherwise.
    """
    others = present.copy()
    others[:, channel] = 0.0
    if np.any(np.abs(others) > STILL_ZERO):
        if order[-1] != "XYZ"[channel]:
            return None
        rotation = rotation @ np.swapaxes(from_eulers(others, order), -1, -2)
    # A rotation about the channel's axis keeps that axis fixed; tilting it by e lowers the cosine by e^2 / 2.
    if np.any(1.0 - rotation[:, channel, channel] > 0.5 * HINGE_TOLERANCE**2):
        return None
    first, second = (channel + 1) % 3, (channel + 2) % 3
    return np.arctan2(rotation[:, second, first], rotation[:, first, first])


SETTLED = 1e-6
"""Move of a foot that is keyed along, relative to its limb, that is none: single precision."""
REPEATED = 5e-7
"""Largest difference of a bone's channels (radians or quaternion components) from what this bake would write at which the
present values are kept. A pose that is read back is rounded to single precision; a second bake must not pass that on."""


@dataclass(frozen=True, slots=True)
class KeyedPose:
    """The pose of a plan's chain as it is keyed."""

    turned: TurnedChain
    """The chain on its targets, blended with the present pose by influence."""
    ratio: Array
    """`(F,)` scale of the links, blended likewise."""
    end_rotation: Array | None
    """`(F, 3, 3)` local rotation of the end bone; `None` if it is not rotated."""


@dataclass(frozen=True, slots=True)
class SolvedPose(KeyedPose):
    """The solved pose of a plan's chain."""

    plane_frames: Array
    """`(K, 3, 3)` plane frames at the report frames, or `(1, 3, 3)`, armature space."""
    on_targets: ChainPose
    """The chain posed with full influence."""
    plane_held: Mask
    """`(F,)` where the plane was undefined and taken from another frame."""
    target_offset: Array
    """`(3,)`, the tip's goal in the target's space."""


@dataclass(frozen=True, slots=True)
class AimedPose(SolvedPose):
    """A solved pose with the task it solves, which is not needed once there are curves."""

    task: ChainGoal


@dataclass(frozen=True, slots=True)
class CurveSamples:
    """One channel at every sampled frame."""

    path: str
    index: int
    group: str
    values: Array
    """`(F,)` values to key, continuous."""
    present: Array
    """`(F,)` present values of the channel."""

    @property
    def channel(self) -> Channel:
        """The channel to be keyed."""
        return Channel(self.path, self.index)

    @property
    def ends(self) -> tuple[float, float]:
        """Present values at the first and the last frame."""
        return float(self.present[0]), float(self.present[-1])


@dataclass(frozen=True, slots=True)
class CurvedChain:
    """One chain with the curves that pose it."""

    plan: ChainPlan
    motion: PlanMotion
    curves: list[CurveSamples]


@dataclass(frozen=True, slots=True)
class SolvedChain(CurvedChain):
    """One chain with its curves and the pose they were made from."""

    pose: SolvedPose


def solve_chain_pose(plan: ChainPlan, motion: AimedMotion) -> AimedPose:
    """Pose the plan's chain on its target, for every row of the motion."""
    return solve_chain_poses([plan], [motion])[0]


def solve_chain_poses(plans: Sequence[ChainPlan], motions: Sequence[AimedMotion]) -> list[AimedPose]:
    """Pose the chains of several plans on their targets, together."""
    return aimed_poses(unaimed_limbs(plans, motions), motions)


def unaimed_limbs(plans: Sequence[ChainPlan], motions: Sequence[PlanMotion]) -> Iterator[Unaimed]:
    """The limbs of several plans before they are aimed. What is computed of one is freed with it."""
    at_rest = [plan.settings.reference == "REST" for plan in plans]
    starts = references([plan.rest for plan in plans], [motion.chain for motion in motions], at_rest)
    return map(Unaimed, plans, motions, starts)


def aimed_poses(limbs: Iterable[Unaimed], motions: Sequence[AimedMotion], *, quickly: bool = False) -> list[AimedPose]:
    """Pose limbs on their targets, together; the motions are those of the limbs, with targets. See `follow_together`."""
    problems = [_problem(limb, motion) for limb, motion in zip(limbs, motions, strict=True)]
    plans = [problem.plan for problem in problems]
    posed = follow_together([problem.following for problem in problems], quickly=quickly)
    return [_solved(*parts) for parts in zip(plans, motions, problems, posed, strict=True)]


def solve_curves(plan: ChainPlan, motion: AimedMotion) -> SolvedChain:
    """Pose the plan's chain and turn the poses into continuous curves."""
    return solve_together([plan], [motion])[0]


def solve_together(plans: Sequence[ChainPlan], motions: Sequence[AimedMotion]) -> list[SolvedChain]:
    """Pose the chains of several plans and turn the poses into continuous curves."""
    return curves_of_poses(plans, motions, solve_chain_poses(plans, motions))


def curves_of_poses(plans: Sequence[ChainPlan], motions: Sequence[PlanMotion], poses: Sequence[SolvedPose]) -> list[SolvedChain]:
    """Turn solved poses into continuous curves."""
    return [_with_curves(*parts) for parts in zip(plans, motions, poses, strict=True)]


@dataclass(frozen=True, slots=True)
class _Problem:
    """One chain with its task, ready to be solved."""

    plan: ChainPlan
    following: FollowingChain
    plane_held: Mask
    target_offset: Array


def _problem(limb: Unaimed, motion: AimedMotion) -> _Problem:
    offset = target_offset(limb.plan, motion)
    task, held = chain_task(limb, motion, offset)
    return _Problem(limb.plan, FollowingChain(limb.plan.rest, motion.chain, limb.reference, task), held, offset)


def keyed_pose(plan: ChainPlan, motion: AimedMotion, turned: TurnedChain, ratio: Array) -> KeyedPose:
    """The pose to key of a chain that is turned and scaled to be on its targets."""
    turned, ratio = _blended(plan, motion, turned, ratio)
    return KeyedPose(turned, ratio, _end_rotation(plan, motion, turned))


def _solved(plan: ChainPlan, motion: AimedMotion, problem: _Problem, on_targets: ChainPose) -> AimedPose:
    keyed = keyed_pose(plan, motion, on_targets.turned, on_targets.ratio)
    task, held, offset = problem.following.task, problem.plane_held, problem.target_offset
    frames = frame_rows(task.frames, plan.report_rows)
    return AimedPose(keyed.turned, keyed.ratio, keyed.end_rotation, frames, on_targets, held, offset, task)


def _with_curves(plan: ChainPlan, motion: PlanMotion, pose: SolvedPose) -> SolvedChain:
    curves = []
    for number, index in enumerate(plan.rest.turning):
        present = motion.rotation_values[index]
        curves += _rotation_curves(plan, plan.rest.bones[index], pose.turned.rotations[number], present)
    if plan.end_bone is not None and pose.end_rotation is not None and motion.end_rotation_values is not None:
        curves += _rotation_curves(plan, plan.end_bone, Matrices(pose.end_rotation), motion.end_rotation_values)
    if plan.settings.reach == "STRETCH":
        for index in scale_carriers(plan.rest):
            bone, scale = plan.rest.bones[index], motion.chain.channels[index].scale
            scaled = scale * pose.ratio[:, None]
            curves += [CurveSamples(scale_path(bone), axis, bone.name, scaled[:, axis], scale[:, axis]) for axis in range(3)]
    if plan.along:
        curves += curves_along(plan, motion, pose.turned.joints[:, -1])
    return SolvedChain(plan, motion, curves, without_task(pose))


def curves_along(plan: ChainPlan, motion: PlanMotion, tips: Array) -> list[CurveSamples]:
    """Curves of the feet that go along with the limb's tip at `tips` `(F, 3)`, armature space: as far from it as before.

    What need not move keeps its values exactly.
    """
    curves = []
    for foot, present in zip(plan.along, motion.along, strict=True):
        place = parent_transform(foot.bone, present.above).place
        moves = every_row(tips - present.meets, len(motion.frames))
        location = every_row(present.location, len(motion.frames))
        moved = solve_linear(every_row(np.reshape(place, (-1, 3, 3)), len(motion.frames)), moves)
        values = np.where(
            magnitude(moves)[:, None] <= SETTLED * float(path_length(plan.rest.rest_joints())), location, location + moved
        )
        path = location_path(foot.bone)
        curves += [CurveSamples(path, axis, foot.bone.name, values[:, axis], location[:, axis]) for axis in range(3)]
    return curves


def curves_of_rows(plan: ChainPlan, motion: PlanMotion, pose: SolvedPose, rows: Indices) -> list[CurveSamples]:
    """The continuous curves of a pose at `rows`; plan and motion have just these rows."""
    rotations = tuple(OneOfSeveral(rotation, rows) for rotation in pose.turned.rotations)
    end = None if pose.end_rotation is None else frame_rows(pose.end_rotation, rows)
    part = replace(pose, turned=replace(pose.turned, rotations=rotations), ratio=frame_rows(pose.ratio, rows), end_rotation=end)
    curves = _with_curves(replace(plan, along=()), motion, part).curves
    return [*curves, *(curves_along(plan, motion, frame_rows(pose.turned.joints[:, -1], rows)) if plan.along else ())]


def without_task(pose: SolvedPose) -> SolvedPose:
    """The pose without its task."""
    return SolvedPose(*(getattr(pose, entry.name) for entry in fields(SolvedPose)))


def without_turns(pose: SolvedPose) -> SolvedPose:
    """The pose without rotations and posed matrices, which for a long take need more memory than all its curves."""
    bare = replace(pose.turned, rotations=(), known_poses=None, together=None)
    return replace(without_task(pose), on_targets=replace(pose.on_targets, turned=bare), turned=bare, end_rotation=None)


def _blended(plan: ChainPlan, motion: PlanMotion, on_targets: TurnedChain, full: Array) -> tuple[TurnedChain, Array]:
    """The solved pose and its scale `full` `(F,)`, blended with the present ones by influence: joints turn the shortest way."""
    if np.all(motion.influence >= 1.0):
        return on_targets, full
    ratio = 1.0 + (full - 1.0) * motion.influence
    scaled = stretched(plan.rest, motion.chain, ratio)
    rotations = tuple(
        from_quaternion(slerp(to_quaternion(motion.chain.channels[index].rotation), solved.quaternions, motion.influence))
        for index, solved in zip(plan.rest.turning, on_targets.rotations, strict=True)
    )
    return pose_with_rotations(plan.rest, scaled, rotations), ratio


def _end_rotation(plan: ChainPlan, motion: AimedMotion, turned: TurnedChain) -> Array | None:
    """Local rotation `(F, 3, 3)` for the end bone's orientation in the armature; `None` if it is not rotated."""
    end = plan.end_bone
    if end is None or motion.end_pose is None:
        return None
    follows = plan.settings.end_rotation == "TARGET"
    offset = kept_end_turn(plan, motion) if follows else np.eye(3)

    def rotations(part: slice) -> Array:
        now = sliced(motion, part)
        orientation = present = _end_as_posed(now)
        if follows:
            target = to_quaternion(_end_on_target(now) @ offset)
            orientation = from_quaternion(slerp(to_quaternion(present), target, now.influence))
        above = now.along[0].above if plan.end_parent == ELSEWHERE else turned.at(part)[plan.end_parent]
        inherited = parent_transform(end, above).turn_and_scale
        return nearest_rotation(np.swapaxes(nearest_rotation(inherited), -1, -2) @ orientation)

    return in_parts(rotations, len(motion.frames))


def kept_end_turn(plan: ChainPlan, motion: AimedMotion) -> Array:
    """Rotation `(3, 3)` from the target to the end bone: what lies between them at the first keyed frame, if that is kept."""
    if plan.settings.target_offset != "KEEP":
        return np.eye(3)
    first = picked_rows(motion, plan.report_rows[:1])
    return (np.swapaxes(_end_on_target(first), -1, -2) @ _end_as_posed(first))[0]


def _end_as_posed(motion: AimedMotion) -> Array:
    """Present orientation `(F, 3, 3)` of the end bone, armature space."""
    assert motion.end_pose is not None  # noqa: S101 - it is rotated
    return nearest_rotation(motion.end_pose[:, :3, :3])


def _end_on_target(motion: AimedMotion) -> Array:
    """The target's orientation `(F, 3, 3)`, armature space."""
    return nearest_rotation((motion.armature_from_world @ motion.target_world)[:, :3, :3])


def _rotation_curves(plan: ChainPlan, bone: RestBone, rotation: LocalRotations, present: Array) -> list[CurveSamples]:
    path = rotation_path(bone)
    curves = rotation_curves(
        bone.rotation_mode,
        rotation=rotation,
        present=present,
        outside=surroundings_of(plan, path, present),
        baked=frozenset(index for index in range(3) if plan.keyed[Channel(path, index)].baked),
    )
    now = np.broadcast_to(present[:, curves.indices], curves.values.shape)
    values = now if np.all(np.abs(curves.values - now) <= REPEATED) else curves.values
    return [
        CurveSamples(path, channel, bone.name, values[:, column], present[:, channel])
        for column, channel in enumerate(curves.indices)
    ]


def surroundings_of(plan: ChainPlan, path: str, present: Array) -> Surroundings:
    """Values of the keys before and after the range, including those that the bake will add there; see `keys_beside`.

    A channel without keys on a side has its present value there.
    """
    held = holds(plan.settings)
    width = 3 if path.endswith("rotation_euler") else 4
    keyed = [plan.keyed[Channel(path, index)] for index in range(width)]
    sides = []
    for side, row in ((0, 0), (1, -1)):
        values = [channel.frame_beside[side] if held[side] else channel.beside[side] for channel in keyed]
        known = held[side] or any(value is not None for value in values)
        filled = [present[row, index] if value is None else value for index, value in enumerate(values)]
        sides.append(np.array(filled) if known else None)
    return Surroundings(*sides)
