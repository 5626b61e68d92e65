"""Bake: key rotations of chains so that tips follow targets; a dry run and Inspect report the same without writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..core.array_types import Array
from ..core.arrays import magnitude
from ..core.curves.frames import NEAR_FRAME
from ..errors import TwoBoneError
from ..pipeline.beginning import ToWrite
from ..pipeline.chosen_actions import own_span
from ..pipeline.gate import foot_left_behind, refuse_left_behind, refuse_posed, who_poses
from ..pipeline.keying import KeyedChain, keyed_chain
from ..pipeline.motion.plan_motion import followed_motion, motion_quantities, without_target
from ..pipeline.plan.chain_plan import target_node
from ..pipeline.plan.naming import named
from ..pipeline.plan.planning import ChainPlan, plan_before_keys, refuse_overlap, with_own_keyed
from ..pipeline.plan.stored import was_flipped
from ..pipeline.pose.solving import SolvedChain, curves_of_poses, solve_chain_poses, without_turns
from ..pipeline.proof import prove
from ..pipeline.report.between import Measured
from ..pipeline.report.reporting import chain_report, fingerprints_of
from ..pipeline.report.reports import (
    BakeReport,
    ChainReach,
    ChainReport,
    Refused,
    Report,
    Results,
    bake_report,
    skipped_chains,
    statement,
)
from ..pipeline.report.twist import largest_twists
from ..pipeline.report.units import units_of
from ..pipeline.stages import all_frames, chain_changes, evaluation_of, with_steps
from ..pipeline.story import HELD, Sample, StartOver, Story, Task, Write, with_range
from ..records import replace
from ..said import Sentence, note
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Scene
from ..scene.keys.ledger import nudged_paths
from ..scene.keys.nudges import nudges_of
from ..scene.keys.replaced import NUDGED
from ..scene.keys.tables import read_keys
from ..scene.lookup import object_named, only_reading
from ..scene.sampling.evaluate import Verified
from ..scene.versions import curve_bag
from ..scene.visible.skin import Skins
from ..settings.tasks import TABLES, BakeAllSettings


@dataclass(frozen=True, slots=True)
class PlannedCurve:
    """One curve that a bake would write."""

    data_path: str
    """Its path on the armature."""
    index: int
    """Which of the values at that path it has."""
    keys: int
    """Number of keys."""


@dataclass(frozen=True, kw_only=True)
class PlannedChain(ChainReach):
    """One chain as a bake would key it: what its report would say of it, and settings."""

    name: str
    """Name by which it was asked for, of several."""
    action: str
    """Name of the action, where several were chosen; else empty."""
    target_bone: str
    plane: str
    plane_space: str
    bend: str
    depth: str
    destination: str
    tip_at: str
    """`head` or `tail` of the tip bone."""
    lengths: list[float]
    """Rest lengths of the links, from joint to joint, in armature units."""
    curves: list[PlannedCurve]
    """The F-curves that would be written."""

    def line(self) -> str:
        """What a dry run says of the chain; curves of one property are written as `...rotation_quaternion[0,1,2,3]`."""
        action = f'Action "{self.action}", ' if self.action else ""
        name = action + (f"{self.name}: " if self.name else "")
        target = f"{self.target}/{self.target_bone}" if self.target_bone else self.target
        lengths = " + ".join(f"{length:.4g}" for length in self.lengths)
        grouped: dict[tuple[str, int], list[str]] = {}
        for curve in self.curves:
            grouped.setdefault((curve.data_path, curve.keys), []).append(str(curve.index))
        curves = ", ".join(f"{path}[{','.join(indices)}] ({keys} keys each)" for (path, keys), indices in grouped.items())
        return (
            f"{name}{self.upper} to {self.lower} of {self.armature}, tip at the {self.tip_at} of {self.tip}, "
            f"follows {target} in {self.plane} ({self.plane_space}), bend {self.bend}, lengths {lengths}, "
            f"frames {self.frame_start:g} to {self.frame_end:g}: {self.reached} of {self.frames} in reach, "
            f"{self.too_far} too far, {self.too_near} too near; would write {curves}"
        )


OF_SETTINGS = ("target_bone", "plane", "plane_space", "bend", "depth", "destination")
"""Settings of each chain that a dry run tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunReport(Report):
    """What a bake would do."""

    dry_run: bool = True
    """Always true."""
    chains: list[PlannedChain]
    """What would be done to each chain."""
    skipped: list[str] = field(default_factory=list)
    """Names of chosen stored chains that have never had a target."""
    save: str | None = None
    """File that the result would be saved to; `None` without `--save`."""

    @property
    def sentence(self) -> str:
        """The lines that are printed, in English."""
        return "; ".join(self.lines())

    def lines(self) -> list[str]:
        """What the command line prints: a line for each chain, for what was left out or failed, and for the file."""
        lines = [*(chain.line() for chain in self.chains), *(f"{said}" for said in skipped_chains(self.skipped))]
        lines += [f'Action "{action.action}" of {action.armature}: {action.reason}' for action in self.refused]
        return [*lines, f'Would save "{self.save}"'] if self.save is not None else lines


