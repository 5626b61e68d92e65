"""Solve the keys of a nudged limb from its motion without nudges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array
from ...core.arrays import every_row
from ...core.nudges import Nudge, offsets
from ...core.rig.posing import joints_of, pose_path
from ...pipeline.keys.holding import with_held_keys
from ...pipeline.motion.plan_motion import aimed, motion_quantities, plan_motion, points
from ...pipeline.pose.solving import CurveSamples, SolvedChain, solve_together
from ...scene.keys.tables import NO_KEYS, ChannelKeys, Keyed
from ...scene.sampling.quantities import Quantity, Samples

if TYPE_CHECKING:
    from .parts import Part
    from .plan import NudgePlan


@dataclass(frozen=True, slots=True)
class SolvedPart:
    """One solved part, with the tip's places before and its offsets."""

    part: Part
    solved: SolvedChain
    before: Array
    """`(F, 3)` places of the tip without nudges, world space."""
    offset: Array
    """`(F, 3)` sum of the nudges' offsets, world space."""

    @property
    def goals(self) -> Array:
        """Goals `(F, 3)` of the tip, world space."""
        return self.before + self.offset


@dataclass(frozen=True, slots=True)
class NudgeSolution:
    """All keys of one limb."""

    nudges: Sequence[Nudge]
    """Nudges that the keys contain."""
    parts: Sequence[SolvedPart]
    keys: Sequence[ChannelKeys]
    """Keys of each channel, one piece for each part."""
    evaluation: str | dict[str, str] = ""


def quantities(parts: Sequence[Part]) -> list[Quantity]:
    """Quantities to sample for all parts."""
    return motion_quantities(parts[0].limb)


def solve_nudges(plan: NudgePlan, nudges: Sequence[Nudge], parts: Sequence[Part], samples: Samples) -> NudgeSolution:
    """Move the limb's tip by the sum of all nudges, from its motion without them."""
    cycled = [(nudge, plan.cycle_of(nudge)) for nudge in nudges]
    motions, before, moved = [], [], []
    for part in parts:
        limb, count = part.limb, len(part.limb.frames)
        motion = plan_motion(limb, samples)
        tips = joints_of(limb.rest, pose_path(limb.rest, motion.chain))[:, -1]
        before.append(every_row(points(motion.world_from_armature, tips), count))
        moved.append(offsets(cycled, limb.frames))
        target = np.tile(np.eye(4), (count, 1, 1))
        target[:, :3, 3] = before[-1] + moved[-1]
        motions.append(aimed(motion, target))
    solved = solve_together([part.limb for part in parts], motions)
    found = [SolvedPart(*each) for each in zip(parts, solved, before, moved, strict=True)]
    return NudgeSolution(nudges, found, _keys(found), samples.evaluation)


def _keys(parts: Sequence[SolvedPart]) -> list[ChannelKeys]:
    """Keys for each part of each channel; the curves stay unchanged outside these."""
    channels: dict[tuple[str, int], list[tuple[SolvedPart, CurveSamples]]] = {}
    for part in parts:
        for curve in part.solved.curves:
            channels.setdefault((curve.path, curve.index), []).append((part, curve))
    keys = []
    for channel, pieces in channels.items():
        keyed = pieces[0][0].part.limb.keyed[channel]
        outside = NO_KEYS if keyed.table is None else keyed.table
        for part, curve in pieces:
            before, after = _held(part.part, part.part.limb.keyed[channel], curve)
            outside = with_held_keys(outside, before, after)
        keys += [
            ChannelKeys(curve.path, curve.index, curve.group, part.part.limb.frames, curve.values, "LINEAR", outside=outside)
            for part, curve in pieces
        ]
    return keys


def _held(part: Part, keyed: Keyed, curve: CurveSamples) -> list[tuple[float, float] | None]:
    """Frame and value at which a curve is held at both ends of a part; `None` at the seam of a cycle."""
    settings, beside = part.limb.settings, keyed.frame_beside
    ends = ((settings.key_before, part.start, beside[0], 0), (settings.key_after, part.end, beside[1], -1))
    return [
        (frame, float(curve.present[row]) if value is None else value) if is_held else None for is_held, frame, value, row in ends
    ]
