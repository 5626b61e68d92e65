"""Solve how far a root has to move for its limbs to reach their targets, without Blender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude, shortening
from ...core.planting.root_fit import shortest_moves, smooth_ways
from ...scene.sampling.quantities import Samples
from ..plant.keys.curves import ChannelPieces, root_keys
from ..plant.plan.feet import LegMotion, leg_motion
from ..plant.pose.standing import NOTHING, farthest_moves, reach_limits, root_needs, smoothed_moves, smoothing_window

if TYPE_CHECKING:
    from ..plant.plan.planning import PlantingPlan

AXES = {"X": np.array([1.0, 0.0, 0.0]), "Y": np.array([0.0, 1.0, 0.0]), "Z": np.array([0.0, 0.0, 1.0])}

ROUNDS = 8
"""Most rounds of adding smoothed moves: limbs that pull to different sides may need more after each smoothing."""


@dataclass(frozen=True, slots=True)
class RootSolution:
    """The root's moves, and their keys."""

    legs: Sequence[LegMotion]
    goals: Array
    """`(C, S, 3)` target places of the limbs, world space."""
    moves: Array
    """`(S, 3)` moves of the root, world space."""
    keys: Sequence[ChannelPieces]
    evaluation: str | dict[str, str]


def solve_root(plan: PlantingPlan, axis: str, samples: Samples) -> RootSolution:
    """Move the root along an axis, or `FREE`, as little as needed and within its limits."""
    legs = [leg_motion(leg, samples) for leg in plan.legs]
    goals = np.stack([samples.on(plan.samples).every(leg.plan.target_world)[:, :3, 3] for leg in plan.legs])
    moves = _free_moves(plan, legs, goals) if axis == "FREE" else _moves(plan, legs, goals, -AXES[axis])
    keys = [] if plan.root is None else root_keys(plan, plan.root, samples, moves, may_reduce=True)
    return RootSolution(legs, goals, moves, keys, samples.evaluation)


def _moves(plan: PlantingPlan, legs: Sequence[LegMotion], goals: Array, direction: Array) -> Array:
    """Moves `(S, 3)` of the root along one direction, within the limits."""
    all_samples = np.ones(goals.shape[:2], dtype=bool)
    needs = root_needs(plan, legs, goals, all_samples, keeps_straight=False, direction=direction)
    return smoothed_moves(plan, needs, direction)


def _free_moves(plan: PlantingPlan, legs: Sequence[LegMotion], goals: Array) -> Array:
    """Moves `(S, 3)` of the root, in any direction, within the limits."""
    reaches = np.stack([reach_limits(leg, plan.settings, keeps_straight=False) for leg in legs])
    paths = goals - np.stack([leg.joints[:, 0] for leg in legs])
    all_samples, length = np.ones(paths.shape[:2], dtype=bool), max(leg.length for leg in legs)
    moves = np.zeros(paths.shape[1:])
    for _ in range(ROUNDS):
        more = shortest_moves(paths - moves, reaches, all_samples)
        more[magnitude(more) <= NOTHING * length] = 0.0
        if not more.any():
            break
        moves = moves + smooth_ways(more, smoothing_window(plan))
    most, least = farthest_moves(plan.settings, length)
    limits = np.where(moves[:, 2] <= 0.0, most, least)
    return moves * shortening(magnitude(moves), limits)[:, None]
