"""Curves and keys of planted legs and their root, per piece of changed frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Indices
from ....core.arrays import every_row, magnitude
from ....core.curves.frames import NEAR_FRAME
from ....core.curves.reduction import reduce_keys
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.rig.inheritance import parent_transform
from ....core.rig.limb_normals import Hinges
from ....core.rig.rotations import solve_linear
from ....pipeline.keys.reducing import reduced_keys as few_keys
from ....pipeline.motion.plan_motion import AimedMotion
from ....pipeline.pose.solving import CurvedChain, CurveSamples, curves_of_rows, solve_chain_pose
from ....scene.bones import rotation_path, scale_path
from ....scene.keys.tables import ChannelKeys, Keyed, KeyTable
from ....scene.sampling.quantities import Samples
from ....scene.sampling.stepping import Steps, part_of
from ..plan.feet import LegMotion, moved_leg
from ..pose.standing import Planted, PlantedLeg
from .keys import (
    Piece,
    PieceRows,
    changed_pieces,
    fitted_keys,
    fitted_samples,
    held_beside,
    motion_at,
    piece_samples,
    with_straight_handles,
)
from .spacing import reduced_keys, with_keys_between

if TYPE_CHECKING:
    from ....pipeline.plan.planning import ChainPlan
    from ..plan.planning import PlantingPlan
    from ..plan.roots import RootPlan

SAMPLES_AT_ONCE = 4096
"""Samples solved in one batch: more would be no faster, and would block the window."""

Channel = tuple[str, int]
"""Data path and index."""


@dataclass(frozen=True, slots=True)
class Present:
    """Current values and keys of a channel."""

    values: Array
    """`(S,)` values."""
    keyed: Keyed


@dataclass(frozen=True, slots=True)
class ChannelPieces:
    """All new keys of one channel."""

    strip: str
    """Name of the NLA strip for them, if the destination is strips."""
    pieces: list[ChannelKeys]
    outside: KeyTable | None
    """Keys of the curve outside the pieces; `None` keeps its present ones."""


def keys_of(plan: PlantingPlan, samples: Samples, planted: Planted, travel: Array) -> Steps[list[ChannelPieces]]:
    """Keys of all legs and the root, including its added motion `travel` `(S, 3)`; unchanged channels get none."""
    root_channels, moves = [], planted.moves
    if plan.root is not None:
        root_channels = root_keys(plan, plan.root, samples, moves + travel, whole_range=bool(np.any(travel)))
        moves = moves + root_drift(plan, plan.root, samples, moves + travel, whole_range=bool(np.any(travel)))
    legs: list[ChannelPieces] = []
    for number, leg in enumerate(planted.legs):
        legs += yield from part_of(_leg_keys(plan, leg, moves), number, len(planted.legs))
    return [*legs, *root_channels]


def _leg_keys(plan: PlantingPlan, leg: PlantedLeg, moves: Array) -> Steps[list[ChannelPieces]]:
    chain_plan = leg.before.leg.plan
    motion = moved_leg(leg.before, moves, leg.ankles, leg.turns, leg.ratios)
    present = _present(leg.before)
    solved = []
    for pieces in _solved_at_once(changed_pieces(leg.changed, whole_range=_is_whole(plan))):
        yield pieces[0][0] / len(plan.frames)
        together = _at_samples(chain_plan, motion, _samples_of(pieces), leg.before.hinges)
        pose = solve_chain_pose(*together)
        by_channels: dict[object, list[tuple[Piece, list[CurveSamples]]]] = {}
        end = 0
        for piece in pieces:
            rows = _samples_of([piece])
            start, end = end, end + len(rows)
            part, part_motion = _at_samples(chain_plan, motion, rows)
            curves = curves_of_rows(_held_beside(part, present, piece), part_motion, pose, np.arange(start, end))
            curves += _scale_curves(leg, rows)
            # Keys are reduced piece by piece; without reduction, pieces with the same channels are keyed together.
            channels = tuple((curve.path, curve.index) for curve in curves)
            by_channels.setdefault((channels, piece if plan.settings.keys == "REDUCE" else None), []).append((piece, curves))
        for group in by_channels.values():
            yield pieces[0][0] / len(plan.frames)
            solved += _piece_keys(plan, leg, motion, group)
    return _channels(plan, leg.before.leg.chain, sorted(solved, key=itemgetter(0)), present)


def _piece_keys(
    plan: PlantingPlan, leg: PlantedLeg, motion: AimedMotion, group: Sequence[tuple[Piece, Sequence[CurveSamples]]]
) -> list[tuple[Piece, list[ChannelKeys]]]:
    """Keys of several pieces of a leg whose curves have the same channels."""
    pieces, columns = [piece for piece, _ in group], list(zip(*(curves for _, curves in group), strict=True))
    samples = _samples_of(pieces)
    curves = [
        replace(parts[0], values=np.concatenate([part.values for part in parts]), present=parts[0].present[:1])
        for parts in columns
    ]
    chain = CurvedChain(*_at_samples(leg.before.leg.plan, motion, samples), curves)
    rows = PieceRows.of([last - first + 1 for first, last in pieces])
    pinned = leg.goals.pinned[samples]
    keys = fitted_keys(curves, chain.plan.frames[rows.whole], rows)
    if plan.settings.keys == "REDUCE":
        keys = reduced_keys(chain, keys, pinned, plan.settings.tolerance)
    keys = with_straight_handles(with_keys_between(chain, keys, pinned, leg.before.length, rows.starts))
    piece_keys = []
    for piece in pieces:
        first, last = np.searchsorted(keys[0].frames, plan.frames[list(piece)] + (-NEAR_FRAME, NEAR_FRAME))
        piece_keys.append((piece, [_part_of_keys(each, slice(first, last)) for each in keys]))
    return piece_keys


def _part_of_keys(keys: ChannelKeys, part: slice) -> ChannelKeys:
    left, right, smooth = (None if each is None else each[part] for each in (keys.left, keys.right, keys.smooth))
    return replace(keys, frames=keys.frames[part], values=keys.values[part], left=left, right=right, smooth=smooth)


def _solved_at_once(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Group pieces into batches of about `SAMPLES_AT_ONCE` samples."""
    several = list[Piece]()
    for piece in pieces:
        several.append(piece)
        if len(_samples_of(several)) >= SAMPLES_AT_ONCE:
            yield several
            several = []
    if several:
        yield several


