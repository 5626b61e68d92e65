"""Solve the keys of a nudged limb from its motion without nudges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import every_row, path_length
from ...core.curves.frames import cuts
from ...core.nudges import CycledNudge, Nudge, offsets
from ...core.rig.posing import joints_of, pose_path
from ...pipeline.keys_beside import Sides, holds, sides_of, with_keys_beside
from ...pipeline.motion.plan_motion import aimed, motion_quantities, plan_motion, points
from ...pipeline.pose.solving import CurveSamples, SolvedChain, solve_together
from ...scene.blender_types import Channel
from ...scene.keys.tables import ChannelKeys, StraightKeys
from ...scene.sampling.quantities import Quantity, Samples

if TYPE_CHECKING:
    from .task import NudgedRange, NudgePlan


@dataclass(frozen=True, slots=True)
class NudgedPart:
    """One solved part, with the tip's places before and its offsets."""

    keyed_range: NudgedRange
    solved: SolvedChain
    before: Array
    """`(F, 3)` places of the tip without nudges, world space."""
    offset: Array
    """`(F, 3)` sum of the nudges' offsets, world space."""

    @property
    def tips(self) -> Array:
        """Solved places `(F, 3)` of the tip, world space."""
        joints, world = self.solved.pose.turned.joints, self.solved.motion.world_from_armature
        return every_row(points(world, joints[:, -1]), len(self.before))

    @property
    def goals(self) -> Array:
        """Goals `(F, 3)` of the tip, world space."""
        return self.before + self.offset


@dataclass(frozen=True, slots=True)
class NudgeSolution:
    """All keys of one limb."""

    nudges: Sequence[Nudge]
    """Nudges that the keys contain."""
    parts: Sequence[NudgedPart]
    keys: Sequence[ChannelKeys]
    """Keys of each channel, one piece for each part."""
    evaluation: str | dict[str, str] = ""


def quantities(parts: Sequence[NudgedRange]) -> list[Quantity]:
    """Quantities to sample for all parts."""
    return motion_quantities(parts[0].limb)


def solve_nudges(plan: NudgePlan, nudges: Sequence[Nudge], parts: Sequence[NudgedRange], samples: Samples) -> NudgeSolution:
    """Move the limb's tip by the sum of all nudges, from its motion without them."""
    cycled = [CycledNudge(nudge, plan.cycle_of(nudge)) for nudge in nudges]
    motions, before, moved = [], [], []
    for part in parts:
        limb, count = part.limb, len(part.limb.frames)
        motion = plan_motion(limb, samples)
        inside = joints_of(limb.rest, pose_path(limb.rest, motion.chain))
        joints = np.stack(
            [every_row(points(motion.world_from_armature, joint), count) for joint in inside.swapaxes(0, 1)], axis=1
        )
        before.append(joints[:, -1])
        moved.append(_offsets(cycled, limb.frames, cuts(joints, float(path_length(joints).max()))))
        target = np.tile(np.eye(4), (count, 1, 1))
        target[:, :3, 3] = before[-1] + moved[-1]
        motions.append(aimed(motion, target))
    solved = solve_together([part.limb for part in parts], motions)
    nudged = [NudgedPart(*pieces) for pieces in zip(parts, solved, before, moved, strict=True)]
    return NudgeSolution(nudges, nudged, _keys(nudged), samples.evaluation)


def _offsets(cycled: Sequence[CycledNudge], frames: Array, takes: Indices) -> Array:
    """Sum `(F, 3)` of all nudges' offsets; one that is in no cycle ends at the cuts, the rows `takes` at which others begin."""
    total, take_of = np.zeros((len(frames), 3)), np.searchsorted(takes, np.arange(len(frames)), side="right")
    for cycled_nudge in cycled:
        moves = offsets([cycled_nudge], frames)
        if cycled_nudge.cycle is None:
            moves[take_of != np.searchsorted(frames[takes], cycled_nudge.nudge.frame, side="right")] = 0.0
        total += moves
    return total


def _keys(parts: Sequence[NudgedPart]) -> list[ChannelKeys]:
    """Keys for each part of each channel; the curves stay unchanged outside these."""
    channels: dict[Channel, list[tuple[NudgedPart, CurveSamples]]] = {}
    for part in parts:
        for curve in part.solved.curves:
            channels.setdefault(curve.channel, []).append((part, curve))
    keys: list[ChannelKeys] = []
    for channel, pieces in channels.items():
        new_keys, sides = list[ChannelKeys](), list[Sides]()
        for part, curve in pieces:
            limb, ends = part.keyed_range.limb, (part.keyed_range.start, part.keyed_range.end)
            new_keys.append(StraightKeys(curve.path, curve.index, curve.group, limb.report_frames, curve.values, "LINEAR"))
            # At the seam of a cycle the keys themselves are at the end.
            sides.append(sides_of(limb.keyed[channel], ends, holds(limb.settings), curve.ends))
        keys += with_keys_beside(new_keys, pieces[0][0].keyed_range.limb.keyed[channel], sides)
    return keys
