"""Measure what distances do not show: how far a bake twists bones in their joints, and where it bends a limb the other way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...core.array_types import Array, Indices, Mask
from ...core.arrays import cross, dot, every_row, frame_rows, magnitude
from ...core.curves.drift import portions
from ...core.curves.frames import ranges
from ...core.rig.bones import ChainMotion
from ...core.rig.following import posed_joints
from ...core.rig.plane_frames import frames_of
from ...core.rig.rotations import times_still, twists_about, unit
from ...core.rows import ROWS_AT_ONCE, picked_rows
from ..keying import PosedByCurves
from ..pose.solving import SolvedChain

if TYPE_CHECKING:
    from .between import Measured

SEEN_TWIST = 5.0
"""Twist in degrees above which a note mentions it: less goes unnoticed in the bend of most limbs."""

WIDEST_SWING = float(np.cos(np.radians(120.0)))
"""Cosine of the swing of a bone beyond which its twist is not measured: towards half a turn it means nothing."""

LEAST_BEND = float(np.sin(np.radians(10.0)))
"""Sine of the bend of a joint from which it has a side that is seen."""


@dataclass(frozen=True, slots=True)
class Twist:
    """The largest rotation of a bone about its own axis in its joint, relative to the replaced pose; and where joints flip."""

    degrees: float
    bone: str
    frame: float
    flipped: str = ""
    """Bone whose joint bends to the other side than before; empty for none."""
    flips: tuple[tuple[float, float], ...] = ()
    """Ranges of the frames at which it does."""


def largest_twists(chains: Sequence[SolvedChain], measured: Sequence[Measured | None] = ()) -> list[Twist]:
    """The largest twist of each chain, over all bones that turn and all report frames.

    measured : the chains as Blender evaluates them, including the error of reduced keys; without it the solution is used

    A bone's own axis is its link, from joint to joint. A bone of zero length has no axis, and no twist.
    """
    pieces = (
        _Piece(chain, part, seen and [_part_of(poses, part) for poses in seen.turned])
        for chain, seen in zip(chains, measured or [None] * len(chains), strict=True)
        for part in portions(len(chain.plan.report_rows))
    )
    turned = (bone for several in _batches(pieces) for bone in _turned(several))
    changes_of_bones = iter([changes for several in _batches(turned) for changes in _changes(several)])
    return [
        _largest_twist(
            chain, [[next(changes_of_bones) for _ in chain.plan.rest.turning] for _ in portions(len(chain.plan.report_rows))]
        )
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
    base: _Turned | None
    """The bone before it in the chain, relative to which it turns in its joint; `None` for the first."""
    count: int
    """Number of frames `K`."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chain for one portion of its report frames."""

    solved: SolvedChain
    part: slice
    seen: list[Array] | None
    """Posed matrices of the turning bones as Blender evaluates them; `None` where the solution is used."""

    @property
    def rows(self) -> Indices:
        return self.solved.plan.report_rows[self.part]

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self.rows)

    @property
    def motion(self) -> ChainMotion:
        """The chain's motion before the bake."""
        motion = self.solved.motion.chain
        return motion if self.count == len(self.solved.plan.frames) else picked_rows(motion, self.rows)

    @property
    def after(self) -> list[Array]:
        """Posed matrices of the turning bones after the bake."""
        if self.seen is not None:
            return self.seen
        posed = _posed(self.solved, self.rows)
        return [posed[index] for index in self.solved.plan.rest.turning]


def _part_of(poses: Array, part: slice) -> Array:
    return poses if len(poses) == 1 else poses[part]


def _turned(pieces: Sequence[_Piece]) -> Iterator[_Turned]:
    """Every bone that turns in some pieces, one piece after the other."""
    before = posed_joints([piece.solved.plan.rest for piece in pieces], [piece.motion for piece in pieces])
    for piece, (poses, joints) in zip(pieces, before, strict=True):
        links = np.diff(joints, axis=-2)
        base: _Turned | None = None
        for number, (index, after) in enumerate(zip(piece.solved.plan.rest.turning, piece.after, strict=True)):
            base = _Turned(links[:, number], poses[index][:, :3, :3], after[:, :3, :3], base, count=piece.count)
            yield base


def _posed(solved: SolvedChain, rows: Indices) -> list[Array]:
    """Posed matrices of the chain's bones at some frames."""
    if not solved.pose.turned.rotations:
        return PosedByCurves.of(solved).poses(np.stack([curve.values[rows] for curve in solved.curves], axis=-1), rows)
    return [frame_rows(poses, rows) for poses in solved.pose.turned.poses]


