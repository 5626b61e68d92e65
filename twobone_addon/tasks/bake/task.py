"""Bake: key rotations of chains so that tips follow targets; a dry run and Inspect report the same without writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.curves.frames import NEAR_FRAME
from ...errors import TwoBoneError
from ...pipeline.beginning import Beginning, Reach
from ...pipeline.clips import bake_report
from ...pipeline.keys.keying import KeyedChain, keyed_chain
from ...pipeline.motion.plan_motion import followed_motion, motion_quantities, without_target
from ...pipeline.plan.completing import was_flipped
from ...pipeline.plan.planning import ChainPlan, plan_bake, refuse_overlap
from ...pipeline.pose.solving import SolvedChain, curves_of_poses, solve_chain_poses, without_turns
from ...pipeline.report.freshness import fingerprints_of
from ...pipeline.report.proof import Measured
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import BakeReport, ChainReport, Refused, statement
from ...pipeline.report.twist import largest_twists
from ...pipeline.report.units import units_of
from ...pipeline.stages import all_frames, chain_changes, evaluation_of, prove
from ...pipeline.task import Done, Look, Outcome, Span, Task, with_range
from ...scene.blender_types import Object, Scene
from ...scene.keys.tables import read_keys
from ...scene.keys.writing import put
from ...scene.lookup import object_named
from ...scene.sampling.evaluate import Verified
from ...scene.sampling.stepping import Steps
from ...scene.versions import curve_bag
from ...settings import BakeSettings
from ...settings.tasks import TABLES, BakeAllSettings


@dataclass(frozen=True, slots=True)
class CurveRehearsal:
    """One curve that a bake would write."""

    path: str
    index: int
    keys: int


@dataclass(frozen=True, slots=True)
class ChainRehearsal:
    """One chain as a bake would key it."""

    settings: BakeSettings
    tip_at_tail: bool
    """Whether the tip is the tip bone's tail; else its head."""
    rest_lengths: tuple[float, ...]
    """Rest lengths of the links, from joint to joint, in armature units."""
    curves: tuple[CurveRehearsal, ...]
    report: ChainReport
    """Report that the bake would give, without measurements."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The result of a dry run."""

    chains: list[ChainRehearsal]
    evaluation: str | dict[str, str]
    """How motion was sampled, as in `BakeReport`."""
    refused: list[Refused] = field(default_factory=list)
    """Actions, of several, and chains in them that cannot be baked."""


def rehearsal(keyed: KeyedChain, report: ChainReport) -> ChainRehearsal:
    """Describe the keys that a bake would write for a chain."""
    plan = keyed.solved.plan
    links = np.diff(plan.rest.rest_joints(), axis=0)
    return ChainRehearsal(
        settings=plan.settings,
        tip_at_tail=plan.names.tip_at_tail,
        rest_lengths=tuple(float(length) for length in magnitude(links)),
        curves=tuple(CurveRehearsal(key.path, key.index, len(key.frames)) for key in keyed.keys),
        report=report,
    )


LONG = 1 << 14
"""Number of sampled frames above which solved rotations are recomputed when needed instead of kept in memory."""

HELD_TO_REDUCE = 160
"""Bytes of memory for each quantity at each frame, like `HELD`, where keys are reduced."""

ON_EDITS = "Keys of the last bake were edited since, so this one has begun with them."


@dataclass(frozen=True, slots=True)
class BakePlan:
    """The chains of one action, or of the actions that all armatures play now."""

    scene: Scene
    chains: Sequence[ChainPlan]
    left: Sequence[TwoBoneError]
    """Errors of chains that cannot be baked in an action in which others can."""


@dataclass(frozen=True, slots=True)
class Baked:
    """Chains and the keys to write."""

    chains: Sequence[KeyedChain]
    evaluation: str | dict[str, str]
    verified: Verified
    edited: tuple[str, ...] = ()
    """Armatures on which keys of the last bake were edited since, so that this bake started from these keys."""