def _samples_of(pieces: Sequence[Piece]) -> Indices:
    """Sample rows of several pieces, one piece after the other."""
    return np.concatenate([np.arange(rows.start, rows.stop) for rows in map(piece_samples, pieces)])


def _scale_curves(leg: PlantedLeg, rows: Indices) -> list[CurveSamples]:
    """Curves of the scales that stretch the leg at samples `rows`; none where it keeps its length."""
    if np.all(leg.ratios[rows] == 1.0):
        return []
    curves = []
    for each in leg.before.scales:
        path, name, present = scale_path(each.bone), each.bone.name, each.present[rows]
        values = present * leg.ratios[rows, None] ** each.power
        curves += [CurveSamples(path, axis, name, values[:, axis], present[:, axis]) for axis in range(3)]
    return curves


def _present(leg: LegMotion) -> dict[Channel, Present]:
    """Current values and keys of a leg's channels."""
    plan, motion = leg.leg.plan, leg.motion
    pairs = [(plan.rest.bones[index], motion.rotation_values[index]) for index in plan.rest.turning]
    if plan.end_bone is not None and motion.end_rotation_values is not None:
        pairs.append((plan.end_bone, motion.end_rotation_values))
    count, present = len(plan.frames), {}
    for bone, values in pairs:
        for index in range(4):
            channel = rotation_path(bone), index
            present[channel] = Present(every_row(values, count)[:, index], plan.keyed[channel])
    for each in leg.scales:
        for axis in range(3):
            channel = scale_path(each.bone), axis
            present[channel] = Present(each.present[:, axis], plan.keyed[channel])
    return present


