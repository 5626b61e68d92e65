"""Measure the baked animation as Blender evaluates it."""

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
    """Measurements of one chain at its report frames, in world units; `None` if there was no frame to measure."""

    max_error: float | None
    mean_error: float | None
    max_goal_error: float | None
    max_off_plane: float
    distances: Array
    """`(K,)` of the tip from its target, in space; NaN where the target has no position."""
    beside: Array
    """`(K,)` part of that distance across the plane."""
    aside: Array
    """`(K,)` distance in the plane from the target to the goal after clamping, softening and limits."""
    limb_length: float
    between: Between | None
    turned: tuple[Array, ...]
    """Posed matrices `(K, 4, 4)` of the bones that turn, one row where they are still."""
    visibility: Visibility | None = None
    """Whether the visible bone follows."""


class MotionBetween:
    """Motion from F-Curves alone, at the telling moments of all intervals between `frames` `(M,)`."""

    def __init__(self, scene: Scene, frames: Array) -> None:
        """Use the scene's mapping of time."""
        self._scene = scene
        self._frames = frames
        self._whole: CurveMotion | None = None
        """Motion in all intervals of a short take, cached: several chains depend on the same objects."""

    def places(self, quantity: Quantity, place: Array) -> Array | None:
        """A point `(3,)` transformed by the quantity's matrices, `(M - 1, 2, 3)`; `None` if F-Curves alone do not suffice."""
        found = np.empty((len(self._frames) - 1, len(TELLING), 3))
        for rows in parts_of(len(found)):
            matrices = self._at(rows).find(quantity)
            if matrices is None:
                return None
            part = found[rows].reshape(-1, 3)
            part[:] = points(matrices, place)
        return found

    def _at(self, rows: slice) -> CurveMotion:
        """The motion in some of the intervals; cached if these are all."""
        if rows.stop - rows.start < len(self._frames) - 1:
            return self._motion(rows)
        self._whole = self._whole or self._motion(rows)
        return self._whole

    def _motion(self, rows: slice) -> CurveMotion:
        times = telling(self._frames[rows.start : rows.stop + 1])
        return CurveMotion(LineageReader(animation_times(self._scene, times)))


def proof_quantities(solved: SolvedChain) -> list[Quantity]:
    """Quantities to sample from the baked animation: the joints, the target and the armature."""
    plan = solved.plan
    carriers = dict.fromkeys([*plan.rest.turning, len(plan.rest.bones) - 1])
    return [plan.armature_world, *plan.aims, *(plan.pose(index) for index in carriers)]


def proof_frames(solved: SolvedChain) -> Array:
    """Frames `(M,)` at which a chain is measured: its report frames, and whole frames between those that are far apart."""
    return measured_frames(solved.plan.report_frames)


def track(solved: SolvedChain, samples: Samples) -> Track:
    """The track of a chain and its target at the frames of the samples."""
    plan, count = solved.plan, len(samples.frames)
    world = samples[plan.armature_world]
    joints = [every_row(points(world, joint), count) for joint in _joints(solved, samples)]
    targets = points(target_matrices(plan, samples), solved.pose.target_offset)
    return Track(samples.frames, np.stack(joints, axis=1), every_row(targets, count))


def moments_between(solved: SolvedChain, at_frames: Track, motion: MotionBetween, *, affordable: int) -> Array:
    """Moments `(Q,)` between frames at which a chain is evaluated: all quarters, or the worst if there are too many.

    motion : motion from F-Curves alone, at the telling moments of all intervals between those frames
    affordable : number of intervals whose quarters may be evaluated
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
    """The tip's goals, `(M - 1, 2, 3)`, at the telling moments of each interval; `None` if F-Curves alone do not suffice."""
    if solved.plan.source is not None or len(at_frames.frames) <= 1:
        return None
    return motion.places(solved.plan.target_world, solved.pose.target_offset)


def measure(solved: SolvedChain, samples: Samples, inside: Track | None) -> Measured:
    """Compare evaluated joints with the evaluated target at the plan's report frames.

    samples : at all of `proof_frames`
    inside : the chain's track between the report frames
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
    full_influence = frame_rows(solved.motion.influence, at) >= 1.0
    reached = full_influence & (reach == Reach.REACHED)
    determined = full_influence & (reach != Reach.DEGENERATE)
    depths = [frames[:, :, 2] * out_of_plane(frames, joint - root)[:, None] for joint in joints[1:]]
    reported = track(solved, samples)
    beside = _world_lengths(linear, frames[:, :, 2] * out_of_plane(frames, tip - targets)[:, None])
    intended = pose.on_targets.goals[at] - in_plane(frames, targets - root)
    errors = np.broadcast_to(_world_lengths(linear, from_plane(frames, missed)), reached.shape)[reached]
    return Measured(
        max_error=float(errors.max()) if errors.size else None,
        mean_error=float(errors.mean()) if errors.size else None,
        max_goal_error=_largest(_world_lengths(linear, from_plane(frames, astray)), determined),
        max_off_plane=float(max(_world_lengths(linear, depth).max() for depth in depths)),
        distances=reported.distances,
        beside=_for_each(beside, reported),
        aside=_for_each(_world_lengths(linear, from_plane(frames, intended)), reported),
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
    return magnitude((linear @ vectors[..., None])[..., 0])
