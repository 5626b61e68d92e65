"""Fit Root: move the root as little as needed for all enabled chains to reach their targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..core.array_types import Array, Mask
from ..core.arrays import every_row, magnitude, path_length, shortening
from ..core.curves.frames import ranges
from ..core.planting.goals import SAMPLES_PER_FRAME
from ..core.planting.root_fit import shortest_moves, smooth_ways
from ..pipeline.beginning import ToWrite
from ..pipeline.chosen_actions import own_span
from ..pipeline.report.reporting import along_notes
from ..pipeline.stages import evaluation_of
from ..pipeline.story import Sample, StartOver, Story, Task, Write
from ..records import replace
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Scene
from ..scene.sampling.quantities import Samples
from ..settings.feet import RootFitSettings
from ..settings.tasks import TABLES
from .plant.keys.anew import note_strips, piece_changes
from .plant.keys.curves import ChannelPieces, root_keys
from .plant.plan.feet import LegMotion, leg_motion
from .plant.plan.planning import LegPlan, PlantingPlan, plan_fitting
from .plant.pose.standing import NOTHING, farthest_moves, reach_limits, root_needs, smoothed_moves, smoothing_window
from .plant.report.reporting import REACHED, count_keys, proof_quantities, track
from .plant.report.reports import Lengths, ReachReport, RootFitReport, RootReport

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
    if axis == "FREE":
        moves = _free_moves(plan, legs, goals)
    else:
        all_samples = np.ones(goals.shape[:2], dtype=bool)
        needs = root_needs(plan, legs, goals, all_samples, keeps_straight=False, direction=-AXES[axis])
        moves = smoothed_moves(plan, needs, -AXES[axis])
    keys: list[ChannelPieces] = []
    if plan.root is not None:
        for moved in (plan.root, *plan.feet):
            keys += root_keys(plan, moved, samples, moves, may_reduce=True)
        # One strip for all, as the feet are moved by nothing else.
        keys = [replace(channel, strip=plan.root.name) for channel in keys]
    return RootSolution(legs, goals, moves, keys, samples.evaluation)


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
    # Lowering and raising have limits of their own.
    limits = np.where(moves[:, 2] <= 0.0, most, least)
    return moves * shortening(magnitude(moves), limits)[:, None]


FitPlan: TypeAlias = PlantingPlan[RootFitSettings]

HELD = 100
"""Bytes of memory per sampled quantity and frame: of the legs' samples little but their reach is kept."""


def fit_root(scene: Scene, settings: RootFitSettings, active: Object | None, chosen: OwnAction | None) -> Story[RootFitReport]:
    """Move the root, such as the hips, as little as needed so that all enabled chains reach their targets."""
    plan = plan_fitting(scene, settings, active, own_span(chosen))
    plans = [leg.plan for leg in plan.legs]
    reaches = []
    if plan.root is not None:
        strip = plan.root.name if settings.destination == "NLA" else ""
        within = float(plan.frames[0]), float(plan.frames[-1])
        paths = frozenset(path for moved in (plan.root, *plan.feet) for path, _ in moved.keyed)
        reaches = [ToWrite(plan.armature, paths, within, strip)]
    yield StartOver(reaches)
    targets = [leg_plan.target_world for leg_plan in plans]
    samples = yield Sample([*plan.quantities(), *targets], plan.samples, evaluation_of(plans), HELD)
    solution = solve_root(plan, settings.axis, samples)
    yield Write(
        piece_changes(plan, solution.keys, "fit_root"),
        report=lambda: fit_report(plan, solution),
        also=lambda: note_strips(plan, solution.keys),
    )
    if not settings.verify:
        return fit_report(plan, solution)
    evaluation = evaluation_of(plans, proving=True)
    samples = yield Sample([*proof_quantities(plan), *targets], plan.frames, evaluation)
    return fit_report(plan, solution, [_missed(leg, samples) for leg in plan.legs])


def fit_report(plan: FitPlan, solution: RootSolution, missed: Sequence[Mask] | None = None) -> RootFitReport:
    """Frames in reach of each limb before and after.

    missed : masks `(F,)` of frames at which each limb's target is out of reach, as Blender evaluates the new keys
    """
    chains = []
    for number, (leg, goals) in enumerate(zip(solution.legs, solution.goals, strict=True)):
        paths = goals - leg.joints[:, 0]
        before, after = (
            (leg.extensions_for(path) > 1.0 + REACHED)[::SAMPLES_PER_FRAME] for path in (paths, paths - solution.moves)
        )
        chains.append(_reach(plan, leg.leg, before, after if missed is None else missed[number]))
    bone = "" if plan.root is None else plan.root.name
    notes = [*plan.notes, *(plan.root.notes if plan.root is not None and solution.keys else ())]
    notes += along_notes(
        [foot.bone for foot in plan.feet if foot.bone is not None], {channel.pieces[0].path for channel in solution.keys}
    )
    root = RootReport(bone, float(magnitude(solution.moves).max()), count_keys(solution.keys), [0.0, 0.0, 0.0])
    lengths = Lengths(plan.units, max(leg.length for leg in solution.legs))
    return RootFitReport(
        chains=chains, root=root, evaluation=solution.evaluation, notes=notes, lengths=lengths, skipped=list(plan.skipped)
    )


def _missed(leg: LegPlan, samples: Samples) -> Array:
    """Mask `(F,)` of frames at which a limb's target is farther from its root joint than the limb is long, in armature space."""
    joints = track(leg, samples).joints
    world = every_row(samples[leg.plan.armature_world], len(joints))
    armature_from_world = np.linalg.inv(world)[:, :3, :3]
    paths = samples.every(leg.plan.target_world)[:, :3, 3] - joints[:, 0]
    length = path_length(joints @ np.swapaxes(armature_from_world, -1, -2))
    return magnitude((armature_from_world @ paths[..., None])[..., 0]) > (1.0 + REACHED) * length


def _reach(plan: FitPlan, leg: LegPlan, before: Mask, after: Mask) -> ReachReport:
    names = leg.plan.names
    return ReachReport(
        armature=plan.armature,
        chain=leg.chain,
        upper=names.upper,
        lower=names.lower,
        tip=names.tip,
        frames=len(plan.frames),
        reached_before=int(np.count_nonzero(~before)),
        reached=int(np.count_nonzero(~after)),
        out_of_reach_before=ranges(plan.frames, before),
        out_of_reach=ranges(plan.frames, after),
    )


FIT_ROOT = Task("fit_root", TABLES["fit_root"], fit_root, RootFitReport)
