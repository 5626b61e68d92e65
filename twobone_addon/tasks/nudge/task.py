"""Nudge: move a limb's tip at a frame, fading into the limb's motion before and after.

The action stores all nudges of a limb. Each run solves the limb from its motion without nudges, with the sum of all: so several
add up, and each can be changed or removed independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Array
from ...core.arrays import every_row, magnitude
from ...core.curves.frames import ranges
from ...core.nudges import NEAR_END
from ...core.solver import Reach as Reached
from ...errors import WriteError
from ...pipeline.beginning import Beginning, Reach
from ...pipeline.motion.plan_motion import points
from ...pipeline.stages import evaluation_of
from ...pipeline.task import Done, Look, Outcome, Span, Task
from ...said import note
from ...scene.blender_types import Object, Scene
from ...scene.keys.clearing import unmake
from ...scene.keys.nudges import keep_nudges
from ...scene.keys.replaced import NUDGED, Ledger, limb_name
from ...scene.keys.writing import Change, put
from ...scene.lookup import object_named
from ...scene.sampling.stepping import Steps
from ...scene.versions import curve_bag
from ...settings.nudging import NudgeSettings
from ...settings.tasks import TABLES
from .nudge_report import NudgedLimb, NudgeEntry, NudgeReport
from .parts import parts_of
from .plan import NudgePlan, plan_nudge
from .solve import NudgeSolution, quantities, solve_nudges


@dataclass(frozen=True, slots=True)
class _Solved:
    """The solved keys, and whether they were made on top of earlier nudges' keys that were edited since."""

    solution: NudgeSolution
    is_on_edited: bool


Places = Array
"""`(F, 3)` tip places of all parts, concatenated, world space."""


