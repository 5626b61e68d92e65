"""Find the frames at which nudges of a limb need keys, and the limb's keys around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import merge_frames
from ...core.nudges import NEAR_END, Nudge, Span, joined_spans, offsets
from ...pipeline.plan.chain_plan import ChainPlan
from ...scene.keys.reading import read_keyed
from ...scene.keys.tables import INTERPOLATION
from ...scene.lookup import object_named
from .plan import NudgePlan


@dataclass(frozen=True, slots=True)
class Part:
    """A range of consecutive frames that get keys."""

    limb: ChainPlan
    """Plan of the limb at the keyed frames."""
    start: float
    """Frame at which the nudges begin; the motion is unchanged there, except at the seam of a cycle."""
    end: float
    """Frame at which the nudges end; the motion is unchanged there, except at the seam of a cycle."""


def parts_of(plan: NudgePlan, nudges: Sequence[Nudge]) -> list[Part]:
    """Parts of the motion at which a limb needs keys: on whole frames, frames of its own keys, and frames of the nudges.

    A cycle that is nudged at its end has keys there, so that it meets its beginning; elsewhere the first and last frame of a
    part are not nudged, and join the unchanged curve outside.
    """
    cycled = [(nudge, plan.cycle_of(nudge)) for nudge in nudges]
    spans = joined_spans([_over_easing(plan.limb, span) for nudge, cycle in cycled for span in nudge.spans(cycle)])
    key_frames = np.concatenate([plan.own_frames, *(_repeated(nudge.frame, cycle) for nudge, cycle in cycled)])
    found = []
    for start, end in spans:
        ends = np.array([start, end])
        at_seam = np.isin(ends, plan.cycle or ()) & offsets(cycled, ends).any(axis=-1)
        first, last = np.where(at_seam, ends, (start + NEAR_END, end - NEAR_END))
        seams = ends[at_seam]
        frames = merge_frames(seams, key_frames, np.arange(np.ceil(first), np.floor(last) + 1.0))
        frames = frames[(frames >= first) & (frames <= last)]
        if len(frames):
            found.append(Part(_limb_at(plan, frames, (start, end), at_seam), start, end))
    return found


def _over_easing(limb: ChainPlan, span: Span) -> Span:
    """Extend the span where it would end between two keys with an easing such as Sine, which cannot be split."""
    start, end = span
    tables = [keyed.table for keyed in limb.keyed.values() if keyed.table is not None]
    while True:
        longer = start, end
        for table in tables:
            frames, eased = table["co"][:, 0].astype(float), table["interpolation"][:, 0] > INTERPOLATION["BEZIER"]
            for first, last in zip(frames[:-1][eased[:-1]], frames[1:][eased[:-1]], strict=True):
                start = first if first < start < last else start
                end = last if first < end < last else end
        if longer == (start, end):
            return longer


def _repeated(frame: float, cycle: Span | None) -> Array:
    """Frame `(1,)` within the cycle at which a nudge's frame repeats."""
    if cycle is None:
        return np.array([frame])
    return np.array([cycle[0] + (frame - cycle[0]) % (cycle[1] - cycle[0])])


def _limb_at(plan: NudgePlan, frames: Array, within: Span, at_seam: Array) -> ChainPlan:
    """Plan of the limb at frames `(F,)`, with the keys of its channels around the part `within`."""
    armature, (start, end) = object_named(plan.armature), within
    keyed = {channel: read_keyed(armature, *channel, start + 1.0, end - 1.0) for channel in plan.limb.keyed}
    settings = replace(plan.limb.settings, key_before=not at_seam[0], key_after=not at_seam[1])
    return replace(plan.limb, settings=settings, frames=frames, report_rows=np.arange(len(frames)), keyed=keyed)