def planned_chain(keyed: KeyedChain, report: ChainReport, action: str) -> PlannedChain:
    """Describe the keys that a bake would write for a chain in an action."""
    plan = keyed.solved.plan
    links = np.diff(plan.rest.rest_joints(), axis=0)
    values = {entry.name: getattr(report, entry.name) for entry in fields(ChainReach)}
    values |= {name: getattr(plan.settings, name) for name in OF_SETTINGS}
    return PlannedChain(
        name=plan.settings.label,
        action=action,
        tip_at="tail" if plan.names.tip_at_tail else "head",
        lengths=[float(length) for length in magnitude(links)],
        curves=[PlannedCurve(key.path, key.index, len(key.frames)) for key in keyed.keys],
        **values,
    )


LONG = 1 << 14
"""Number of sampled frames above which solved rotations are recomputed when needed instead of kept in memory."""

HELD_TO_REDUCE = 160
"""Bytes of memory for each quantity at each frame, like `HELD`, where keys are reduced."""

NEARLY_ALL = 0.95
"""Share of the progress that sampling the motion takes; what is played beside may be looked at after it."""

ON_EDITS = note("Keys of the last bake were edited since, so this bake started from them.")


@dataclass(frozen=True, slots=True)
class BakePlan:
    """The chains of one action, or of the actions that all armatures play now."""

    chains: Sequence[ChainPlan]
    left: Sequence[TwoBoneError]
    """Errors of chains that cannot be baked in an action in which others can."""
    skins: Skins
    """What shows the limbs: a bake writes only keys and values."""


@dataclass(frozen=True, slots=True)
class Baked:
    """The chains of one action with the keys that they get, and their reports."""

    plan: BakePlan
    chains: Sequence[KeyedChain]
    entries: Sequence[ChainReport]
    evaluation: str | dict[str, str]


def bake_chains(scene: Scene, settings: BakeAllSettings, active: Object | None, chosen: OwnAction | None) -> Story[Baked]:
    """Key the rotations of chains so that each tip follows its target in the chosen plane."""
    plan = plan_chains(scene, settings, active, chosen)
    # A chain that the last bake bent to its other side is found there again: it goes on from that bake.
    starting = [
        chain
        for chain in plan.chains
        if chain.settings.plane != "POSE" or not was_flipped(object_named(chain.names.armature), chain.settings.stored)
    ]
    nudged = [_nudged(chain) for chain in plan.chains]
    given_back = [limb.reach for limb in nudged if limb is not None and limb.reach is not None]
    beginning = yield StartOver([*map(_reach, starting), *given_back])
    plan = _with_keyed(plan)
    verified = Verified()
    keyed, evaluation = yield from keyed_chains(plan.chains, verified)

    def report(measured: Sequence[Measured | None] = ()) -> Baked:
        solved, proofs, entries = [chain.solved for chain in keyed], measured or [None] * len(keyed), []
        with only_reading():
            fingerprints, units = fingerprints_of(scene, [chain.plan for chain in solved]), units_of(scene)
            turned = largest_twists(solved, measured)
            for chain, limb, proof, twist, fingerprint in zip(keyed, nudged, proofs, turned, fingerprints, strict=True):
                entry = chain_report(chain.solved, chain.keys, proof, drift=chain.drift, units=units, twist=twist)
                notes = [*entry.notes, ON_EDITS] if entry.armature in beginning.edited else entry.notes
                notes = [*notes, *(limb.notes if limb is not None else ())]
                entries.append(replace(entry, fingerprint=fingerprint, notes=notes))
        return Baked(plan, keyed, entries, evaluation)

    yield Write(chain_changes(keyed, BAKE.name), report)
    return report((yield from prove(scene, [chain.solved for chain in keyed], verified, plan.skins)))


