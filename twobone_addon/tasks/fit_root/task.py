"""Fit Root: move the root as little as needed for all enabled chains to reach their targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import every_row, magnitude, path_length
from ...core.curves.frames import ranges
from ...core.planting.goals import SAMPLES_PER_FRAME
from ...pipeline.beginning import Reach
from ...pipeline.clips import ClipsReport, report_of_clips
from ...pipeline.stages import evaluation_of
from ...pipeline.task import Done, Look, Outcome, Span, Task
from ...scene.blender_types import Object, Scene
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Samples
from ...scene.sampling.stepping import Steps
from ...settings.planting import RootFitSettings
from ...settings.tasks import TABLES
from ..plant.keys.writing import write_pieces
from ..plant.plan.planning import LegPlan, PlantingPlan, plan_fitting
from ..plant.report.plant_report import Lengths, ReachReport, RootFitReport, RootReport
from ..plant.report.proof import proof_quantities, track
from ..plant.report.reporting import REACHED, count_keys
from .solve import RootSolution, solve_root

FitPlan: TypeAlias = PlantingPlan[RootFitSettings]


@dataclass(frozen=True, slots=True)
class RootProof:
    """What Blender evaluates with the new keys."""

    missed: list[Mask]
    """`(F,)` for each limb, frames at which its target is out of reach."""


class FitRoot(Task[RootFitSettings, FitPlan, RootSolution, RootProof]):
    """Move the root, such as the hips, as little as needed so that all enabled chains reach their targets."""

    NAME = "fit_root"
    TABLE = TABLES["fit_root"]

    def plan(self, scene: Scene, settings: RootFitSettings, active: Object | None, span: Span | None) -> FitPlan:
        """Plan all enabled chains with a target, and the root above them."""
        return plan_fitting(scene, settings, active, span)

    def reaches(self, plan: FitPlan) -> Sequence[Reach]:
        """The root's location."""
        if plan.root is None or plan.settings.destination == "NLA":
            return []
        return [Reach(plan.armature, {path for path, _ in plan.root.keyed}, (float(plan.frames[0]), float(plan.frames[-1])))]

    def held(self, plan: FitPlan) -> int:
        """Bytes per quantity and frame; fewer than the default: of the legs' samples little but their reach is kept."""
        return 100

    def solve(self, plan: FitPlan, begun: Any, look: Look) -> Steps[RootSolution]:
        """Solve the root's moves and their keys."""
        quantities = [*plan.quantities(), *(leg.plan.target_world for leg in plan.legs)]
        samples = yield from look(quantities, plan.samples, evaluation=evaluation_of([leg.plan for leg in plan.legs]))
        return solve_root(plan, plan.settings.axis, samples)

    def paths(self, plan: FitPlan, solution: RootSolution) -> set[tuple[Object, str]]:
        """Data paths of the root's location."""
        armature = object_named(plan.armature)
        return {(armature, channel.pieces[0].path) for channel in solution.keys}

    def write(self, scene: Scene, plan: FitPlan, solution: RootSolution, begun: Any) -> RootSolution:
        """Key the root."""
        write_pieces(scene, plan, solution.keys, task=self.NAME, earlier=begun.earlier)
        return solution

    def prove(self, plan: FitPlan, solution: RootSolution, look: Look) -> Steps[RootProof | None]:
        """Measure which targets the limbs reach as Blender evaluates the new keys."""
        if not plan.settings.verify:
            return None
        plans = [leg.plan for leg in plan.legs]
        quantities = [*proof_quantities(plan), *(each.target_world for each in plans)]
        samples = yield from look(quantities, plan.frames, evaluation=evaluation_of(plans, proving=True))
        return RootProof([_missed(leg, samples) for leg in plan.legs])

    def report(self, outcome: Outcome[FitPlan, RootSolution, RootProof]) -> RootFitReport | ClipsReport:
        """Report of each action: frames in reach of each limb, before and after."""
        return report_of_clips(outcome, self.NAME)

    def judge(self, scene: Scene, done: Done[FitPlan, RootSolution, RootProof]) -> RootFitReport:
        """Report of one action."""
        plan, solution = done.plan, done.solution
        chains = []
        for number, (leg, goals) in enumerate(zip(solution.legs, solution.goals, strict=True)):
            paths = goals - leg.joints[:, 0]
            before, after = (
                (leg.extensions_for(path) > 1.0 + REACHED)[::SAMPLES_PER_FRAME] for path in (paths, paths - solution.moves)
            )
            missed = after if done.proof is None else done.proof.missed[number]
            chains.append(_reach(plan, leg.leg, before, missed))
        bone = "" if plan.root is None else plan.root.name
        notes = [*plan.notes, *(plan.root.notes if plan.root is not None and solution.keys else ())]
        root = RootReport(bone, float(magnitude(solution.moves).max()), count_keys(solution.keys), [0.0, 0.0, 0.0])
        lengths = Lengths(plan.units, max(leg.length for leg in solution.legs))
        return RootFitReport(chains, root, {}, solution.evaluation, notes, lengths)


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


FIT_ROOT = FitRoot()
