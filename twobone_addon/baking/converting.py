"""IK turned into FK keys: the same motion, constraints muted or switched off, nothing deleted."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..array_types import Array
from ..errors import ChainError
from ..scene.blender_types import Object, Scene
from ..scene.ik_reading import mute
from ..scene.sampling import Quantity, Samples
from ..scene.stepping import Steps, at_once
from .bake import CheckSkippedError, write_chains
from .conversion_plans import Conversion, LimbPlan, plan_limbs
from .conversion_solving import SolvedLimb, solve_limb
from .motion import points
from .report import BakeReport, ChainReport
from .reporting import chain_report
from .sampling import sample_steps
from .stages import Stopwatch, all_frames, evaluation_of


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
    plans = [limb.plan for limb in limbs]
    with watch.stage("sample"):
        frames = all_frames(plan.frames for plan in plans)
        quantities = [quantity for limb in limbs for quantity in limb.quantities()]
        samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans))
    with watch.stage("solve"):
        solved, stretched = _solved(limbs, samples, frames)
        if stretched and (wanted.bone or not solved):
            raise stretched[0]
    with watch.stage("write"):
        write_chains(scene, [limb.keyed for limb in solved])
        for limb in solved:
            if limb.limb.ik is not None and not limb.limb.switch_path:
                mute(limb.limb.ik)
    with watch.stage("verify"):
        try:
            measured = (yield from _prove(scene, solved)) if wanted.keys.verify else None
        except CheckSkippedError:
            measured = None
    left += [str(error) for error in stretched]
    chains: list[ChainReport] = [_report(limb, measured, left if number == 0 else []) for number, limb in enumerate(solved)]
    return BakeReport(chains, watch.seconds, samples.evaluation)


def _solved(limbs: list[LimbPlan], samples: Samples, frames: Array) -> tuple[list[SolvedLimb], list[ChainError]]:
    """The limbs, and what is wrong with those that cannot be converted."""
    solved, errors = [], []
    for limb in limbs:
        try:
            solved.append(solve_limb(limb, samples, np.searchsorted(frames, limb.plan.frames)))
        except ChainError as error:
            errors.append(error)
    return solved, errors


@dataclass(frozen=True, slots=True)
class _Proof:
    """The animation after the conversion."""

    frames: Array
    samples: Samples


def _prove(scene: Scene, solved: list[SolvedLimb]) -> Steps[_Proof]:
    plans = [limb.limb.plan for limb in solved]
    frames = all_frames(plan.report_frames for plan in plans)
    quantities: list[Quantity] = []
    for limb in solved:
        quantities += [*limb.limb.poses(), limb.limb.plan.armature_world, limb.limb.plan.target_world]
    samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of(plans, proving=True))
    return _Proof(frames, samples)


def _report(limb: SolvedLimb, proof: _Proof | None, left: list[str]) -> ConvertedReport:
    chain = limb.keyed.solved
    base = chain_report(chain, limb.keyed.keys, None, drift=limb.keyed.drift)
    values = {entry.name: getattr(base, entry.name) for entry in fields(base)}
    rows = chain.plan.report_rows
    values |= {
        "target": limb.limb.plan.settings.target if limb.limb.ik else "",
        "reached": int(np.count_nonzero(limb.on_target[rows])) if limb.limb.ik else base.frames,
        "too_far": 0,
        "too_near": 0,
        "out_of_reach": [],
        "notes": [*base.notes, *left],
    }
    if limb.limb.ik:
        values |= {"bone": limb.limb.ik.bone, "constraint": limb.limb.ik.constraint}
    if proof is not None:
        values |= _measured(limb, proof)
    return ConvertedReport(**values)


def _measured(limb: SolvedLimb, proof: _Proof) -> dict[str, float | None]:
    """How far the limb moved, and how far its tip is from the target where IK had it there."""
    plan, rows = limb.limb.plan, limb.keyed.solved.plan.report_rows
    at = np.searchsorted(proof.frames, plan.report_frames)
    worlds = proof.samples[plan.armature_world][at]
    after = np.stack([proof.samples[pose][at] for pose in limb.limb.poses()])
    moved = _moved(limb, limb.shown[:, rows], after)
    carried = np.einsum("fij,bfpj->bfpi", worlds[:, :3, :3], moved)
    found: dict[str, float | None] = {"max_moved": float(_norm(carried).max())}
    reached = limb.on_target[rows]
    if reached.any():
        tips = points(worlds, points(after[2], plan.rest.tip))
        errors = _norm(tips - proof.samples[plan.target_world][at][:, :3, 3])[reached]
        found |= {"max_error": float(errors.max()), "mean_error": float(errors.mean())}
    return found


def _moved(limb: SolvedLimb, before: Array, after: Array) -> Array:
    """Ways `(B, F, 4, 3)` of each bone's head and of points along its axes, as far from it as its limb's links are long."""
    joints = limb.limb.plan.rest.rest_joints()
    size = float(_norm(np.diff(joints, axis=0)).max())
    ends = np.concatenate([np.zeros((1, 3)), np.eye(3) * size])
    difference = after - before
    return np.einsum("bfij,pj->bfpi", difference[..., :3, :3], ends) + difference[..., None, :3, 3]


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.sum(vectors * vectors, axis=-1))