def inspect_chains(scene: Scene, settings: BakeAllSettings, active: Object | None, chosen: OwnAction | None) -> Story[Baked]:
    """Report of a bake on the present animation: its keys and curves, and measured distances.

    Which frames are in reach is as a bake would find. Raises a `TwoBoneError` where a bake would. Writes nothing, so chains
    may overlap.
    """
    chains = tuple(replace(chain, verify=True) for chain in settings.chains)
    plan = _with_keyed(plan_chains(scene, replace(settings, chains=chains, last_wins=True), active, chosen))
    verified = Verified()
    keyed, evaluation = yield from keyed_chains(plan.chains, verified)
    solved, units = [chain.solved for chain in keyed], units_of(scene)
    measured = yield from prove(scene, solved, verified, plan.skins)
    reports = [chain_report(chain, (), proof, units=units) for chain, proof in zip(solved, measured, strict=True)]
    entries = [_with_present_keys(*parts) for parts in zip(solved, reports, strict=True)]
    return Baked(plan, keyed, entries, evaluation)


def plan_chains(scene: Scene, settings: BakeAllSettings, active: Object | None, chosen: OwnAction | None) -> BakePlan:
    """Plan all chains but for their present keys; refuse chains that key the same channels, unless the last one wins."""
    plans: list[ChainPlan] = []
    refused: list[TwoBoneError] = []
    skins = Skins()
    for chain in settings.chains:
        try:
            with named(chain):
                plan = plan_before_keys(scene, with_range(chain, own_span(chosen)), active)
                armature, names = object_named(plan.names.armature), plan.names
                refuse_posed(who_poses(scene, armature, names, plan.within, skins=skins))
                refuse_left_behind(foot_left_behind(armature, names, target_node(plan.settings)))
            plans.append(plan)
        except TwoBoneError as error:
            if chosen is None:
                raise
            refused.append(error)
    if refused and not plans:
        raise refused[0]
    if not settings.last_wins:
        refuse_overlap(plans)
    return BakePlan(plans, refused, skins)


def _with_keyed(plan: BakePlan) -> BakePlan:
    with only_reading():
        return replace(plan, chains=[with_own_keyed(chain) for chain in plan.chains])


def _reach(chain: ChainPlan) -> ToWrite:
    """Rotations of a chain, and scales that earlier bakes stretched."""
    strip = (chain.settings.stored or chain.names.upper) if chain.settings.destination == "NLA" else ""
    return ToWrite(chain.names.armature, {*chain.keyed_paths(), *chain.stretched_paths()}, chain.within, strip)


@dataclass(frozen=True, slots=True)
class _ReplacedNudges:
    """A limb whose nudges a bake replaces: its tip goes to the target instead."""

    reach: ToWrite | None
    """What turns its foot or hand back as well; `None` where nudges outside the range hold that, too."""
    notes: Sequence[Sentence]


