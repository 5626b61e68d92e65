"""What became of the limbs of a conversion."""

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
"""Part of a limb's length from which on a conversion counts as visible; stretched IK is off by a quarter of that."""


def converted_report(limb: SolvedLimb, proof: Samples | None, further_notes: Sequence[Sentence], units: Units) -> ConvertedReport:
    """The report of one limb; `proof` is the animation after the conversion, `units` are the scene's."""
    keyed, ik = limb.keyed, limb.plan.ik
    chain = chain_report(keyed.solved, keyed.keys, None, drift=keyed.drift)
    reached = int(np.count_nonzero(limb.on_target[keyed.solved.plan.report_rows])) if ik else chain.frames
    chain = replace(chain, reached=reached, too_far=0, too_near=0, out_of_reach=[], notes=[*chain.notes, *further_notes])
    moved = None
    if proof is not None:
        moves = _moves(limb, proof)
        chain, moved = _with_errors(chain, limb, proof), float(moves.max())
        chain = replace(chain, statements=[_what_moved(limb, moves, units)])
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


def _moves(limb: SolvedLimb, proof: Samples) -> Array:
    """Farthest that any point of the limb's bones moved at each frame of the report `(R,)`, world units."""
    shown = proof.on(limb.plan.chain.report_frames)
    after = np.stack([shown.every(pose) for pose in limb.plan.poses()])
    moved = moved_points(limb.plan, limb.shown[:, limb.keyed.solved.plan.report_rows], after)
    turns = shown.every(limb.plan.chain.armature_world)[:, :3, :3]
    return magnitude(np.einsum("fij,bfpj->bfpi", turns, moved)).max(axis=(0, 2))


def _what_moved(limb: SolvedLimb, moves: Array, units: Units) -> Sentence:
    """How far the limb is from its motion on IK, at its worst."""
    plan, worst = limb.plan.chain, int(np.argmax(moves))
    size = np.cbrt(np.abs(np.linalg.det(limb.keyed.solved.motion.world_from_armature[0, :3, :3])))
    length = float(path_length(plan.rest.rest_joints())) * float(size)
    allowed = SEEN_TO_MOVE * length + (plan.settings.tolerance if plan.settings.keys == "REDUCE" else 0.0)
    farthest = float(moves[worst])
    if farthest <= allowed:
        names, distance = plan.names, units.text(max(farthest, units.seen(length)))
        return statement("AS_ON_IK", {"upper": names.upper, "lower": names.lower, "distance": distance})
    frame = float(plan.report_frames[worst])
    values = {"part": plan.names.lower, "distance": units.text(farthest), "frame": f"{frame:g}"}
    return statement("MOVED", values, [[frame, frame]])
