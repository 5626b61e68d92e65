"""IK turned into FK keys: the same motion, constraints muted or switched off, nothing deleted."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ...arrays import magnitude
from ...errors import ChainError
from ...scene.blender_types import Object, Scene
from ...scene.rig.ik_reading import mute
from ...scene.walk.evaluate import Quantity, Samples
from ...scene.walk.stepping import Steps, at_once
from ..keys.writing import write_chains
from ..motion.plan_motion import points
from ..motion.sampling import sample_steps
from ..report.records import BakeReport, ChainReport
from ..report.reporting import chain_report
from ..stages import SkipCheckError, Stopwatch, all_frames, evaluation_of
from .plans import Conversion, LimbPlan, plan_limbs
from .solving import SolvedLimb, moved_points, solve_limb


@dataclass(frozen=True, slots=True)
class ConvertedReport(ChainReport):
    """What became of one limb. `reached` counts the frames at which IK had the tip on its target."""

    bone: str = ""
    """Bone that carries the constraint."""
    constraint: str = ""
    max_moved: float | None = None
    """Farthest that any point of the limb's bones moved by the conversion, world units; `None` without verification."""


def convert(scene: Scene, wanted: Conversion, active: Object | None = None) -> BakeReport:
    """The same as `convert_steps`, at once."""
    return at_once(convert_steps(scene, wanted, active))


def convert_steps(scene: Scene, wanted: Conversion, active: Object | None = None) -> Steps[BakeReport]:
    """Key every limb as its IK poses it, and switch the IK off; raises a `TwoBoneError` before anything is changed."""
    watch = Stopwatch()
    with watch.stage("read"):
        limbs, left = plan_limbs(scene, wanted, active)
    plans = [limb.chain for limb in limbs]
    with watch.stage("sample"):
        frames = all_frames(plan.frames for plan in plans)
        quantities = [quantity for limb in limbs for quantity in limb.quantities()]
        samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans))
    with watch.stage("solve"):
        solved, stretched = _solved(limbs, samples)
        if stretched and (wanted.bone or not solved):
            raise stretched[0]
    with watch.stage("write"):
        write_chains(scene, [limb.keyed for limb in solved])
        for limb in solved:
            if limb.plan.ik is not None and not limb.plan.switch_path:
                mute(limb.plan.ik)
    with watch.stage("verify"):
        try:
            measured = (yield from _prove(scene, solved)) if wanted.settings.verify else None
        except SkipCheckError:
            measured = None
    left += [str(error) for error in stretched]
    chains: list[ChainReport] = [_report(limb, measured, left if number == 0 else []) for number, limb in enumerate(solved)]
    return BakeReport(chains, watch.seconds, samples.evaluation)


def _solved(limbs: list[LimbPlan], samples: Samples) -> tuple[list[SolvedLimb], list[ChainError]]:
    """The limbs, and what is wrong with those that cannot be converted."""
    solved, errors = [], []
    for limb in limbs:
        try:
            solved.append(solve_limb(limb, samples))
        except ChainError as error:
            errors.append(error)
    return solved, errors


def _prove(scene: Scene, solved: list[SolvedLimb]) -> Steps[Samples]:
    """The animation after the conversion."""
    plans = [limb.plan.chain for limb in solved]
    frames = all_frames(plan.report_frames for plan in plans)
    quantities: list[Quantity] = []
    for limb in solved:
        quantities += [*limb.plan.poses(), limb.plan.chain.armature_world]
        if limb.plan.ik:
            quantities.append(limb.plan.chain.target_world)
    return (yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans, proving=True)))


def _report(limb: SolvedLimb, proof: Samples | None, left: list[str]) -> ConvertedReport:
    chain = limb.keyed.solved
    base = chain_report(chain, limb.keyed.keys, None, drift=limb.keyed.drift)
    values = {entry.name: getattr(base, entry.name) for entry in fields(base)}
    rows = chain.plan.report_rows
    values |= {
        "reached": int(np.count_nonzero(limb.on_target[rows])) if limb.plan.ik else base.frames,
        "too_far": 0,
        "too_near": 0,
        "out_of_reach": [],
        "notes": [*base.notes, *left],
    }
    if limb.plan.ik:
        values |= {"bone": limb.plan.ik.bone, "constraint": limb.plan.ik.constraint}
    if proof is not None:
        values |= _measured(limb, proof)
    return ConvertedReport(**values)


def _measured(limb: SolvedLimb, proof: Samples) -> dict[str, float | None]:
    """How far the limb moved, and how far its tip is from the target where IK had it there."""
    plan, rows = limb.plan.chain, limb.keyed.solved.plan.report_rows
    proof = proof.on(plan.report_frames)
    worlds = proof.every(plan.armature_world)
    after = np.stack([proof.every(pose) for pose in limb.plan.poses()])
    moved = moved_points(limb.plan, limb.shown[:, rows], after)
    carried = np.einsum("fij,bfpj->bfpi", worlds[:, :3, :3], moved)
    found: dict[str, float | None] = {"max_moved": float(magnitude(carried).max())}
    reached = limb.on_target[rows]
    if reached.any():
        tips = points(worlds, points(after[2], plan.rest.tip))
        errors = magnitude(tips - proof.every(plan.target_world)[:, :3, 3])[reached]
        found |= {"max_error": float(errors.max()), "mean_error": float(errors.mean())}
    return found