class NudgeLimb(Task[NudgeSettings, NudgePlan, _Solved, Places]):
    """Move the tip of a limb at a frame, on top of its motion."""

    NAME = NUDGED
    TABLE = TABLES["nudge"]
    REPORT = NudgeReport

    def plan(self, scene: Scene, settings: NudgeSettings, active: Object | None, span: Span | None) -> NudgePlan:
        """Plan the limb and the nudges that it should have."""
        return plan_nudge(scene, settings, active)

    def reaches(self, plan: NudgePlan) -> Sequence[Reach]:
        """The limb's rotations, over the frames of all its old and new nudges."""
        start, end = map(float, plan.limb.frames)
        return [Reach(plan.armature, set(plan.limb.keyed_paths()), (start, end))]

    def solve(self, plan: NudgePlan, begun: Beginning, look: Look) -> Steps[_Solved]:
        """Solve the limb's motion with all nudges; on top of edited keys, with the new nudge alone."""
        is_on_edited, nudges = plan.armature in begun.edited, plan.nudges
        if is_on_edited and plan.new is None:
            raise WriteError(
                'Keys of the nudges of "{limb}" were edited since, so a single nudge can no longer be removed. Undo those '
                "edits, or remove all nudges with Clear Baked Keys.",
                limb=plan.limb.names.upper,
            )
        if is_on_edited and plan.new is not None:
            nudges = [plan.new]
        parts = parts_of(plan, nudges)
        if not parts:
            return _Solved(NudgeSolution(nudges, (), ()), is_on_edited)
        frames = np.concatenate([part.limb.frames for part in parts])
        samples = yield from look(quantities(parts), frames, evaluation=evaluation_of([plan.limb]))
        return _Solved(solve_nudges(plan, nudges, parts, samples), is_on_edited)

    def paths(self, plan: NudgePlan, solution: _Solved) -> set[tuple[Object, str]]:
        """The limb's rotations."""
        return {(object_named(plan.armature), path) for path in plan.limb.keyed_paths()}

    def write(self, scene: Scene, plan: NudgePlan, solution: _Solved, begun: Beginning) -> _Solved:
        """Key the limb and store its nudges in the action; if none is left, restore what was there before the first."""
        armature, solved = object_named(plan.armature), solution.solution
        start, end = map(float, plan.limb.frames)
        change = Change(
            owner=plan.armature,
            keys=solved.keys,
            within=(start, end),
            task=self.NAME,
            limb=limb_name(plan.armature, plan.limb.names.upper),
            in_pieces=True,
        )
        put([change] if solved.keys else [], begun.earlier)
        bag = curve_bag(armature)
        if bag is not None and solved.keys:
            keep_nudges(bag, plan.limb.names.upper, solved.nudges)
        elif bag is not None:
            unmake(armature, Ledger.of(bag))
        return solution

    def prove(self, plan: NudgePlan, solution: _Solved, look: Look) -> Steps[Places | None]:
        """Measure the tip's places as Blender evaluates them."""
        parts = solution.solution.parts
        if not plan.settings.verify or not parts:
            return None
        limb = plan.limb
        tip = limb.pose(len(limb.rest.bones) - 1)
        frames = np.concatenate([part.part.limb.frames for part in parts])
        samples = yield from look([limb.armature_world, tip], frames, evaluation=evaluation_of([limb], proving=True))
        tips = points(samples[tip], limb.rest.tip)
        return every_row(points(samples[limb.armature_world], tips), len(frames))

    def judge(self, scene: Scene, done: Done[NudgePlan, _Solved, Places]) -> NudgeReport:
        """Report of the limb and all its nudges."""
        plan, nudge_solution = done.plan, done.solution.solution
        parts, names = nudge_solution.parts, plan.limb.names
        frames = np.concatenate([np.empty(0), *(part.part.limb.frames for part in parts)])
        goals = np.concatenate([np.empty((0, 3)), *(part.goals for part in parts)])
        before = np.concatenate([np.empty((0, 3)), *(part.before for part in parts)])
        missed = np.concatenate([np.empty(0, bool), *(part.solved.pose.on_targets.reach != Reached.REACHED for part in parts)])
        now = goals if done.proof is None else done.proof
        errors, at = magnitude(now - goals), np.abs(frames - plan.frame) <= NEAR_END
        nudged = (now - before)[at][0] if at.any() else np.array(plan.new.offset if plan.new is not None else (0.0, 0.0, 0.0))
        edited = 'Keys of "{limb}" were edited since the last nudge. Earlier nudges are part of its motion now.'
        notes = [note(edited, limb=plan.chain or names.upper)] if done.solution.is_on_edited else []
        distance = magnitude(np.array(plan.new.offset)) if plan.new is not None else 0.0
        max_error = None if done.proof is None else float(errors[~missed].max(initial=0.0))
        limb = NudgedLimb(plan.chain, names.upper, names.lower, names.tip, nudged.tolist(), max_error)
        return NudgeReport(
            armature=plan.armature,
            chains=[limb],
            chain=limb.chain,
            upper=limb.upper,
            lower=limb.lower,
            tip=limb.tip,
            frame=plan.frame,
            removed=plan.new is None,
            nudged_by=limb.nudged_by,
            nudges=[
                NudgeEntry(each.frame, list(each.offset), each.before, each.after, each.falloff, each.loop)
                for each in nudge_solution.nudges
            ],
            frames=len(frames),
            ranges=[[float(part.part.limb.frames[0]), float(part.part.limb.frames[-1])] for part in parts],
            keys=sum(len(piece.frames) for piece in nudge_solution.keys),
            channels=len({(piece.path, piece.index) for piece in nudge_solution.keys}),
            out_of_reach=ranges(frames, missed),
            max_missed=float(errors[missed].max(initial=0.0)),
            max_error=limb.max_error,
            on_edited_keys=done.solution.is_on_edited,
            said_distance=plan.units.text(float(distance)),
            seconds={},
            evaluation=nudge_solution.evaluation,
            notes=[*plan.notes, *notes],
        )

    def report(self, outcome: Outcome[NudgePlan, _Solved, Places]) -> NudgeReport:
        """The report of `judge`, with the time taken and notes on unused settings."""
        report: NudgeReport = outcome.done[0].told
        return replace(report, seconds=outcome.seconds, notes=[*report.notes, *outcome.unused])


NUDGE = NudgeLimb()
