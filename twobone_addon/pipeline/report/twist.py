"""Measure how far a bake twists bones about their own axes, which distances of joints and targets do not show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import every_row, frame_rows
from ...core.curves.drift import portions
from ...core.rig.plane_frames import frames_of
from ...core.rig.posing import joints_of, pose_path
from ...core.rig.rotations import times_still, twists_about, unit
from ...core.rows import ROWS_AT_ONCE, at_frames
from ..keys.posed_points import PosedByCurves
from ..pose.solving import SolvedChain

if TYPE_CHECKING:
    from .proof import Measured

SEEN_TWIST = 5.0
"""Twist in degrees above which a note mentions it: less goes unnoticed in the bend of most limbs."""


@dataclass(frozen=True, slots=True)
class Twist:
    """The largest rotation of a bone about its own axis, relative to the replaced pose."""

    degrees: float
    bone: str
    frame: float


def largest_twists(chains: Sequence[SolvedChain], measured: Sequence[Measured | None] = ()) -> list[Twist]:
    """The largest twist of each chain, over all bones that turn and all report frames.

    measured : the chains as Blender evaluates them, including the error of reduced keys; without it the solution is used

    A bone's own axis is its link, from joint to joint. A bone of zero length has no axis, and no twist.
    """
    found_of = measured or [None] * len(chains)
    turned = (bone for chain, found in zip(chains, found_of, strict=True) for bone in _turned(chain, found))
    found = iter([twists for several in _batches(turned) for twists in _twists(several)])
    return [
        _largest(chain, [[next(found) for _ in chain.plan.rest.turning] for _ in portions(len(chain.plan.report_rows))])
        for chain in chains
    ]


@dataclass(frozen=True, slots=True)
class _Turned:
    """A bone before and after a bake; arrays that do not change over time have one row."""

    axes: Array
    """`(K, 3)` or `(1, 3)`, its link."""
    before: Array
    """`(K, 3, 3)` or `(1, 3, 3)`, linear part of its posed matrix before."""
    after: Array
    """`(K, 3, 3)` or `(1, 3, 3)`, linear part of its posed matrix after."""
    count: int
    """Number of frames `K`."""


def _turned(solved: SolvedChain, measured: Measured | None) -> Iterator[_Turned]:
    """Every bone of a chain that turns, for one portion of its frames after the other."""
    plan = solved.plan
    for part in portions(len(plan.report_rows)):
        rows = plan.report_rows[part]
        motion = solved.motion.chain
        before = pose_path(plan.rest, motion if len(rows) == len(plan.frames) else at_frames(motion, rows))
        if measured:
            now = [poses if len(poses) == 1 else poses[part] for poses in measured.turned]
        else:
            posed = _posed(solved, rows)
            now = [posed[index] for index in plan.rest.turning]
        links = np.diff(joints_of(plan.rest, before), axis=-2)
        for number, (index, after) in enumerate(zip(plan.rest.turning, now, strict=True)):
            yield _Turned(links[:, number], before[index][:, :3, :3], after[:, :3, :3], count=len(rows))


def _posed(solved: SolvedChain, rows: Indices) -> list[Array]:
    """Posed matrices of the chain's bones at some frames."""
    if not solved.pose.turned.rotations:
        return PosedByCurves.of(solved).poses(np.stack([curve.values[rows] for curve in solved.curves], axis=-1), rows)
    return [frame_rows(poses, rows) for poses in solved.pose.turned.poses]


def _batches(bones: Iterator[_Turned]) -> Iterator[list[_Turned]]:
    """The bones in order, in batches of at most `ROWS_AT_ONCE` rows unless one bone alone has more."""
    batch: list[_Turned] = []
    room = ROWS_AT_ONCE
    for bone in bones:
        if batch and bone.count > room:
            yield batch
            batch, room = [], ROWS_AT_ONCE
        batch.append(bone)
        room -= bone.count
    if batch:
        yield batch


def _twists(bones: list[_Turned]) -> list[Array]:
    """Twists `(K,)` of each bone, all computed in one go."""
    counts = [bone.count for bone in bones]
    before = _applied(_rotations, [bone.before for bone in bones])
    after = _applied(_rotations, [bone.after for bone in bones])
    axes = _applied(unit, [bone.axes for bone in bones])
    turns = [times_still(now, np.swapaxes(then, -1, -2)) for then, now in zip(before, after, strict=True)]
    twists = twists_about(_rows(axes, counts), _rows(turns, counts))
    return np.split(twists, np.cumsum(counts)[:-1])


def _applied(function: Callable[[Array], Array], pieces: list[Array]) -> list[Array]:
    """A row-wise function of several arrays, called once for all of them."""
    return np.split(function(np.concatenate(pieces)), np.cumsum([len(piece) for piece in pieces])[:-1])


def _rows(pieces: list[Array], counts: list[int]) -> Array:
    """Several arrays, one after the other, each broadcast to its count of rows."""
    return np.concatenate([every_row(piece, count) for piece, count in zip(pieces, counts, strict=True)])


def _rotations(linear: Array) -> Array:
    """Rotations `(K, 3, 3)` of posed bones, from their Y axis, then Z."""
    return frames_of(linear[..., 1], linear[..., 2])


def _largest(chain: SolvedChain, parts: list[list[Array]]) -> Twist:
    """The largest twist of a chain, from those of each bone in each portion of the frames."""
    twists = [np.concatenate(each) for each in zip(*parts, strict=True)]
    worst = [int(np.argmax(each)) for each in twists]
    number = max(range(len(twists)), key=lambda number: twists[number][worst[number]])
    bone = chain.plan.rest.bones[chain.plan.rest.turning[number]].name
    degrees, frame = np.degrees(twists[number][worst[number]]), chain.plan.report_frames[worst[number]]
    return Twist(float(degrees), bone, float(frame))