def _at_samples(
    plan: ChainPlan, motion: AimedMotion, samples: Indices, hinges: Hinges | None = None
) -> tuple[ChainPlan, AimedMotion]:
    """A leg's plan and motion at some samples; `hinges` known at the first samples of the plan are interpolated to them."""
    frames = plan.frames[samples]
    at = None if hinges is None else hinges.at(plan.frames[: len(hinges.axes)], frames)
    whole = np.flatnonzero(samples % SAMPLES_PER_FRAME == 0)
    return replace(plan, frames=frames, hinges=at, report_rows=whole), motion_at(motion, samples)


def _held_beside(plan: ChainPlan, present: dict[Channel, Present], piece: Piece) -> ChainPlan:
    """A leg's plan for a piece, with the present values held in the frames beside it."""
    keyed = {}
    for channel, now in present.items():
        ends = _ends(now, piece)
        keyed[channel] = replace(now.keyed, beside=ends, frame_beside=ends)
    return replace(plan, keyed=keyed)


def _ends(now: Present, piece: Piece) -> tuple[float, float]:
    """Present values of a channel in the frames before and after a piece."""
    first, last = (piece[0] - 1) * SAMPLES_PER_FRAME, (piece[1] + 1) * SAMPLES_PER_FRAME
    values, (before_range, after_range) = now.values, now.keyed.frame_beside
    start = values[first] if first >= 0 else values[0] if before_range is None else before_range
    end = values[last] if last < len(values) else values[-1] if after_range is None else after_range
    return float(start), float(end)


def root_keys(
    plan: PlantingPlan, root: RootPlan, samples: Samples, moves: Array, *, whole_range: bool = False, may_reduce: bool = False
) -> list[ChannelPieces]:
    """Keys of the root's location with `moves` `(S, 3)`, world space, added.

    may_reduce : whether keys may be reduced if the settings say so; planted feet need the exact root at every frame
    """
    curves = _root_curves(plan, root, samples, moves)
    present = {(curve.path, curve.index): Present(curve.present, root.keyed[curve.path, curve.index]) for curve in curves}
    solved = []
    for piece in changed_pieces(_root_changes(moves), whole_range=whole_range or _is_whole(plan)):
        rows = piece_samples(piece)
        parts = [replace(each, values=each.values[rows], present=each.present[rows]) for each in curves]
        frames = plan.frames[piece[0] : piece[1] + 1]
        if may_reduce and plan.settings.keys == "REDUCE" and len(frames) > 1:
            space = _root_space(plan, root, samples.on(plan.samples))
            keys = _few_root_keys(plan, parts, plan.samples[rows], frames, space[rows] if len(space) > 1 else space)
        else:
            keys = fitted_keys(parts, frames, PieceRows.of([len(frames)]))
        solved.append((piece, with_straight_handles(keys)))
    return _channels(plan, root.name, solved, present)


def _few_root_keys(
    plan: PlantingPlan, parts: Sequence[CurveSamples], times: Array, frames: Array, space: Array
) -> list[ChannelKeys]:
    """The fewest keys with which the root stays within the tolerance, world units, of its samples at `times` `(N,)`."""
    exact = np.stack([part.values for part in parts], axis=-1)

    def drift(tried: Array, rows: Indices) -> Array:
        axes = every_row(space, len(times))[rows, :3, :3]
        return magnitude((axes @ (tried - exact[rows])[..., None])[..., 0])[..., None]

    return few_keys(parts, reduce_keys(times, exact, drift, plan.settings.tolerance, key_frames=frames))


def _root_changes(moves: Array) -> Array:
    """Mask `(S,)` of the samples to key: the root's moves and the frame to either side, into which interpolation reaches."""
    moved = np.any(moves != 0.0, axis=-1)
    return np.convolve(moved, np.ones(2 * SAMPLES_PER_FRAME + 1), mode="same") > 0.0 if moved.any() else moved


