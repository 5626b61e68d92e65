"""Make the reports of converted limbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude, path_length
from ...pipeline.motion.plan_motion import points
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import ChainReport, statement
from ...pipeline.report.units import Units
from ...said import Sentence
from ...scene.sampling.quantities import Samples
from .converted_report import ConvertedReport
from .solve import SolvedLimb, moved_points

SEEN_TO_MOVE = 2e-3
"""Movement, relative to a limb's length, above which a conversion counts as visible; stretched IK has a quarter of that."""


def converted_report(limb: SolvedLimb, proof: Samples | None, further_notes: Sequence[Sentence], units: Units) -> ConvertedReport:
    """Report of one limb; `proof` are samples after the conversion, `units` are the scene's."""
    keyed, ik = limb.keyed, limb.plan.ik
    chain = chain_report(keyed.solved, keyed.keys, None, drift=keyed.drift)
    reached = int(np.count_nonzero(limb.on_target[keyed.solved.plan.report_rows])) if ik else chain.frames
    chain = replace(chain, reached=reached, too_far=0, too_near=0, out_of_reach=[], notes=[*chain.notes, *further_notes])
    max_moved = None
    if proof is not None:
        moved = _moved(limb, proof)
        chain, max_moved = _with_errors(chain, limb, proof), float(moved.max())
        chain = replace(chain, statements=[_statement(limb, moved, units)])
    return ConvertedReport(chain, ik.bone if ik else "", ik.constraint if ik else "", max_moved)


def _with_errors(chain: ChainReport, limb: SolvedLimb, proof: Samples) -> ChainReport:
    """The report with the tip's distance from the target, over frames at which the IK had it there."""
    plan = limb.plan.chain
    reached = limb.on_target[limb.keyed.solved.plan.report_rows]
    if not reached.any():
        return chain
    shown = proof.on(plan.report_frames)
    tips = points(shown.every(plan.armature_world), points(shown.every(limb.plan.poses()[2]), plan.rest.tip))
    errors = magnitude(tips - shown.every(plan.target_world)[:, :3, 3])[reached]
    return replace(chain, max_error=float(errors.max()), mean_error=float(errors.mean()))


def _moved(limb: SolvedLimb, proof: Samples) -> Array:
    """Largest distance `(R,)` that any point of the limb's bones moved, at each frame of the report, world units."""
    shown = proof.on(limb.plan.chain.report_frames)
    after = np.stack([shown.every(pose) for pose in limb.plan.poses()])
    moved = moved_points(limb.plan, limb.shown[:, limb.keyed.solved.plan.report_rows], after)
    linear = shown.every(limb.plan.chain.armature_world)[:, :3, :3]
    return magnitude(np.einsum("fij,bfpj->bfpi", linear, moved)).max(axis=(0, 2))


def _statement(limb: SolvedLimb, moved: Array, units: Units) -> Sentence:
    """Statement on the limb's largest deviation `moved` `(R,)` from its motion on IK."""
    plan, worst = limb.plan.chain, int(np.argmax(moved))
    size = np.cbrt(np.abs(np.linalg.det(limb.keyed.solved.motion.world_from_armature[0, :3, :3])))
    length = float(path_length(plan.rest.rest_joints())) * float(size)
    allowed = SEEN_TO_MOVE * length + (plan.settings.tolerance if plan.settings.keys == "REDUCE" else 0.0)
    farthest = float(moved[worst])
    if farthest <= allowed:
        names, distance = plan.names, units.text(max(farthest, units.seen(length)))
        return statement("AS_ON_IK", {"upper": names.upper, "lower": names.lower, "distance": distance})
    frame = float(plan.report_frames[worst])
    values = {"part": plan.names.lower, "distance": units.text(farthest), "frame": f"{frame:g}"}
    return statement("MOVED", values, [[frame, frame]])
