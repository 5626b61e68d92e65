"""From solved and measured chains to their reports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..curves.frames import ranges
from ..scene.writing import ChannelKeys
from ..solver import Reach
from .proof import Measured
from .report import ChainReport
from .solving import Solved


def chain_report(chain: Solved, keys: Sequence[ChannelKeys], measured: Measured | None, *, drift: float = 0.0) -> ChainReport:
    """The report of one chain: `keys` are all that it gets, `drift` what reduction cost."""
    plan, rows = chain.plan, chain.plan.report_rows
    reach = chain.chain.pose.reach[rows]
    counts = {kind: int(np.count_nonzero(reach == kind)) for kind in Reach}
    outside = (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)
    frames = plan.report_frames
    return ChainReport(
        armature=plan.names.armature,
        upper=plan.names.upper,
        lower=plan.names.lower,
        tip=plan.names.tip,
        target=plan.settings.target,
        frames=len(frames),
        frame_start=float(frames[0]),
        frame_end=float(frames[-1]),
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=len(frames) * len(keys),
        channels=len(keys),
        reached=counts[Reach.REACHED],
        too_far=counts[Reach.TOO_FAR],
        too_near=counts[Reach.TOO_NEAR],
        degenerate=counts[Reach.DEGENERATE],
        out_of_reach=ranges(frames, outside),
        max_error=measured.max_error if measured else None,
        mean_error=measured.mean_error if measured else None,
        max_goal_error=measured.max_goal_error if measured else None,
        max_off_plane=measured.max_off_plane if measured else None,
        max_drift=drift,
        plane_held=int(np.count_nonzero(chain.chain.plane_held[rows])),
        notes=_notes(chain, keys),
    )


def _notes(chain: Solved, keys: Sequence[ChannelKeys]) -> list[str]:
    notes = list(chain.plan.notes)
    held = int(np.count_nonzero(chain.chain.plane_held))
    if held:
        notes.append(f"The plane was undecided at {held} frames and taken from the frame before.")
    scaled = [key.group for key in keys if key.path.endswith(".scale") and key.index == 0]
    if scaled:
        notes.append(f"Stretching keyed the scale of {' and '.join(scaled)}.")
    return notes
