"""How far a bake turns bones about their own axes, which no measure of joints and targets shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array_types import Array
from ...arrays import frame_rows
from ...rig.planes import carried_frames
from ...rig.posing import joints_of, pose_path
from ...rig.rotations import twists_about, unit
from ..pose.solving import SolvedChain

SEEN_TWIST = 5.0
"""Degrees of a twist that a person is told of: less is lost in the bend of most limbs."""


@dataclass(frozen=True, slots=True)
class Twist:
    """The largest turn of a bone about its own axis, against the pose that is replaced."""

    degrees: float
    bone: str
    frame: float


def largest_twist(solved: SolvedChain) -> Twist:
    """Of all bones of a chain that turn, at the frames of its report.

    A bone's own axis is its link, from joint to joint. A bone without length has none, and no twist.
    """
    plan, chain = solved.plan, solved.pose
    before, after = pose_path(plan.rest, solved.motion.chain), chain.turned.poses
    links = unit(np.diff(joints_of(plan.rest, before), axis=-2))
    rows = plan.report_rows
    found: list[tuple[float, str, float]] = []
    for number, index in enumerate(plan.rest.turning):
        turns = _rotations(after[index], rows) @ np.swapaxes(_rotations(before[index], rows), -1, -2)
        twists = np.broadcast_to(twists_about(frame_rows(links, rows)[:, number], turns), rows.shape)
        worst = int(np.argmax(twists))
        found.append((float(np.degrees(twists[worst])), plan.rest.bones[index].name, float(plan.report_frames[worst])))
    return Twist(*max(found, key=lambda each: each[0]))


def _rotations(poses: Array, rows: Array) -> Array:
    """Rotations `(K, 3, 3)` of posed bones at some frames, by their Y axis, then Z; one row may stand for all."""
    return carried_frames(np.eye(3)[:, 1:], frame_rows(poses, rows)[:, :3, :3])
