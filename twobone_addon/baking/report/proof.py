"""What the baked animation really does: evaluated again by Blender, and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Mask
from ...arrays import every_row, frame_rows, magnitude
from ...rig.planes.plane_frames import from_plane, in_plane, out_of_plane
from ...scene.keys.reading import key_frames
from ...scene.lookup import object_named
from ...scene.walk.evaluate import Quantity, Samples
from ...solver import Reach
from ..motion.plan_motion import points, target_matrices
from ..pose.solving import SolvedChain
from .between import Between, Track, keyed_intervals, measured_frames, quarters, worst_between, worst_intervals, worth_a_look
from .motion_between import MotionBetween
from .sight import Sight
from .units import limb_length


@dataclass(frozen=True, slots=True)
class Measured:
    """Distances in world units; `None` where there was no frame to measure. One chain's, at the frames of its report."""

    max_error: float | None
    mean_error: float | None
    max_goal_error: float | None
    max_off_plane: float
    distances: Array
    """`(K,)` of the tip from its target, in space; not a number where the target is nowhere."""
    beside: Array
    """`(K,)` how much of that is across the plane."""
    aside: Array
    """`(K,)` how much of it, in the plane, reach, softness, limits and influence are meant to leave."""
    limb_length: float
    between: Between | None
    turned: tuple[Array, ...]
    """Posed matrices `(K, 4, 4)` of the bones that turn, one row where they are still."""
    sight: Sight | None = None
    """What people see of it."""


def proof_quantities(solved: SolvedChain) -> list[Quantity]:
    """What to sample of the baked animation: the joints, the target and the armature."""
    plan = solved.plan
    carriers = dict.fromkeys([*plan.rest.turning, len(plan.rest.bones) - 1])
    return [plan.armature_world, *plan.aims, *(plan.pose(index) for index in carriers)]


def proof_frames(solved: SolvedChain) -> Array:
    """Frames `(M,)` at which a chain is measured: those of its report, and whole frames between keys that are far apart."""
    return measured_frames(solved.plan.report_frames)


def track(solved: SolvedChain, samples: Samples) -> Track:
    """A chain and its target at the frames of the samples."""
    plan, count = solved.plan, len(samples.frames)
    world = samples[plan.armature_world]
    joints = [every_row(points(world, joint), count) for joint in _joints(solved, samples)]
    targets = points(target_matrices(plan, samples), solved.pose.target_offset)
    return Track(samples.frames, np.stack(joints, axis=1), every_row(targets, count))


def moments_between(solved: SolvedChain, at_frames: Track, motion: MotionBetween, *, affordable: int) -> Array:
    """Moments `(Q,)` between frames at which a chain is evaluated: all quarters, or where there are too many the worst.

    motion : tells what F-curves alone move at the telling moments of all intervals between those frames
    affordable : intervals whose quarters may be evaluated
    """
    count = len(at_frames.frames) - 1
    if count <= affordable:
        return quarters(at_frames.frames, np.arange(count))
    settings = solved.plan.settings
    interpolation = "BEZIER" if settings.keys == "REDUCE" else settings.interpolation
    targets = _targets_between(solved, at_frames, motion)
    worst = worst_intervals(
        at_frames, targets, interpolation=interpolation, count=worth_a_look(len(at_frames.frames), affordable)
    )
    keyed = key_frames(object_named(settings.target), settings.target_bone)
    return quarters(at_frames.frames, np.union1d(worst, keyed_intervals(at_frames.frames, keyed)).astype(int))


def _targets_between(solved: SolvedChain, at_frames: Track, motion: MotionBetween) -> Array | None:
    """Where the tip is to be, `(M - 1, 2, 3)`, at the telling moments of each interval; `None` where curves do not tell."""
    if solved.plan.source is not None or len(at_frames.frames) <= 1:
        return None
    return motion.places(solved.plan.target_world, solved.pose.target_offset)


def measure(solved: SolvedChain, samples: Samples, inside: Track | None) -> Measured:
    """Compare evaluated joints with the evaluated target at the frames of the plan's report.

    samples : of all of `proof_frames`
    inside : what was measured between them
    """
    plan, pose, at = solved.plan, solved.pose, solved.plan.report_rows
    samples = samples.on(plan.report_frames)
    frames, reach = frame_rows(pose.task.frames, at), pose.on_targets.reach[at]
    world_from_armature = samples[plan.armature_world]
    linear = world_from_armature[:, :3, :3]
    joints = _joints(solved, samples)
    targets_world = points(target_matrices(plan, samples), pose.target_offset)
    targets = points(np.linalg.inv(world_from_armature), targets_world)
    root, tip = joints[0], joints[-1]
    missed = in_plane(frames, tip - targets)
    astray = in_plane(frames, tip - root) - pose.on_targets.goals[at]
    whole = frame_rows(solved.motion.influence, at) >= 1.0
    reached = whole & (reach == Reach.REACHED)
    determined = whole & (reach != Reach.DEGENERATE)
    depths = [frames[:, :, 2] * out_of_plane(frames, joint - root)[:, None] for joint in joints[1:]]
    reported = track(solved, samples)
    beside = _world_lengths(linear, frames[:, :, 2] * out_of_plane(frames, tip - targets)[:, None])
    meant = pose.on_targets.goals[at] - in_plane(frames, targets - root)
    errors = np.broadcast_to(_world_lengths(linear, from_plane(frames, missed)), reached.shape)[reached]
    return Measured(
        max_error=float(errors.max()) if errors.size else None,
        mean_error=float(errors.mean()) if errors.size else None,
        max_goal_error=_largest(_world_lengths(linear, from_plane(frames, astray)), determined),
        max_off_plane=float(max(_world_lengths(linear, depth).max() for depth in depths)),
        distances=reported.distances,
        beside=_for_each(beside, reported),
        aside=_for_each(_world_lengths(linear, from_plane(frames, meant)), reported),
        limb_length=limb_length(reported.joints_world),
        between=worst_between(reported, inside) if inside is not None else None,
        turned=tuple(samples[plan.pose(index)] for index in plan.rest.turning),
    )


def _for_each(values: Array, reported: Track) -> Array:
    return np.broadcast_to(values, reported.frames.shape)


def _joints(solved: SolvedChain, samples: Samples) -> list[Array]:
    """Evaluated joints, `(K, 3)` each, armature space: the head of each bone that turns, and the tip."""
    plan = solved.plan
    heads = [samples[plan.pose(index)][:, :3, 3] for index in plan.rest.turning]
    last = samples[plan.pose(len(plan.rest.bones) - 1)]
    return [*heads, points(last, plan.rest.tip)]


def _largest(values: Array, among: Mask) -> float | None:
    return float(np.broadcast_to(values, among.shape)[among].max()) if among.any() else None


def _world_lengths(linear: Array, vectors: Array) -> Array:
    carried = (linear @ vectors[..., None])[..., 0]
    return magnitude(carried)
