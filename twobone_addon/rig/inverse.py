"""A chain follows its targets: lengths measured, triangle solved, bones turned, and the lengths measured again.

Where everything the chain inherits is rotation and uniform scale, one round of the closed form is exact. Where a parent
or the upper bone is scaled unevenly (or sheared), the length of a bone depends on where it points: the closed form
then starts from lengths that its own answer changes, and a few rounds with the lengths of the last answer lead to
lengths and answer that agree. Where they do not settle, damped least squares on both directions finishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes
from ..solver import PlanarSolution, Reach, ReachOptions, solve_planar
from .bones import ChainMotion, RestChain
from .planes import in_plane
from .posing import Turned, link_vectors, rest_reference, turn_links

SETTLED = 1e-9
"""Tip error, relative to the chain's length, at which rounds stop: a hundredth of Blender's single precision."""

LENGTH_ROUNDS = 12
"""Uneven scale up to about 2:1 settles within these; more is left to least squares, which converges faster there."""

LEAST_SQUARES_ROUNDS = 40
NUDGE = 1e-6
"""Radians between the poses whose difference is the slope; balances rounding against curvature in float64."""


@dataclass(frozen=True, slots=True)
class ChainPose:
    """A chain on its targets, per frame."""

    turned: Turned
    reach: Codes
    """`(..., F)` of `solver.Reach`."""
    goals: Array
    """`(..., F, 2)` where the tip is to be, in the plane, from the root joint."""
    lengths: Array
    """`(..., F, n)` projected lengths of the links in the plane, as posed."""


def follow_targets(
    chain: RestChain,
    motion: ChainMotion,
    *,
    frames: Array,
    targets: Array,
    bend: Array,
    options: ReachOptions,
) -> ChainPose:
    """Pose a chain so that its tip, seen in the plane, is on its targets.

    Parameters
    ----------
    frames : (..., F, 3, 3)
        Plane frames, armature space.
    targets : (..., F, 3)
        Armature space; what they have out of the plane is ignored.
    bend : (..., F)
        +1 or -1: sign of angle 2.

    """
    reference = rest_reference(chain, motion)
    targets_plane = in_plane(frames, targets - reference.joints[..., 0, :])
    links = link_vectors(frames, reference.joints)

    def turn(directions: Array) -> Turned:
        return turn_links(chain, motion, reference, frames, directions)

    for _ in range(LENGTH_ROUNDS):
        lengths = np.hypot(links[..., 0], links[..., 1])
        solution = solve_planar(targets_plane, lengths, bend, options)
        directions = np.cumsum(solution.angles, axis=-1)
        turned = turn(directions)
        links = link_vectors(frames, turned.joints)
        error = _distance(links.sum(axis=-2), solution.goals)
        if not np.any(error > SETTLED * lengths.sum(axis=-1)):
            return ChainPose(turned, solution.reach, solution.goals, lengths)
    turned = turn(_least_squares(directions, targets_plane, lambda tried: link_vectors(frames, turn(tried).joints)))
    return _judged(turned, frames, targets_plane, solution, options.tolerance)


def _judged(
    turned: Turned, frames: Array, targets: Array, solution: PlanarSolution, tolerance: float
) -> ChainPose:
    """The pose with its reach measured, since the ring of fixed lengths does not describe it."""
    links = link_vectors(frames, turned.joints)
    lengths = np.hypot(links[..., 0], links[..., 1])
    far = lengths.sum(axis=-1)
    missed = _distance(links.sum(axis=-2), targets) > max(tolerance, SETTLED) * far
    side = np.where(_distance(targets, np.zeros(2)) > 0.5 * far, Reach.TOO_FAR, Reach.TOO_NEAR)
    reach = np.where(missed, side, Reach.REACHED).astype(np.int8)
    reach = np.where(solution.reach == Reach.DEGENERATE, solution.reach, reach)
    return ChainPose(turned, reach, targets, lengths)


def _least_squares(directions: Array, goals: Array, links_at: Callable[[Array], Array]) -> Array:
    """Directions `(..., F, 2)` that bring the tip nearest to `goals` `(..., F, 2)` from a near start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with the damping kept per frame.
    """
    tips = links_at(directions).sum(axis=-2)
    damping = np.full(goals.shape[:-1], 1e-3)
    for _ in range(LEAST_SQUARES_ROUNDS):
        slopes = np.stack(
            [(links_at(directions + NUDGE * row).sum(axis=-2) - tips) / NUDGE for row in np.eye(2)], axis=-1
        )
        transposed = np.swapaxes(slopes, -1, -2)
        normal = transposed @ slopes
        scale = np.trace(normal, axis1=-2, axis2=-1) + np.finfo(float).tiny
        normal = normal + (damping * scale)[..., None, None] * np.eye(2)
        step = np.linalg.solve(normal, transposed @ (goals - tips)[..., None])[..., 0]
        tried = directions + step
        tried_tips = links_at(tried).sum(axis=-2)
        better = _distance(tried_tips, goals) < _distance(tips, goals)
        directions = np.where(better[..., None], tried, directions)
        tips = np.where(better[..., None], tried_tips, tips)
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), 1e-12, 1e6)
        if not np.any(better):
            break
    return directions


def _distance(first: Array, second: Array) -> Array:
    difference = first - second
    return np.hypot(difference[..., 0], difference[..., 1])
