"""Whether a result is good enough, and if not, why: the command line makes its exit code of that."""

from __future__ import annotations

from typing import Any

from ..settings.tasks import Table
from ..tasks.audit import clips_of
from ..tasks.plant.report.reports import missed_by


def shortcomings(table: Table, report: Any, *, max_error: float | None = None) -> list[str]:
    """Return one sentence for each chain or clip and each reason why it is not good enough; empty if all are.

    max_error : largest acceptable distance of a baked tip from its target, world units; `None` for any
    """
    if table.task == "bake":
        return [sentence for chain in report.chains for sentence in _of_baked(chain, max_error)]
    if table.task == "audit":
        return _of_clips(report)
    if not table.is_strict:
        return []
    return [missed_by(chain).text() for chain in report.chains if not chain.is_on_target]


def _of_baked(chain: Any, max_error: float | None) -> list[str]:
    sentences, name = [], f"{chain.upper} to {chain.lower} of {chain.armature}"
    missed = chain.too_far + chain.too_near
    if missed:
        ranges = ", ".join(f"{first:g}" if first == last else f"{first:g} to {last:g}" for first, last in chain.out_of_reach)
        sentences.append(f"{name}: {missed} of {chain.frames} frames are out of reach ({ranges}).")
    error = getattr(chain, "max_error", None)  # A dry run measures none.
    if max_error is not None and error is None and chain.reached:
        sentences.append(f"{name}: the error was not measured. Leave --verify on.")
    if max_error is not None and error is not None and error > max_error:
        sentences.append(f"{name}: the tip is up to {error:.3g} off, more than {max_error:g}.")
    return sentences


def _of_clips(report: Any) -> list[str]:
    sentences = [
        f"{clip.armature}{f', {clip.action}' if clip.action else ''}: {clip.sentence}."
        for clip in clips_of(report)
        if not clip.is_fine
    ]
    return sentences + [f'"{action.action}" failed: {action.reason.text()}' for action in getattr(report, "refused", ())]
