"""What became of the limbs of a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import magnitude
from ...scene.walk.evaluate import Samples
from ..motion.plan_motion import points
from ..report.records import ChainReport
from ..report.reporting import chain_report
from .solving import SolvedLimb, moved_points


@dataclass(frozen=True, slots=True)
class ConvertedReport(ChainReport):
    """What became of one limb. `reached` counts the frames at which IK had the tip on its target."""

    bone: str = ""
    """Bone that carries the constraint."""
    constraint: str = ""
    max_moved: float | None = None
    """Farthest that any point of the limb's bones moved by the conversion, world units; `None` without verification."""


def converted_report(limb: SolvedLimb, proof: Samples | None, further_notes: Sequence[str]) -> ConvertedReport:
    """The report of one limb; `proof` is the animation after the conversion."""
    chain = limb.keyed.solved
    base = chain_report(chain, limb.keyed.keys, None, drift=limb.keyed.drift)
    rows = chain.plan.report_rows
    own: dict[str, object] = {
        "reached": int(np.count_nonzero(limb.on_target[rows])) if limb.plan.ik else base.frames,
        "too_far": 0,
        "too_near": 0,
        "out_of_reach": [],
        "notes": [*base.notes, *further_notes],
    }
    if limb.plan.ik:
        own |= {"bone": limb.plan.ik.bone, "constraint": limb.plan.ik.constraint}
    if proof is not None:
        own |= _measured(limb, proof)
    return ConvertedReport.of(base, own)


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
