"""How far a bake turns bones about their own axes, which no measure of joints and targets shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...array_types import Array
from ...arrays import every_row, frame_rows
from ...rig.planes import carried_frames
from ...rig.posing import joints_of, pose_path
from ...rig.rotations import twists_about, unit
from ..pose.solving import SolvedChain

SEEN_TWIST = 5.0
"""Degrees of a twist that a person is told of: less is lost in the bend of most limbs."""

ROWS_AT_ONCE = 16384
"""Frames of several bones that are worked out together: many, for each call has its cost, few enough for the cache."""


@dataclass(frozen=True, slots=True)
class Twist:
    """The largest turn of a bone about its own axis, against the pose that is replaced."""

    degrees: float
    bone: str
    frame: float


def largest_twists(chains: Sequence[SolvedChain]) -> list[Twist]:
    """Of all bones of each chain that turn, at the frames of its report.

    A bone's own axis is its link, from joint to joint. A bone without length has none, and no twist.
    """
    turned = [bone for chain in chains for bone in _turned(chain)]
    found = iter([twists for several in _batches(turned) for twists in _twists(several)])
    return [_largest(chain, [next(found) for _ in chain.plan.rest.turning]) for chain in chains]


@dataclass(frozen=True, slots=True)
class _Turned:
    """A bone before and after a bake."""

    axes: Array
    """`(K, 3)` its link."""
    before: Array
    """`(K, 3, 3)` of its posed matrix."""
    after: Array


def _turned(solved: SolvedChain) -> Iterator[_Turned]:
    """Every bone of a chain that turns."""
    plan, rows = solved.plan, solved.plan.report_rows
    before, after = pose_path(plan.rest, solved.motion.chain), solved.pose.turned.poses
    links = frame_rows(np.diff(joints_of(plan.rest, before), axis=-2), rows)
    for number, index in enumerate(plan.rest.turning):
        matrices = (frame_rows(poses[index], rows)[:, :3, :3] for poses in (before, after))
        yield _Turned(every_row(links[:, number], len(rows)), *(every_row(each, len(rows)) for each in matrices))


def _batches(bones: list[_Turned]) -> Iterator[list[_Turned]]:
    """The bones in order, as many at once as fit."""
    batch: list[_Turned] = []
    for bone in bones:
        if batch and sum(len(each.axes) for each in batch) + len(bone.axes) > ROWS_AT_ONCE:
            yield batch
            batch = []
        batch.append(bone)
    if batch:
        yield batch


def _twists(bones: list[_Turned]) -> list[Array]:
    """Twists `(K,)` of each bone, all worked out in one go."""
    before, after = (_rotations(np.concatenate([getattr(bone, name) for bone in bones])) for name in ("before", "after"))
    axes = unit(np.concatenate([bone.axes for bone in bones]))
    twists = twists_about(axes, after @ np.swapaxes(before, -1, -2))
    return np.split(twists, np.cumsum([len(bone.axes) for bone in bones])[:-1])


def _rotations(linear: Array) -> Array:
    """Rotations `(K, 3, 3)` of posed bones, by their Y axis, then Z."""
    return carried_frames(np.eye(3)[:, 1:], linear)


def _largest(chain: SolvedChain, twists: list[Array]) -> Twist:
    worst = [int(np.argmax(each)) for each in twists]
    number = max(range(len(twists)), key=lambda number: twists[number][worst[number]])
    bone = chain.plan.rest.bones[chain.plan.rest.turning[number]].name
    degrees, frame = np.degrees(twists[number][worst[number]]), chain.plan.report_frames[worst[number]]
    return Twist(float(degrees), bone, float(frame))
