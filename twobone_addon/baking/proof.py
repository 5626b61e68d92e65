"""What the baked animation really does: evaluated again by Blender, and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Mask
from ..rig.planes import from_plane, in_plane, out_of_plane
from ..scene.quantities import frame_rows
from ..scene.sampling import Quantity, Samples
from ..solver import Reach
from .motion import points
from .solving import Solved


@dataclass(frozen=True, slots=True)
class Measured:
    """Distances in world units; `None` where there was no frame to measure."""

    max_error: float | None
    mean_error: float | None
    max_goal_error: float | None
    max_off_plane: float


def proof_quantities(solved: Solved) -> list[Quantity]:
    """What to sample of the baked animation: the joints, the target and the armature."""
    plan = solved.plan
    carriers = dict.fromkeys([*plan.rest.turning, len(plan.rest.bones) - 1])
    return [plan.armature_world, plan.target_world, *(plan.pose(index) for index in carriers)]


def measure(solved: Solved, samples: Samples, rows: Array) -> Measured:
    """Compare evaluated joints with the evaluated target, in the plane, at the frames of the plan's report.

    rows : (K,), where these frames are among the samples
    """
    plan, chain, at = solved.plan, solved.chain, solved.plan.report_rows
    frames, reach = frame_rows(chain.task.frames, at), chain.pose.reach[at]
    world_from_armature = samples.at(plan.armature_world, rows)
    linear = world_from_armature[:, :3, :3]
    joints = _joints(solved, samples, rows)
    targets_world = points(samples.at(plan.target_world, rows), chain.target_offset)
    targets = points(np.linalg.inv(world_from_armature), targets_world)
    root, tip = joints[0], joints[-1]
    missed = in_plane(frames, tip - targets)
    astray = in_plane(frames, tip - root) - chain.pose.goals[at]
    whole = frame_rows(solved.motion.influence, at) >= 1.0
    reached = whole & (reach == Reach.REACHED)
    determined = whole & (reach != Reach.DEGENERATE)
    depths = [frames[:, :, 2] * out_of_plane(frames, joint - root)[:, None] for joint in joints[1:]]
    errors = np.broadcast_to(_world_lengths(linear, from_plane(frames, missed)), reached.shape)[reached]
    return Measured(
        max_error=float(errors.max()) if errors.size else None,
        mean_error=float(errors.mean()) if errors.size else None,
        max_goal_error=_largest(_world_lengths(linear, from_plane(frames, astray)), determined),
        max_off_plane=float(max(_world_lengths(linear, depth).max() for depth in depths)),
    )


def _joints(solved: Solved, samples: Samples, rows: Array) -> list[Array]:
    """Evaluated joints, `(K, 3)` each, armature space: the head of each bone that turns, and the tip."""
    plan = solved.plan
    heads = [samples.at(plan.pose(index), rows)[:, :3, 3] for index in plan.rest.turning]
    last = samples.at(plan.pose(len(plan.rest.bones) - 1), rows)
    return [*heads, points(last, plan.rest.tip)]


def _largest(values: Array, among: Mask) -> float | None:
    return float(np.broadcast_to(values, among.shape)[among].max()) if among.any() else None


def _world_lengths(linear: Array, vectors: Array) -> Array:
    carried = (linear @ vectors[..., None])[..., 0]
    return np.sqrt(np.sum(carried * carried, axis=-1))
