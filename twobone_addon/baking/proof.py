"""What the baked animation really does: evaluated again by Blender, and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..rig.planes import from_plane, in_plane, out_of_plane
from ..rig.posing import joints_of
from ..scene.sampling import Quantity, Samples
from ..solver import Reach
from .motion import plan_motion, points
from .planning import ChainPlan


@dataclass(frozen=True, slots=True)
class Measured:
    """Distances in world units; `None` where there was no frame to measure."""

    max_error: float | None
    mean_error: float | None
    max_off_plane: float


def proof_quantities(plan: ChainPlan) -> list[Quantity]:
    """What to sample of the baked animation."""
    parent = [plan.parent] if plan.parent else []
    return [plan.armature_world, plan.target_world, *parent, *plan.channels, *plan.poses("")]


def measure(plan: ChainPlan, samples: Samples, rows: Array, reach: Array) -> Measured:
    """Compare evaluated joints with the evaluated target, in the plane, frame by frame."""
    motion = plan_motion(plan, samples, rows)
    joints = joints_of(plan.rest, [samples[quantity][rows] for quantity in plan.poses("")])
    root, tip = joints[:, 0], joints[:, -1]
    frames, linear = motion.plane_frames, motion.world_from_armature[:, :3, :3]
    missed = from_plane(frames, in_plane(frames, tip - motion.targets_armature))
    errors = _lengths(linear, missed)[reach == Reach.REACHED]
    depths = [frames[:, :, 2] * out_of_plane(frames, joint - root)[:, None] for joint in np.moveaxis(joints, 1, 0)[1:]]
    return Measured(
        max_error=float(errors.max()) if errors.size else None,
        mean_error=float(errors.mean()) if errors.size else None,
        max_off_plane=float(max(_lengths(linear, depth).max() for depth in depths)),
    )


def _lengths(linear: Array, vectors: Array) -> Array:
    carried = (linear @ vectors[..., None])[..., 0]
    return np.sqrt(np.sum(carried * carried, axis=-1))
