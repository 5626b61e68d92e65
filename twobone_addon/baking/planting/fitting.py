"""Fit the root: as little as needed for all enabled chains to reach their targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array
from ...arrays import magnitude, shortening
from ...curves.frames import ranges
from ...planting.goals import SAMPLES_PER_FRAME
from ...planting.root_fit import shortest_moves, smooth_ways
from ...scene.blender_types import Object, Scene
from ...scene.walk.stepping import Steps, at_once
from ...settings.planting import RootFitSettings
from ..motion.sampling import sample_steps
from ..stages import Stopwatch, evaluation_of
from .keys.curves import root_keys
from .keys.writing import write
from .plan.feet import LegMotion, leg_motion
from .plan.planning import PlantingPlan, plan_fitting
from .pose.standing import NOTHING, farthest_moves, reach_limits, root_needs, smoothed_moves, smoothing_window
from .report.records import Lengths, ReachReport, RootFitReport, RootReport
from .report.reporting import REACHED, count_keys

AXES = {"X": np.array([1.0, 0.0, 0.0]), "Y": np.array([0.0, 1.0, 0.0]), "Z": np.array([0.0, 0.0, 1.0])}

ROUNDS = 8
"""Limbs that pull to different sides may need more when what each needs has been smoothed."""


def fit_root(scene: Scene, settings: RootFitSettings, active: Object | None = None) -> RootFitReport:
    """The same as `fit_root_steps`, at once."""
    return at_once(fit_root_steps(scene, settings, active))


def fit_root_steps(scene: Scene, settings: RootFitSettings, active: Object | None = None) -> Steps[RootFitReport]:
    """Move the root so that all enabled chains reach their targets; raises a `TwoBoneError` before anything is changed."""
    watch = Stopwatch()
    with watch.stage("read"):
        plan = plan_fitting(scene, settings, active)
    with watch.stage("sample"):
        quantities = [*plan.quantities(), *(leg.plan.target_world for leg in plan.legs)]
        plans = [leg.plan for leg in plan.legs]
        samples = yield from sample_steps(scene, quantities, plan.samples, evaluation=evaluation_of(plans))
    with watch.stage("solve"):
        legs = [leg_motion(leg, samples) for leg in plan.legs]
        goals = np.stack([samples.on(plan.samples).every(leg.plan.target_world)[:, :3, 3] for leg in plan.legs])
        moves = _free_moves(plan, legs, goals) if settings.axis == "FREE" else _moves(plan, legs, goals, -AXES[settings.axis])
    with watch.stage("write"):
        keys = [] if plan.root is None else root_keys(plan, plan.root, samples, moves)
        write(scene, plan, keys)
    chains = [_reach(plan, leg, goal, moves) for leg, goal in zip(legs, goals, strict=True)]
    bone = "" if plan.root is None else plan.root.name
    notes = [*plan.notes, *(plan.root.notes if plan.root is not None and keys else ())]
    root = RootReport(bone, float(magnitude(moves).max()), count_keys(keys), [0.0, 0.0, 0.0])
    lengths = Lengths(plan.units, max(leg.length for leg in legs))
    return RootFitReport(chains, root, watch.seconds, samples.evaluation, notes, lengths)


def _moves(plan: PlantingPlan, legs: Sequence[LegMotion], goals: Array, direction: Array) -> Array:
    """Moves `(S, 3)` of the root along one direction."""
    wanted = np.ones(goals.shape[:2], dtype=bool)
    needs = root_needs(plan, legs, goals, wanted, keeps_straight=False, direction=direction)
    return smoothed_moves(plan, needs, direction)


def _free_moves(plan: PlantingPlan, legs: Sequence[LegMotion], goals: Array) -> Array:
    """Moves `(S, 3)` of the root, in any direction, within the limits."""
    reaches = np.stack([reach_limits(leg, plan.settings, keeps_straight=False) for leg in legs])
    ways = goals - np.stack([leg.joints[:, 0] for leg in legs])
    wanted, length = np.ones(ways.shape[:2], dtype=bool), max(leg.length for leg in legs)
    moves = np.zeros(ways.shape[1:])
    for _ in range(ROUNDS):
        more = shortest_moves(ways - moves, reaches, wanted)
        more[magnitude(more) <= NOTHING * length] = 0.0
        if not more.any():
            break
        moves = moves + smooth_ways(more, smoothing_window(plan))
    most, least = farthest_moves(plan.settings, length)
    limits = np.where(moves[:, 2] <= 0.0, most, least)
    return moves * shortening(magnitude(moves), limits)[:, None]


def _reach(plan: PlantingPlan, leg: LegMotion, goals: Array, moves: Array) -> ReachReport:
    own = leg.leg.plan
    ways = goals - leg.joints[:, 0]
    before, after = ((leg.extensions_for(way) > 1.0 + REACHED)[::SAMPLES_PER_FRAME] for way in (ways, ways - moves))
    return ReachReport(
        armature=plan.armature,
        chain=leg.leg.chain,
        upper=own.names.upper,
        lower=own.names.lower,
        tip=own.names.tip,
        frames=len(plan.frames),
        reached_before=int(np.count_nonzero(~before)),
        reached=int(np.count_nonzero(~after)),
        out_of_reach_before=ranges(plan.frames, before),
        out_of_reach=ranges(plan.frames, after),
    )