Measures = list[Measured | None]
BakeDone = Done[BakePlan, Baked, Measures]


class Bake(Task[BakeAllSettings, BakePlan, Baked, Measures]):
    """Key the rotations of chains so that each tip follows its target in the chosen plane."""

    NAME = "bake"
    TABLE = TABLES["bake"]

    def plan(self, scene: Scene, settings: BakeAllSettings, active: Object | None, span: Span | None) -> BakePlan:
        """Plan all chains; refuse chains that key the same channels at the same frames, unless the last one wins."""
        plans: list[ChainPlan] = []
        left: list[TwoBoneError] = []
        for chain in settings.chains:
            try:
                plans.append(plan_bake(scene, chain if span is None else with_range(chain, span), active))
            except TwoBoneError as error:
                if span is None:
                    raise
                left.append(error)
        if left and not plans:
            raise left[0]
        if not settings.last_wins:
            refuse_overlap(plans)
        return BakePlan(scene, plans, left)

    def reaches(self, plan: BakePlan) -> list[Reach]:
        """Rotations of the chains, and scales that earlier bakes stretched."""
        found = []
        for chain in plan.chains:
            if chain.settings.plane == "POSE" and was_flipped(object_named(chain.names.armature), chain.settings.stored):
                continue
            strip = (chain.settings.stored or chain.names.upper) if chain.settings.destination == "NLA" else ""
            within = float(chain.frames[0]), float(chain.frames[-1])
            found.append(Reach(chain.names.armature, {*chain.keyed_paths(), *chain.stretched_paths()}, within, strip))
        return found

    def held(self, plan: BakePlan) -> int:
        """Bytes per quantity and frame; fewer where all keys are reduced: of several samples a frame little is kept."""
        return HELD_TO_REDUCE if all(chain.settings.keys == "REDUCE" for chain in plan.chains) else super().held(plan)

    def solve(self, plan: BakePlan, begun: Beginning, look: Look) -> Steps[Baked]:
        """Solve all chains in one pass over time, and choose their keys."""
        plans, verified = plan.chains, Verified()
        frames: Array = all_frames(chain.frames for chain in plans)
        quantities = [quantity for chain in plans for quantity in motion_quantities(chain)]
        samples = yield from look(quantities, frames, evaluation=evaluation_of(plans), verified=verified)
        aimed, evaluation = [followed_motion(chain, samples) for chain in plans], samples.evaluation
        # The samples of a long take must be freed before it is solved, or memory does not suffice.
        del samples
        poses = solve_chain_poses(plans, aimed)
        motions = [without_target(motion) for motion in aimed]
        del aimed
        solved = curves_of_poses(plans, motions, poses)
        if len(frames) > LONG:
            solved = [replace(chain, pose=without_turns(chain.pose)) for chain in solved]
        del poses, frames
        return Baked([keyed_chain(solved.pop(0)) for _ in plans], evaluation, verified)

    def paths(self, plan: BakePlan, solution: Baked) -> set[tuple[Object, str]]:
        """Data paths of all channels that get keys."""
        owners = {chain.names.armature: object_named(chain.names.armature) for chain in plan.chains}
        return {(owners[chain.solved.plan.names.armature], key.path) for chain in solution.chains for key in chain.keys}

    def write(self, scene: Scene, plan: BakePlan, solution: Baked, begun: Beginning) -> Baked:
        """Write the keys to the destination of each chain."""
        put(chain_changes(solution.chains, self.NAME), begun.earlier)
        return replace(solution, edited=begun.edited)

    def prove(self, plan: BakePlan, solution: Baked, look: Look) -> Steps[Measures]:
        """Measure the chains as Blender evaluates them, at frames and in between."""
        return (yield from prove(plan.scene, [chain.solved for chain in solution.chains], solution.verified))

    def judge(self, scene: Scene, done: BakeDone) -> list[ChainReport]:
        """One report for each chain."""
        chains = done.solution.chains
        solved, measured = [chain.solved for chain in chains], done.proof or ()
        fingerprints, units = fingerprints_of(scene, [chain.plan for chain in solved]), units_of(scene)
        rows = zip(chains, measured or [None] * len(chains), largest_twists(solved, measured), fingerprints, strict=True)
        reports = [
            replace(
                chain_report(chain.solved, chain.keys, proof, drift=chain.drift, units=units, twist=twist),
                fingerprint=fingerprint,
            )
            for chain, proof, twist, fingerprint in rows
        ]
        edited = done.solution.edited
        return [replace(each, notes=[*each.notes, ON_EDITS]) if each.armature in edited else each for each in reports]

    def report(self, outcome: Outcome[BakePlan, Baked, Measures]) -> BakeReport | Rehearsal:
        """Report of all chains in all actions; for a dry run, what would have been written."""
        failed = ((done, error) for done in outcome.done for error in done.plan.left)
        left = [Refused(done.plan.chains[0].names.armature, done.action, error.sentence) for done, error in failed]
        if outcome.is_dry:
            chains = [
                rehearsal(chain, report)
                for done in outcome.done
                for chain, report in zip(done.solution.chains, done.told, strict=True)
            ]
            return Rehearsal(chains, outcome.done[0].solution.evaluation, [*outcome.refused, *left])
        return bake_report(outcome, left)