def root_drift(plan: PlantingPlan, root: RootPlan, samples: Samples, moves: Array, *, whole_range: bool = False) -> Array:
    """Deviation `(S, 3)`, world space, of the root's keyed curve from its goals between frames.

    After the last key of a piece the curve runs straight to the next frame, see `write_pieces`, unless a key comes before that.
    """
    drift = np.zeros((len(plan.samples), 3))
    curves = _root_curves(plan, root, samples, moves)
    for piece in changed_pieces(_root_changes(moves), whole_range=whole_range or _is_whole(plan)):
        rows, last = piece_samples(piece), float(plan.frames[piece[1]])
        beside = slice(rows.stop - 1, rows.stop + SAMPLES_PER_FRAME)
        for axis, curve in enumerate(curves):
            drift[rows, axis] = fitted_samples(curve.values[rows]) - curve.values[rows]
            table = root.keyed[curve.path, curve.index].table
            keys = np.zeros(0) if table is None else table["co"][:, 0]
            if beside.stop <= len(drift) and not np.any((keys > last + NEAR_FRAME) & (keys < last + 1.0 - NEAR_FRAME)):
                path = curve.values[beside]
                drift[beside, axis] += np.linspace(path[0], path[-1], len(path)) - path
    axes = _root_space(plan, root, samples.on(plan.samples))[:, :3, :3]
    return (axes @ drift[..., None])[..., 0]


def _root_curves(plan: PlantingPlan, root: RootPlan, samples: Samples, moves: Array) -> list[CurveSamples]:
    samples = samples.on(plan.samples)
    space = _root_space(plan, root, samples)
    if root.bone is None:
        world = samples.every(plan.legs[0].plan.armature_world)
        delta = np.zeros(3) if root.delta is None else root.delta
        group, present = "Object Transforms", solve_linear(space[:, :3, :3], world[:, :3, 3] - space[:, :3, 3]) - delta
    else:
        group, present = root.bone.name, every_row(samples[root.channels], len(plan.samples))[:, :3]
    values = present + solve_linear(space[:, :3, :3], moves)
    return [CurveSamples(root.path, axis, group, values[:, axis], present[:, axis]) for axis in range(3)]


def _root_space(plan: PlantingPlan, root: RootPlan, samples: Samples) -> Array:
    """World matrices `(n, 4, 4)`, `n` may be 1, of the axes of the root's location; for a bone, not of its origin."""
    parent = samples.every(root.parent) if root.parent else None
    if root.bone is None:
        return np.eye(4)[None] if parent is None or root.parent_inverse is None else parent @ root.parent_inverse
    place = np.broadcast_to(parent_transform(root.bone, parent).place, (len(plan.samples), 3, 3))
    space = samples.every(plan.legs[0].plan.armature_world).copy()
    space[:, :3, :3] = space[:, :3, :3] @ place
    return space


def _channels(
    plan: PlantingPlan, strip: str, solved: Sequence[tuple[Piece, list[ChannelKeys]]], present: dict[Channel, Present]
) -> list[ChannelPieces]:
    """Merge the keys of all pieces by channel; some pieces have fewer channels than others."""
    keys: dict[Channel, list[tuple[Piece, ChannelKeys]]] = {}
    for piece, piece_keys in solved:
        for made in piece_keys:
            keys.setdefault((made.path, made.index), []).append((piece, made))
    channels = []
    for channel, pieces in keys.items():
        now, made = present[channel], [part for _, part in pieces]
        ends = [_ends(now, piece) for piece, _ in pieces]
        within = float(plan.frames[0]), float(plan.frames[-1])
        outside = None if _is_whole(plan) else held_beside(now.keyed, made, ends, within)
        channels.append(ChannelPieces(strip, made, outside))
    return channels


def _is_whole(plan: PlantingPlan) -> bool:
    """Whether the whole range is keyed: a strip plays only its own keys."""
    return plan.settings.destination == "NLA"
