"""Make the reports of converted limbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude, path_length
from ...pipeline.motion.plan_motion import points
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import ChainReport, statement
from ...pipeline.report.units import Units
from ...records import extended, replace
from ...said import Sentence
from ...scene.sampling.quantities import Samples
from .solve import SolvedLimb, moved_points


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedReport(ChainReport):
    """One limb. `reached` counts the frames at which the IK had the tip on its target."""

    bone: str
    """Bone that carries the IK constraint; empty for a Rigify limb."""
    constraint: str
    """Name of the IK constraint; empty for a Rigify limb."""
    max_moved: float | None
    """Largest distance that the conversion moved any point of the limb's bones, world units."""

    @property
    def at_worst(self) -> tuple[float, Sentence]:
        """How far the limb moved, and the sentence that says so if no other limb moved farther."""
        distance = self.statements[0].values["distance"]
        return self.max_moved or 0.0, Sentence("all move as on IK (within {distance} at frames)", {"distance": distance})


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
    named = {"bone": ik.bone if ik else "", "constraint": ik.constraint if ik else ""}
    return extended(ConvertedReport, chain, **named, max_moved=max_moved)


def _with_errors(chain: ChainReport, limb: SolvedLimb, proof: Samples) -> ChainReport:
    """The report with the tip's distance from the target, over frames at which the IK had it there."""
    plan = limb.plan.chain
    reached = limb.on_target[limb.keyed.solved.plan.report_rows]
    if not reached.any():
        return chain
    shown = proof.on(plan.report_frames)
    tips = points(shown.every(plan.armature_world), points(limb.plan.posed(shown)[2], plan.rest.tip))
    errors = magnitude(tips - shown.every(plan.target_world)[:, :3, 3])[reached]
    return replace(chain, max_error=float(errors.max()), mean_error=float(errors.mean()))


def _moved(limb: SolvedLimb, proof: Samples) -> Array:
    """Largest distance `(R,)` that any point of the limb's bones moved, at each frame that is measured, world units."""
    shown = proof.on(limb.plan.seen_frames)
    after = limb.plan.posed(shown)
    rows = np.searchsorted(limb.plan.chain.frames, limb.plan.seen_frames)
    moved = moved_points(limb.plan, limb.shown[:, rows], after)
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
    frame = float(limb.plan.seen_frames[worst])
    values = {"part": plan.names.lower, "distance": units.text(farthest), "frame": f"{frame:g}"}
    kind = "MOVED_IN_STRIP" if frame in limb.plan.strip_frames else "MOVED"
    return statement(kind, values, [[frame, frame]])