BAKE = Bake()


class Inspect(Bake):
    """Report of a bake on the present animation: its keys and curves, and measured distances.

    Which frames are in reach is as a bake would find. Raises a `TwoBoneError` where a bake would. Writes nothing.
    """

    NAME = "report"

    def plan(self, scene: Scene, settings: BakeAllSettings, active: Object | None, span: Span | None) -> BakePlan:
        """Plan all chains; they may overlap, since none of them is written."""
        chains = tuple(replace(chain, verify=True) for chain in settings.chains)
        return super().plan(scene, replace(settings, chains=chains, last_wins=True), active, span)

    def reaches(self, plan: BakePlan) -> list[Reach]:
        """Nothing: the present animation is inspected as it is."""
        return []

    def paths(self, plan: BakePlan, solution: Baked) -> set[tuple[Object, str]]:
        """No paths: nothing is keyed."""
        return set()

    def write(self, scene: Scene, plan: BakePlan, solution: Baked, begun: Beginning) -> Baked:
        """Write nothing."""
        return solution

    def judge(self, scene: Scene, done: BakeDone) -> list[ChainReport]:
        """One report for each chain, with its present keys."""
        chains, units = [chain.solved for chain in done.solution.chains], units_of(scene)
        measured: Sequence = done.proof or [None] * len(chains)
        return [
            _with_present_keys(chain, chain_report(chain, (), proof, units=units))
            for chain, proof in zip(chains, measured, strict=True)
        ]


INSPECT = Inspect()


def _with_present_keys(chain: SolvedChain, report: ChainReport) -> ChainReport:
    """Count the present keys in the range on the channels that a bake writes.

    These keys may not have been made to follow the target, so a tip that is off is not blamed on something else that moves it.
    """
    bag = curve_bag(object_named(chain.plan.names.armature))
    paths = chain.plan.keyed_paths()
    counts = [_keys_between(fcurve, report) for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path in paths]
    statements = [statement("OFF", each.values, each.frames) if each.kind == "OTHERWISE" else each for each in report.statements]
    channels = sum(count > 0 for count in counts)
    return replace(report, keys=sum(counts), channels=channels, statements=statements)


def _keys_between(fcurve: object, report: ChainReport) -> int:
    frames = read_keys(fcurve)["co"][:, 0]
    inside = (frames >= report.frame_start - NEAR_FRAME) & (frames <= report.frame_end + NEAR_FRAME)
    return int(np.count_nonzero(inside))
