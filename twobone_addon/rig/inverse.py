"""A chain follows its targets: lengths measured, triangle solved, bones turned, and the lengths measured again.

Where everything the chain inherits is rotation and uniform scale, one round of the closed form is exact. Where a parent
or the upper bone is scaled unevenly (or sheared), the length of a bone depends on where it points: the closed form
then starts from lengths that its own answer changes, and a few rounds with the lengths of the last answer lead to
lengths and answer that agree. Where they do not settle, damped least squares on the directions finishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array, Codes
from ..solver import PlanarSolution, Reach, ReachOptions, solve_planar
from .bones import ChainMotion, RestChain
from .planes import in_plane
from .posing import Laying, Reference, Turned, link_vectors, turn_links

SETTLED = 1e-9
"""Tip error, relative to the chain's length, at which rounds stop: a hundredth of Blender's single precision."""

LENGTH_ROUNDS = 12
"""Uneven scale up to about 2:1 settles within these; more is left to least squares, which converges faster there."""

LEAST_SQUARES_ROUNDS = 40

NUDGE = 1e-6
"""Radians between the poses whose difference is the slope; balances rounding against curvature in float64."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a chain is to follow, per frame."""

    frames: Array
    """`(..., F, 3, 3)` plane frames, armature space."""
    targets: Array
    """`(..., F, 3)` armature space; what they have out of the plane is ignored."""
    bend: Array
    """`(..., F)` +1 or -1: sign of angle 2."""
    options: ReachOptions
    """Distances in them are in world units."""
    laying: Laying
    world_scale: Array
    """`(..., F)` world units per unit of armature space, on average over directions."""
    stretched: Callable[[ChainMotion, Array], ChainMotion]
    """The motion with the chain's links scaled by `(..., F)`."""


@dataclass(frozen=True, slots=True)
class ChainPose:
    """A chain on its targets, per frame."""

    turned: Turned
    motion: ChainMotion
    """The motion with the scale of the solution."""
    ratio: Array
    """`(..., F)` scale of the links."""
    reach: Codes
    """`(..., F)` of `solver.Reach`."""
    goals: Array
    """`(..., F, 2)` where the tip is to be, in the plane, from the root joint."""


def follow_targets(chain: RestChain, motion: ChainMotion, reference: Reference, task: Task) -> ChainPose:
    """Pose a chain so that its tip, seen in the plane, is on its targets."""
    targets = in_plane(task.frames, task.targets - reference.joints[..., 0, :])
    links = link_vectors(task.frames, reference.joints)
    rest_direction = np.arctan2(links[..., 0, 1], links[..., 0, 0])
    ratio = np.ones(targets.shape[:-1])
    for _ in range(LENGTH_ROUNDS):
        lengths = np.hypot(links[..., 0], links[..., 1]) / ratio[..., None]
        solution = _solve(targets, lengths, task, rest_direction)
        ratio = solution.ratio
        scaled = task.stretched(motion, ratio)
        directions = np.cumsum(solution.angles, axis=-1)
        turned = turn_links(chain, scaled, reference, task.frames, directions, task.laying)
        links = link_vectors(task.frames, turned.joints)
        error = _distance(links.sum(axis=-2), solution.goals)
        if not np.any(error > SETTLED * lengths.sum(axis=-1) * ratio):
            return ChainPose(turned, scaled, ratio, solution.reach, solution.goals)

    if task.options.limits is not None:
        return ChainPose(turned, scaled, ratio, solution.reach, solution.goals)

    def turn(tried: Array) -> Turned:
        return turn_links(chain, scaled, reference, task.frames, tried, task.laying)

    goals = targets if task.options == ReachOptions(tolerance=task.options.tolerance) else solution.goals
    directions = _least_squares(directions, goals, lambda tried: link_vectors(task.frames, turn(tried).joints))
    turned = turn(directions)
    reach = _measured_reach(link_vectors(task.frames, turned.joints), targets, solution, task.options.tolerance)
    return ChainPose(turned, scaled, ratio, reach, goals)


def _solve(targets: Array, lengths: Array, task: Task, rest_direction: Array) -> PlanarSolution:
    """Solve in world units, in which the options' distances are meant; angles and ratio have no unit."""
    scale = task.world_scale[..., None]
    solution = solve_planar(
        targets * scale, lengths * scale, task.bend, task.options, rest_direction=rest_direction
    )
    return replace(solution, goals=solution.goals / scale)


def _measured_reach(links: Array, targets: Array, solution: PlanarSolution, tolerance: float) -> Codes:
    """Reach of posed links `(..., F, n, 2)`, since the ring of fixed lengths does not describe it."""
    far = np.hypot(links[..., 0], links[..., 1]).sum(axis=-1)
    missed = _distance(links.sum(axis=-2), targets) > max(tolerance, SETTLED) * far
    side = np.where(_distance(targets, np.zeros(2)) > 0.5 * far, Reach.TOO_FAR, Reach.TOO_NEAR)
    reach = np.where(missed, side, Reach.REACHED)
    return np.where(solution.reach == Reach.DEGENERATE, solution.reach, reach).astype(np.int8)


def _least_squares(directions: Array, goals: Array, links_at: Callable[[Array], Array]) -> Array:
    """Directions `(..., F, n)` that bring the tip nearest to `goals` `(..., F, 2)` from a near start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with the damping kept per frame.
    """
    count = directions.shape[-1]
    tips = links_at(directions).sum(axis=-2)
    damping = np.full(goals.shape[:-1], 1e-3)
    for _ in range(LEAST_SQUARES_ROUNDS):
        slopes = np.stack(
            [(links_at(directions + NUDGE * row).sum(axis=-2) - tips) / NUDGE for row in np.eye(count)], axis=-1
        )
        transposed = np.swapaxes(slopes, -1, -2)
        normal = transposed @ slopes
        scale = np.trace(normal, axis1=-2, axis2=-1) + np.finfo(float).tiny
        normal = normal + (damping * scale)[..., None, None] * np.eye(count)
        step = np.linalg.solve(normal, transposed @ (goals - tips)[..., None])[..., 0]
        tried_tips = links_at(directions + step).sum(axis=-2)
        better = _distance(tried_tips, goals) < _distance(tips, goals)
        directions = np.where(better[..., None], directions + step, directions)
        tips = np.where(better[..., None], tried_tips, tips)
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), 1e-12, 1e6)
        if np.all(damping >= 1e6):
            break
    return directions


def _distance(first: Array, second: Array) -> Array:
    difference = first - second
    return np.hypot(difference[..., 0], difference[..., 1])
