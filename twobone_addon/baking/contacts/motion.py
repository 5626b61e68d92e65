"""The motion of feet out of samples, as seen from their ground."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...array_types import Array
from ...arrays import every_row, path_length
from ...contacts.feet import FeetMotion
from ...contacts.ground import ground_height, ground_velocity, is_of_flat_ground, standing_points
from ...contacts.points import posed_point
from ...errors import ObjectError
from ...scene.walk.evaluate import Samples
from .planning import ContactPlan

ABOVE = 0.5
"""Leg lengths over a foot from which its ground is looked for: a foot may have sunk into stairs, but not under a floor."""

NO_GROUND = 1e3
"""Leg lengths that a point is over the ground where there is none."""


@dataclass(frozen=True, slots=True)
class GroundedFeet:
    """Feet as seen from their ground, and what the ground is."""

    feet: FeetMotion
    height: float | None
    """Of a flat ground, world units; `None` for an object."""
    velocity: Array
    """`(3,)` of the ground, world units a second; an object's own motion is not counted."""


def grounded_feet(plan: ContactPlan, samples: Samples) -> GroundedFeet:
    """The feet over their ground; raises `ObjectError` where the ground is an object that no foot is ever over."""
    feet = _with_heights(plan, samples, _feet(plan, samples))
    velocity = _velocity(plan, feet)
    feet = feet.beside(velocity)
    if plan.settings.ground == "OBJECT":
        return GroundedFeet(feet, None, velocity)
    height = plan.settings.ground_height if plan.settings.ground == "HEIGHT" else ground_height(feet)
    return GroundedFeet(feet.over(height), height, velocity)


def _feet(plan: ContactPlan, samples: Samples) -> FeetMotion:
    """The feet over height 0 of the world."""
    points, hips, lengths = [], [], []
    world = samples.every(plan.world)
    scale = np.cbrt(np.abs(np.linalg.det(world[0, :3, :3])))
    for foot in plan.feet:
        matrices = samples.every(foot.foot)
        points.append([posed_point(point, matrices) for point in (foot.points.heel, foot.points.ball)])
        hips.append(samples.every(foot.hip)[:, :3, 3])
        lengths.append(path_length(foot.rest.rest_joints() @ world[0, :3, :3].T))
    found = np.array(points)
    over_sole = np.array([[0.0, foot.points.ball_height * scale] for foot in plan.feet])
    return FeetMotion(found, found[..., 2] - over_sole[..., None], np.array(hips), float(np.mean(lengths)), plan.rate)


def _with_heights(plan: ContactPlan, samples: Samples, feet: FeetMotion) -> FeetMotion:
    """On an object: the heights over its surface, and all points as it carries them, in the world at the first frame."""
    if plan.surface is None or plan.ground is None:
        return feet
    matrices = samples[plan.ground]
    flat = feet.points.reshape(-1, *feet.points.shape[2:])
    surface, _ = plan.surface.below(flat, matrices, ABOVE * feet.leg_length)
    if not np.isfinite(surface).any():
        raise ObjectError(
            f'Ground object "{plan.surface.name}" is not below the feet of armature "{plan.armature}". Choose another one.'
        )
    first_from_world = every_row(matrices[:1] @ np.linalg.inv(matrices), len(plan.frames))
    carried = [
        np.einsum("fij,...fj->...fi", first_from_world[:, :3, :3], places) + first_from_world[:, :3, 3]
        for places in (feet.points, feet.hips)
    ]
    over = np.where(np.isfinite(surface), flat[..., 2] - surface, NO_GROUND * feet.leg_length).reshape(feet.heights.shape)
    heights = over + (feet.heights - feet.points[..., 2])
    on_surface = FeetMotion(carried[0], heights, carried[1], feet.leg_length, feet.rate)
    stands = standing_points(feet)
    known = np.where(np.isfinite(surface).reshape(stands.shape), heights, np.nan)[stands]
    if is_of_flat_ground(feet.heights[stands], known, feet.leg_length):
        return replace(feet.over(ground_height(feet)), points=carried[0], hips=carried[1])
    return on_surface


def _velocity(plan: ContactPlan, feet: FeetMotion) -> Array:
    if plan.settings.ground_moves == "AUTO":
        return ground_velocity(feet)
    return np.array(plan.settings.ground_velocity) if plan.settings.ground_moves == "GIVEN" else np.zeros(3)
