"""Fit the root: as little as needed for all enabled chains to reach their targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array
from ...arrays import magnitude
from ...curves.frames import ranges
from ...planting.goals import SAMPLES_PER_FRAME
from ...scene.blender_types import Object, Scene
from ...scene.walk.stepping import Steps, at_once
from ...settings.planting import RootFitSettings
from ..motion.sampling import sample_steps
from ..stages import Stopwatch, evaluation_of
from .curves import root_keys
from .feet import LegMotion, leg_motion
from .planning import PlantingPlan, plan_fitting
from .records import ReachReport, RootFitReport, RootReport
from .reporting import REACHED, count_keys
from .standing import root_needs, smoothed_moves
from .writing import write


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
        moves = _moves(plan, legs, goals)
    with watch.stage("write"):
        keys = [] if plan.root is None else root_keys(plan, plan.root, samples, moves)
        write(scene, plan, keys)
    chains = [_reach(plan, leg, goal, moves) for leg, goal in zip(legs, goals, strict=True)]
    bone = "" if plan.root is None else plan.root.name
    root = RootReport(bone, float(magnitude(moves).max()), count_keys(keys), [0.0, 0.0, 0.0])
    return RootFitReport(chains, root, watch.seconds, samples.evaluation, list(plan.notes))


def _moves(plan: PlantingPlan, legs: Sequence[LegMotion], goals: Array) -> Array:
    """Moves `(S, 3)` of the root."""
    wanted = np.ones(goals.shape[:2], dtype=bool)
    needs = root_needs(plan, legs, goals, wanted, keeps_straight=False)
    return smoothed_moves(plan, needs)


def _reach(plan: PlantingPlan, leg: LegMotion, goals: Array, moves: Array) -> ReachReport:
    own = leg.leg.plan
    limits = leg.lengths * (1.0 + REACHED)
    ways = goals - leg.joints[:, 0]
    before, after = ((magnitude(way) > limits)[::SAMPLES_PER_FRAME] for way in (ways, ways - moves))
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
