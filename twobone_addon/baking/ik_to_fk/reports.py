"""What became of the limbs of a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import magnitude
from ...scene.walk.evaluate import Samples
from ..motion.plan_motion import points
from ..report.records import ChainReport, FurtherReport
from ..report.reporting import chain_report
from .solving import SolvedLimb, moved_points


@dataclass(frozen=True, slots=True)
class ConvertedReport(FurtherReport):
    """What became of one limb. The chain's `reached` counts the frames at which IK had the tip on its target."""

    bone: str
    """Bone that carries the constraint."""
    constraint: str
    max_moved: float | None
    """Farthest that any point of the limb's bones moved by the conversion, world units; `None` without verification."""


def converted_report(limb: SolvedLimb, proof: Samples | None, further_notes: Sequence[str]) -> ConvertedReport:
    """The report of one limb; `proof` is the animation after the conversion."""
    keyed, ik = limb.keyed, limb.plan.ik
    chain = chain_report(keyed.solved, keyed.keys, None, drift=keyed.drift)
    reached = int(np.count_nonzero(limb.on_target[keyed.solved.plan.report_rows])) if ik else chain.frames
    chain = replace(chain, reached=reached, too_far=0, too_near=0, out_of_reach=[], notes=[*chain.notes, *further_notes])
    moved = None
    if proof is not None:
        chain, moved = _with_errors(chain, limb, proof), _largest_move(limb, proof)
    return ConvertedReport(chain, ik.bone if ik else "", ik.constraint if ik else "", moved)


def _with_errors(chain: ChainReport, limb: SolvedLimb, proof: Samples) -> ChainReport:
    """The report with how far the tip is from the target where IK had it there."""
    plan = limb.plan.chain
    reached = limb.on_target[limb.keyed.solved.plan.report_rows]
    if not reached.any():
        return chain
    shown = proof.on(plan.report_frames)
    tips = points(shown.every(plan.armature_world), points(shown.every(limb.plan.poses()[2]), plan.rest.tip))
    errors = magnitude(tips - shown.every(plan.target_world)[:, :3, 3])[reached]
    return replace(chain, max_error=float(errors.max()), mean_error=float(errors.mean()))


def _largest_move(limb: SolvedLimb, proof: Samples) -> float:
    """Farthest that any point of the limb's bones moved, world units."""
    shown = proof.on(limb.plan.chain.report_frames)
    after = np.stack([shown.every(pose) for pose in limb.plan.poses()])
    moved = moved_points(limb.plan, limb.shown[:, limb.keyed.solved.plan.report_rows], after)
    turns = shown.every(limb.plan.chain.armature_world)[:, :3, :3]
    return float(magnitude(np.einsum("fij,bfpj->bfpi", turns, moved)).max())