Counted = TypeVar("Counted", _Turned, _Piece)


def _batches(things: Iterable[Counted]) -> Iterator[list[Counted]]:
    """Bones or pieces in order, in batches of at most `ROWS_AT_ONCE` rows unless one alone has more."""
    batch: list[Counted] = []
    room = ROWS_AT_ONCE
    for thing in things:
        if batch and thing.count > room:
            yield batch
            batch, room = [], ROWS_AT_ONCE
        batch.append(thing)
        room -= thing.count
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Change:
    """How a bone has turned in its joint."""

    twists: Array
    """`(K,)` about its own axis, radians."""
    flips: Mask
    """`(K,)` whether its joint bends to the other side than before."""


def _changes(bones: list[_Turned]) -> list[_Change]:
    """The changes of each bone, all twists computed in one go."""
    counts = [bone.count for bone in bones]
    # The bone before the first one may be in the batch before.
    known = bones if bones[0].base is None else [bones[0].base, *bones]
    before = _applied(_rotations, [bone.before for bone in known])
    after = _applied(_rotations, [bone.after for bone in known])
    links = _applied(unit, [bone.axes for bone in known])
    turns, axes, sides = [], [], []
    for number, bone in enumerate(known[-len(bones) :], len(known) - len(bones)):
        if bone.base is None:
            turns.append(times_still(after[number], np.swapaxes(before[number], -1, -2)))
            axes.append(links[number])
            continue
        then, now = (np.swapaxes(rotations[number - 1], -1, -2) for rotations in (before, after))
        turns.append((now @ after[number]) @ np.swapaxes(then @ before[number], -1, -2))
        axes.append((then @ links[number][..., None])[..., 0])
        sides.append((then @ links[number - 1][..., None])[..., 0])
    all_axes, all_turns = _rows(axes, counts), _rows(turns, counts)
    turned = (all_turns @ all_axes[..., None])[..., 0]
    twists = np.where(np.sum(turned * all_axes, axis=-1) >= WIDEST_SWING, twists_about(all_axes, all_turns), 0.0)
    flips, based = np.zeros(len(twists), dtype=bool), np.repeat([bone.base is not None for bone in bones], counts)
    if sides:
        all_sides = _rows(sides, [bone.count for bone in bones if bone.base is not None])
        bends = cross(all_sides, all_axes[based]), cross(all_sides, turned[based])
        is_bent = np.minimum(*map(magnitude, bends)) > LEAST_BEND
        flips[based] = is_bent & (dot(*bends) < 0.0)
    ends = np.cumsum(counts)[:-1]
    return [_Change(*parts) for parts in zip(np.split(twists, ends), np.split(flips, ends), strict=True)]


def _applied(function: Callable[[Array], Array], pieces: list[Array]) -> list[Array]:
    """A row-wise function of several arrays, called once for all of them."""
    return np.split(function(np.concatenate(pieces)), np.cumsum([len(piece) for piece in pieces])[:-1])


def _rows(pieces: list[Array], counts: list[int]) -> Array:
    """Several arrays, one after the other, each broadcast to its count of rows."""
    return np.concatenate([every_row(piece, count) for piece, count in zip(pieces, counts, strict=True)])


def _rotations(linear: Array) -> Array:
    """Rotations `(K, 3, 3)` of posed bones, from their Y axis, then Z."""
    return frames_of(linear[..., 1], linear[..., 2])


def _largest_twist(chain: SolvedChain, parts: list[list[_Change]]) -> Twist:
    """The largest twist of a chain and its flips, from the changes of each bone in each portion of the frames."""
    twists = [np.concatenate([change.twists for change in changes]) for changes in zip(*parts, strict=True)]
    worst = [int(np.argmax(twist)) for twist in twists]
    number = max(range(len(twists)), key=lambda number: twists[number][worst[number]])
    names = [chain.plan.rest.bones[index].name for index in chain.plan.rest.turning]
    frames = chain.plan.report_frames
    degrees, frame = np.degrees(twists[number][worst[number]]), frames[worst[number]]
    flips = [np.concatenate([change.flips for change in changes]) for changes in zip(*parts, strict=True)]
    flipped = next((place for place, mask in enumerate(flips) if mask.any()), None)
    if flipped is None:
        return Twist(float(degrees), names[number], float(frame))
    spans = tuple((first, last) for first, last in ranges(frames, flips[flipped]))
    return Twist(float(degrees), names[number], float(frame), names[flipped], spans)