def _nudged(chain: ChainPlan) -> _ReplacedNudges | None:
    """What a bake does to the nudges of its limb; `None` where it has none within the range, or the bake fills a strip."""
    armature, (start, end) = object_named(chain.names.armature), chain.within
    paths = nudged_paths(armature, chain.names.upper, start, end) if chain.settings.destination != "NLA" else set()
    if not paths:
        return None
    limb, inside, beside = chain.settings.stored or chain.names.tip, [], []
    for nudge in nudges_of(curve_bag(armature), chain.names.upper):
        is_inside = any(first <= end and last >= start for first, last in nudge.spans(None))
        (inside if is_inside else beside).append(f"{nudge.frame:g}")
    notes = [note("Nudges of {limb} replaced by this bake: at frames {frames}.", limb=limb, frames=", ".join(inside))]
    if beside:
        kept = "Nudges of {limb} outside the range, and rotations of its end, are part of its motion now: at frames {frames}."
        notes.append(note(kept, limb=limb, frames=", ".join(beside)))
    return _ReplacedNudges(None if beside else ToWrite(armature.name, paths, chain.within, over=NUDGED), notes)


def keyed_chains(plans: Sequence[ChainPlan], verified: Verified) -> Story[tuple[list[KeyedChain], str | dict[str, str]]]:
    """Solve all chains in one pass over time, and choose their keys; return also how the motion was sampled."""
    plans = yield from with_steps(plans, [[*chain.aims, *chain.base] for chain in plans])
    frames: Array = all_frames(chain.frames for chain in plans)
    quantities = [quantity for chain in plans for quantity in motion_quantities(chain)]
    held = HELD_TO_REDUCE if all(chain.settings.keys == "REDUCE" for chain in plans) else HELD
    samples = yield Sample(quantities, frames, evaluation_of(plans), held, verified, share=NEARLY_ALL)
    aimed, evaluation = [followed_motion(chain, samples) for chain in plans], samples.evaluation
    # The samples of a long take must be freed before it is solved, or memory does not suffice; the runner knows them as well.
    samples.values.clear()
    poses = solve_chain_poses(plans, aimed)
    motions = [without_target(motion) for motion in aimed]
    del aimed
    solved = curves_of_poses(plans, motions, poses)
    if len(frames) > LONG:
        solved = [replace(chain, pose=without_turns(chain.pose)) for chain in solved]
    del poses, frames
    return [keyed_chain(solved.pop(0)) for _ in plans], evaluation


def _bake_report(results: Results) -> BakeReport | DryRunReport:
    """Report of all chains in all actions; for a dry run, what would have been written."""
    failed = [
        (action, done, error) for action, done in zip(results.actions, results.done, strict=True) for error in done.plan.left
    ]
    refused = [Refused(done.plan.chains[0].names.armature, action, error.sentence) for action, done, error in failed]
    if not results.is_dry:
        return bake_report(results, refused)
    chains = [
        planned_chain(*parts, action if results.armature else "")
        for action, done in zip(results.actions, results.done, strict=True)
        for parts in zip(done.chains, done.entries, strict=True)
    ]
    run: dict[str, Any] = {"seconds": results.seconds, "evaluation": results.done[0].evaluation}
    return DryRunReport(kind="dry_run", chains=chains, refused=[*results.refused, *refused], **run)


BAKE = Task("bake", TABLES["bake"], bake_chains, BakeReport, takes_live_away=True, joined=_bake_report)
INSPECT = replace(BAKE, name="report", story=inspect_chains, takes_live_away=False)


def _with_present_keys(chain: SolvedChain, report: ChainReport) -> ChainReport:
    """Count the present keys in the range on the channels that a bake writes.

    These keys may not have been made to follow the target, so a tip that is off is not blamed on something else that moves it.
    """
    bag = curve_bag(object_named(chain.plan.names.armature))
    paths = chain.plan.keyed_paths()
    counts = []
    for fcurve in bag.fcurves if bag else ():
        if fcurve.data_path in paths:
            frames = read_keys(fcurve)["co"][:, 0]
            inside = (frames >= report.frame_start - NEAR_FRAME) & (frames <= report.frame_end + NEAR_FRAME)
            counts.append(int(np.count_nonzero(inside)))
    statements = [statement("OFF", said.values, said.frames) if said.kind == "OTHERWISE" else said for said in report.statements]
    channels = sum(count > 0 for count in counts)
    return replace(report, keys=sum(counts), channels=channels, statements=statements)
