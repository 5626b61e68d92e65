"""What the baked animation really does: evaluated again by Blender, and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import every_row, frame_rows, magnitude
from ...core.rig.plane_frames import from_plane, in_plane, out_of_plane
from ...core.solver import Reach
from ...scene.blender_types import Scene
from ...scene.graph.lineage_reading import LineageReader
from ...scene.keys.reading import key_frames
from ...scene.lookup import object_named
from ...scene.sampling.evaluate import animation_times
from ...scene.sampling.quantities import Quantity, Samples
from ..motion.curve_motion import CurveMotion
from ..motion.plan_motion import points, target_matrices
from ..pose.solving import SolvedChain
from .between import (
    TELLING,
    Between,
    Track,
    keyed_intervals,
    measured_frames,
    parts_of,
    quarters,
    telling,
    worst_between,
    worst_intervals,
    worth_a_look,
)
from .units import limb_length
from .visibility import Visibility


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
    visibility: Visibility | None = None
    """What people see of it."""


class MotionBetween:
    """Finds places at the telling moments of all intervals between `frames` `(M,)`."""

    def __init__(self, scene: Scene, frames: Array) -> None:
        """Take the scene for how its time is mapped."""
        self._scene = scene
        self._frames = frames
        self._whole: CurveMotion | None = None
        """Of a short take, kept: several chains depend on the same."""

    def places(self, quantity: Quantity, place: Array) -> Array | None:
        """Where a matrix brings a point `(3,)`, `(M - 1, 2, 3)`; `None` where curves do not tell."""
        found = np.empty((len(self._frames) - 1, len(TELLING), 3))
        for rows in parts_of(len(found)):
            matrices = self._at(rows).find(quantity)
            if matrices is None:
                return None
            part = found[rows].reshape(-1, 3)
            part[:] = points(matrices, place)
        return found

    def _at(self, rows: slice) -> CurveMotion:
        """What moves in some of the intervals; kept where that is all of them."""
        if rows.stop - rows.start < len(self._frames) - 1:
            return self._motion(rows)
        self._whole = self._whole or self._motion(rows)
        return self._whole

    def _motion(self, rows: slice) -> CurveMotion:
        times = telling(self._frames[rows.start : rows.stop + 1])
        return CurveMotion(LineageReader(animation_times(self._scene, times)))


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
    """The tip's goals, `(M - 1, 2, 3)`, at the telling moments of each interval; `None` where curves do not tell."""
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
    frames, reach = pose.plane_frames, pose.on_targets.reach[at]
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
