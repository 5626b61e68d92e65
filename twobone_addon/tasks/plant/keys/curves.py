"""Curves and keys of planted legs and their root, per piece of changed frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....core.array_types import Array, Indices, KeyFrames, Mask, SampledFrames
from ....core.arrays import every_row, frame_rows, magnitude
from ....core.contacts.states import runs
from ....core.curves.frames import NEAR_FRAME
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.rig.inheritance import parent_transform
from ....core.rig.limb_normals import Hinges
from ....core.rig.rotations import solve_linear
from ....core.rows import picked_rows
from ....pipeline.keying import PosedByCurves, fewest_keys
from ....pipeline.keys_beside import Sides, sides_of, with_keys_beside
from ....pipeline.motion.plan_motion import AimedMotion
from ....pipeline.plan.chain_plan import ChainPlan
from ....pipeline.pose.solving import CurvedChain, CurveSamples, curves_of_rows, solve_chain_pose
from ....records import replace
from ....scene.blender_types import Channel
from ....scene.bones import location_path, rotation_path, scale_path
from ....scene.keys.tables import ChannelKeys, Keyed, SmoothKeys
from ....scene.sampling.quantities import Samples
from ....scene.sampling.stepping import Steps, part_of_steps
from ..plan.feet import LegMotion, moved_leg
from ..pose.standing import Planted, PlantedLeg

if TYPE_CHECKING:
    from ..plan.planning import PlantingPlan
    from ..plan.roots import RootPlan

STRAIGHT_HANDLES = 1e-4
"""Sine of the angle between two handles, in frames and radians, up to which they count as collinear."""

QUARTERS = np.arange(SAMPLES_PER_FRAME + 1)
"""Sample offsets from one frame to the next, both included."""

Piece = tuple[int, int]
"""First and last row of a run of frames that change."""


def changed_pieces(changed: Mask, *, whole_range: bool) -> list[Piece]:
    """Pieces of frames to key, from a mask `(S,)` of the samples that change; all frames if any changes and `whole_range`.

    A frame counts as changed if its own sample is, so the frames just outside a piece are unchanged.
    """
    at_frames = changed[::SAMPLES_PER_FRAME]
    if not at_frames.any():
        return []
    return [(0, len(at_frames) - 1)] if whole_range else runs(at_frames)


def piece_samples(piece: Piece) -> slice:
    """Slice of the samples of a piece."""
    return slice(piece[0] * SAMPLES_PER_FRAME, piece[1] * SAMPLES_PER_FRAME + 1)


def motion_at(motion: AimedMotion, indices: Indices) -> AimedMotion:
    """A plan's motion at some of its samples."""

    def at(values: Array | None) -> Array | None:
        return None if values is None else frame_rows(values, indices)

    return replace(
        motion,
        frames=motion.frames[indices],
        chain=picked_rows(motion.chain, indices),
        rotation_values=tuple(frame_rows(values, indices) for values in motion.rotation_values),
        world_from_armature=frame_rows(motion.world_from_armature, indices),
        armature_from_world=frame_rows(motion.armature_from_world, indices),
        target_world=frame_rows(motion.target_world, indices),
        influence=np.ones(1),
        end_pose=at(motion.end_pose),
        end_rotation_values=at(motion.end_rotation_values),
        along=tuple(picked_rows(foot, indices) for foot in motion.along),
    )


@dataclass(frozen=True, slots=True)
class PieceRows:
    """Rows of the frames of several pieces within their concatenated samples."""

    whole: Indices
    """`(F,)` rows of the frames."""
    goes_on: Mask
    """`(F,)` whether another frame of the same piece follows."""

    @classmethod
    def of(cls, counts: Sequence[int]) -> PieceRows:
        """Rows for pieces with these numbers of frames."""
        ends = np.cumsum(counts)
        number = np.repeat(np.arange(len(counts)), counts)
        goes_on = np.ones(ends[-1], dtype=bool)
        goes_on[ends - 1] = False
        return cls(np.arange(ends[-1]) * SAMPLES_PER_FRAME - number * (SAMPLES_PER_FRAME - 1), goes_on)

    @property
    def starts(self) -> Indices:
        """`(n,)` rows of the frames that another frame of the same piece follows."""
        return self.whole[self.goes_on]


def fitted_keys(curves: Sequence[CurveSamples], frames: Array, rows: PieceRows) -> list[SmoothKeys]:
    """Keys for each curve `(S,)` at every frame `(F,)` of the pieces, with handles of the least-squares cubics between them."""
    values = np.stack([curve.values for curve in curves], axis=-1)
    at, goes_on, came_on = values[rows.whole], rows.goes_on, np.roll(rows.goes_on, 1)
    leaving, arriving = _cubic(values[rows.starts[:, None] + QUARTERS].swapaxes(0, 1))
    left, right = at.copy(), at.copy()
    right[goes_on], left[came_on] = leaving, arriving
    # At the end of a piece the outer handle continues the inner one; a single key has flat handles.
    right[~goes_on], left[~came_on] = 2.0 * at[~goes_on] - left[~goes_on], 2.0 * at[~came_on] - right[~came_on]
    third = np.ones(len(frames)) / 3.0
    third[goes_on] = np.diff(frames)[goes_on[:-1]] / 3.0
    before = np.where(came_on, np.roll(third, 1), third)
    third = np.where(goes_on, third, before)
    return [
        SmoothKeys(
            *(curve.path, curve.index, curve.group, KeyFrames(frames), at[:, column]),
            left=np.stack([frames - before, left[:, column]], axis=-1),
            right=np.stack([frames + third, right[:, column]], axis=-1),
        )
        for column, curve in enumerate(curves)
    ]


def with_straight_handles(keys: Sequence[SmoothKeys]) -> list[SmoothKeys]:
    """The keys with `smooth` set where both handles are collinear; each segment between two keys was fitted separately."""
    straight = []
    for key in keys:
        places = np.stack([key.frames, key.values], axis=-1)
        before, after = places - key.left, key.right - places
        across = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        straight.append(replace(key, smooth=across <= STRAIGHT_HANDLES * np.hypot(*before.T) * np.hypot(*after.T)))
    return straight


FRACTIONS = np.arange(1, SAMPLES_PER_FRAME) / SAMPLES_PER_FRAME
INNER_WEIGHTS = np.stack([3.0 * FRACTIONS * (1.0 - FRACTIONS) ** 2, 3.0 * FRACTIONS**2 * (1.0 - FRACTIONS)], axis=-1)
"""Weights of the two inner control points of a cubic at the samples between its ends."""
LEAST_SQUARES = np.linalg.pinv(INNER_WEIGHTS)
"""Least-squares map from the residuals at these samples to the inner control points."""


def _cubic(windows: Array) -> Array:
    """Inner control points `(2, n, ...)`, first and second, of the least-squares cubics for frame samples `(5, n, ...)`."""
    weights = FRACTIONS.reshape(-1, *(1,) * (windows.ndim - 1))
    outer = (1.0 - weights) ** 3 * windows[0] + weights**3 * windows[-1]
    return np.tensordot(LEAST_SQUARES, windows[1:-1] - outer, axes=1)


def fitted_samples(values: Array) -> Array:
    """Values `(S,)` of the keys fitted to samples `(S,)`: approximate between frames."""
    inner = _cubic(values[np.arange(0, len(values) - 1, SAMPLES_PER_FRAME) + QUARTERS[:, None]])
    fitted = values.copy()
    for number, share in enumerate(FRACTIONS, start=1):
        outer = (1.0 - share) ** 3 * values[:-1:SAMPLES_PER_FRAME] + share**3 * values[SAMPLES_PER_FRAME::SAMPLES_PER_FRAME]
        fitted[number::SAMPLES_PER_FRAME] = outer + INNER_WEIGHTS[number - 1] @ inner
    return fitted


LARGEST_MOVE = 2e-4
"""Largest move of a planted foot between two keys, relative to leg length."""

INSIDE_FRAME = QUARTERS[1:-1]
"""Sample offsets of a frame without a key; curves are exact at keys."""


@dataclass(frozen=True, slots=True)
class _Cubics:
    """Cubic segments of all curves within some frames, each frame from its key to that of the next frame."""

    step: int
    """Number of samples from key to key."""
    windows: Array
    """`(n, 5, K)` samples of the curves in each frame."""
    handles: Array
    """`(n, k, 2, K)` inner control points of the cubics in each frame."""

    def samples(self) -> Array:
        """Values `(n, 5, K)` of the cubics at the samples."""
        values = self.windows.copy()
        for number, start in enumerate(range(0, SAMPLES_PER_FRAME, self.step)):
            u = (np.arange(1, self.step) / self.step)[:, None]
            first, last = (self.windows[:, [at]] for at in (start, start + self.step))
            inner = self.handles[:, number, :, None]
            outer = (1.0 - u) ** 3 * first + u**3 * last
            values[:, start + 1 : start + self.step] = outer + 3.0 * u * (1.0 - u) * ((1.0 - u) * inner[:, 0] + u * inner[:, 1])
        return values


def reduced_keys(solved: CurvedChain, keys: Sequence[SmoothKeys], pinned: Mask, tolerance: float) -> list[SmoothKeys]:
    """Reduce the keys of a leg, given on every frame, where its foot is free.

    pinned : (S,) where the foot stands
    tolerance : largest deviation of knee, ankle and the foot's end, world units
    """
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    kept = pinned[::SAMPLES_PER_FRAME].copy()
    reduced, posed = list(keys), PosedByCurves.of(solved)
    for first, last in runs(~kept):
        start, end = max(first - 1, 0), min(last + 1, len(kept) - 1)
        if start == end:
            kept[first] = True
            continue
        rows = np.arange(start * SAMPLES_PER_FRAME, end * SAMPLES_PER_FRAME + 1)
        frames, drift = solved.plan.frames[rows], posed.drift_from(values[rows], rows)
        few = fewest_keys(solved.curves, values[rows], frames, drift, tolerance, key_frames=frames[::SAMPLES_PER_FRAME]).keys
        places = np.searchsorted(reduced[0].frames, few[0].frames)
        if not np.array_equal(reduced[0].frames[np.minimum(places, len(kept) - 1)], few[0].frames):
            kept[start : end + 1] = True  # The tolerance would need keys between frames; keys on every frame come closer.
            continue
        kept[places] = True
        reduced = [_with_handles(*pair, places) for pair in zip(reduced, few, strict=True)]
    return [
        replace(
            key,
            frames=KeyFrames(key.frames[kept]),
            values=key.values[kept],
            left=np.array(key.left)[kept],
            right=np.array(key.right)[kept],
        )
        for key in reduced
    ]


def _with_handles(key: SmoothKeys, few: SmoothKeys, places: Indices) -> SmoothKeys:
    """The keys with the handles of a reduced stretch; at its two ends, only the handle towards its inside."""
    left, right = np.array(key.left), np.array(key.right)
    left[places[1:]], right[places[:-1]] = few.left[1:], few.right[:-1]
    return replace(key, left=left, right=right)


def with_keys_between(
    solved: CurvedChain, keys: Sequence[SmoothKeys], pinned: Mask, length: float, starts: Indices
) -> list[SmoothKeys]:
    """Add keys at half or quarter frames to the keys of a leg, given at frames, where its planted foot would move.

    pinned : (S,) where the foot stands, with keys on every frame
    length : length of the leg, world units
    starts : (n,) sample rows of the frames that another frame follows
    """
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    starts = starts[pinned[starts[:, None] + QUARTERS].all(axis=1)]
    denser, posed = list(keys), PosedByCurves.of(solved)
    windows = values[starts[:, None] + QUARTERS]
    exact = _ends_between(posed, windows, starts)
    for step in (SAMPLES_PER_FRAME, SAMPLES_PER_FRAME // 2, 1):
        if not len(starts):
            break
        cubics = _cubics(windows, step)
        still = magnitude(_ends_between(posed, cubics.samples(), starts) - exact).max(axis=1) <= LARGEST_MOVE * length
        # Where one cubic from frame to frame does not move the foot, no key is added.
        if step < SAMPLES_PER_FRAME and still.any():
            fitted = replace(cubics, windows=cubics.windows[still], handles=cubics.handles[still])
            frames = solved.plan.frames[starts[still]]
            denser = [_inserted(key, frames, fitted, column) for column, key in enumerate(denser)]
        starts, windows, exact = starts[~still], windows[~still], exact[~still]
    return denser


def _cubics(windows: Array, step: int) -> _Cubics:
    """Least-squares cubics with a key every `step` samples; where undetermined, with the samples' slopes at the keys."""
    slopes = np.gradient(windows, axis=1, edge_order=2) if len(windows) else windows
    u = np.arange(1, step) / step
    weights = np.stack([3.0 * u * (1.0 - u) ** 2, 3.0 * u**2 * (1.0 - u)], axis=-1)
    inner = []
    for start in range(0, SAMPLES_PER_FRAME, step):
        end = start + step
        first, last = windows[:, start], windows[:, end]
        guess = np.stack([first + slopes[:, start] * step / 3.0, last - slopes[:, end] * step / 3.0], axis=1)
        outer = (1.0 - u[:, None]) ** 3 * first[:, None] + u[:, None] ** 3 * last[:, None]
        missing = windows[:, start + 1 : end] - outer - weights @ guess
        inner.append(guess + np.linalg.pinv(weights) @ missing if step > 1 else guess)
    return _Cubics(step, windows, np.stack(inner, axis=1))


def _ends_between(posed: PosedByCurves, windows: Array, starts: Indices) -> Array:
    """Positions `(n, p, 3)` of ankle and foot at the samples inside frames, for curve samples `(n, 5, K)`."""
    rows, middle = (starts[:, None] + INSIDE_FRAME).ravel(), len(posed.solved.plan.rest.turning) - 1
    if not len(rows):
        return np.zeros((0, 1, 3))
    ends = posed.points(windows[:, INSIDE_FRAME].reshape(len(rows), -1), rows)[:, middle:]
    return ends.reshape(len(starts), -1, 3)


def _inserted(key: SmoothKeys, frames: Array, cubics: _Cubics, column: int) -> SmoothKeys:
    """Insert a channel's keys of cubics that begin at `frames` `(n,)`; each of these frames and the next must have a key."""
    places = np.searchsorted(key.frames, frames)
    length = (key.frames[places + 1] - frames)[:, None] * cubics.step / SAMPLES_PER_FRAME
    starts = frames[:, None] + length * np.arange(SAMPLES_PER_FRAME // cubics.step)
    right = np.stack([starts + length / 3.0, cubics.handles[:, :, 0, column]], axis=-1)
    left = np.stack([starts + length * 2.0 / 3.0, cubics.handles[:, :, 1, column]], axis=-1)
    old_left, old_right = np.array(key.left), np.array(key.right)
    old_right[places], old_left[places + 1] = right[:, 0], left[:, -1]
    new = starts[:, 1:].ravel()
    order = np.argsort(np.concatenate([key.frames, new]), kind="stable")
    values = np.concatenate([key.values, cubics.windows[:, cubics.step : -1 : cubics.step, column].ravel()])
    return replace(
        key,
        frames=KeyFrames(np.concatenate([key.frames, new])[order]),
        values=values[order],
        left=np.concatenate([old_left, left[:, :-1].reshape(-1, 2)])[order],
        right=np.concatenate([old_right, right[:, 1:].reshape(-1, 2)])[order],
    )


SAMPLES_AT_ONCE = 4096
"""Samples solved in one batch: more would be no faster, and would block the window."""


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


def keys_of_legs(plan: PlantingPlan, samples: Samples, planted: Planted, travel: Array) -> Steps[list[ChannelPieces]]:
    """Keys of all legs and the root, including its added motion `travel` `(S, 3)`; unchanged channels get none."""
    root_channels, moves = [], planted.moves
    if plan.root is not None:
        root_channels = root_keys(plan, plan.root, samples, moves + travel, whole_range=bool(np.any(travel)))
        # The legs start from where the root's keys bring it between frames, not from where it should be.
        moves = moves + root_drift(plan, plan.root, samples, moves + travel, whole_range=bool(np.any(travel)))
    legs: list[ChannelPieces] = []
    for number, leg in enumerate(planted.legs):
        legs += yield from part_of_steps(_leg_keys(plan, leg, moves), number, len(planted.legs))
    return [*legs, *root_channels]


def _leg_keys(plan: PlantingPlan, leg: PlantedLeg, moves: Array) -> Steps[list[ChannelPieces]]:
    chain_plan = leg.before.leg.plan
    motion = moved_leg(leg.before, moves, leg.ankles, leg.turns, leg.ratios)
    present = _present(leg.before)
    solved: dict[Piece, list[SmoothKeys]] = {}
    # A foot beside the leg that the root does not carry must be keyed wherever the root takes the leg.
    follows_root = all(leg.before.leg.feet_on_root)
    changed = leg.changed if follows_root else leg.changed | _root_changes(moves)
    for pieces in _solved_at_once(changed_pieces(changed, whole_range=_is_whole(plan))):
        yield pieces[0][0] / len(plan.frames)
        together = _at_samples(chain_plan, motion, _samples_of(pieces), leg.before.hinges)
        pose = solve_chain_pose(*together)
        by_channels: dict[object, dict[Piece, list[CurveSamples]]] = {}
        end = 0
        for piece in pieces:
            rows = _samples_of([piece])
            start, end = end, end + len(rows)
            part, part_motion = _at_samples(chain_plan, motion, rows)
            curves = curves_of_rows(_at_piece(part, present, piece), part_motion, pose, np.arange(start, end))
            curves += _scale_curves(leg, rows)
            # Keys are reduced piece by piece; without reduction, pieces with the same channels are keyed together.
            channels = tuple(curve.channel for curve in curves)
            by_channels.setdefault((channels, piece if plan.settings.keys == "REDUCE" else None), {})[piece] = curves
        for group in by_channels.values():
            yield pieces[0][0] / len(plan.frames)
            solved |= _piece_keys(plan, leg, motion, group)
    return _channels(plan, leg.before.leg.chain, {piece: solved[piece] for piece in sorted(solved)}, present)


def _piece_keys(
    plan: PlantingPlan, leg: PlantedLeg, motion: AimedMotion, group: Mapping[Piece, Sequence[CurveSamples]]
) -> dict[Piece, list[SmoothKeys]]:
    """Keys of several pieces of a leg whose curves have the same channels."""
    pieces, columns = list(group), list(zip(*group.values(), strict=True))
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
    piece_keys = {}
    for piece in pieces:
        first, last = np.searchsorted(keys[0].frames, plan.frames[list(piece)] + (-NEAR_FRAME, NEAR_FRAME))
        piece_keys[piece] = [key.part(slice(first, last)) for key in keys]
    return piece_keys


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
    for scale in leg.before.scales:
        path, name, present = scale_path(scale.bone), scale.bone.name, scale.present[rows]
        values = present * leg.ratios[rows, None] ** scale.power
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
            channel = Channel(rotation_path(bone), index)
            present[channel] = Present(every_row(values, count)[:, index], plan.keyed[channel])
    for foot, foot_motion in zip(plan.along, motion.along, strict=True):
        for axis in range(3):
            channel = Channel(location_path(foot.bone), axis)
            present[channel] = Present(every_row(foot_motion.location, count)[:, axis], plan.keyed[channel])
    for scale in leg.scales:
        for axis in range(3):
            channel = Channel(scale_path(scale.bone), axis)
            present[channel] = Present(scale.present[:, axis], plan.keyed[channel])
    return present


def _at_samples(
    plan: ChainPlan, motion: AimedMotion, samples: Indices, hinges: Hinges | None = None
) -> tuple[ChainPlan, AimedMotion]:
    """A leg's plan and motion at some samples; `hinges` known at the first samples of the plan are interpolated to them."""
    frames = SampledFrames(plan.frames[samples])
    at = None if hinges is None else hinges.at(plan.frames[: len(hinges.axes)], frames)
    whole = np.flatnonzero(samples % SAMPLES_PER_FRAME == 0)
    return replace(plan, frames=frames, hinges=at, report_rows=whole), motion_at(motion, samples)


def _at_piece(plan: ChainPlan, present: dict[Channel, Present], piece: Piece) -> ChainPlan:
    """A leg's plan for a piece, with the present values held in the frames beside it."""
    return replace(plan, keyed={channel: now.keyed.holding(_ends(now, piece)) for channel, now in present.items()})


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
    present = {curve.channel: Present(curve.present, root.keyed[curve.channel]) for curve in curves}
    solved: dict[Piece, list[SmoothKeys]] = {}
    for piece in changed_pieces(_root_changes(moves), whole_range=whole_range or _is_whole(plan)):
        rows = piece_samples(piece)
        parts = [replace(curve, values=curve.values[rows], present=curve.present[rows]) for curve in curves]
        frames = plan.frames[piece[0] : piece[1] + 1]
        if may_reduce and plan.settings.keys == "REDUCE" and len(frames) > 1:
            space = _root_space(plan, root, samples.on(plan.samples))
            keys = _few_root_keys(plan, parts, plan.samples[rows], frames, space[rows] if len(space) > 1 else space)
        else:
            keys = fitted_keys(parts, frames, PieceRows.of([len(frames)]))
        solved[piece] = with_straight_handles(keys)
    return _channels(plan, root.name, solved, present)


def _few_root_keys(
    plan: PlantingPlan, parts: Sequence[CurveSamples], times: Array, frames: Array, space: Array
) -> list[SmoothKeys]:
    """The fewest keys with which the root stays within the tolerance, world units, of its samples at `times` `(N,)`."""
    exact = np.stack([part.values for part in parts], axis=-1)

    def drift(tried: Array, rows: Indices) -> Array:
        axes = every_row(space, len(times))[rows, :3, :3]
        return magnitude((axes @ (tried - exact[rows])[..., None])[..., 0])[..., None]

    return fewest_keys(parts, exact, times, drift, plan.settings.tolerance, key_frames=frames).keys


def _root_changes(moves: Array) -> Array:
    """Mask `(S,)` of the samples to key: the root's moves and the frame to either side, into which interpolation reaches."""
    moved = np.any(moves != 0.0, axis=-1)
    return np.convolve(moved, np.ones(2 * SAMPLES_PER_FRAME + 1), mode="same") > 0.0 if moved.any() else moved


def root_drift(plan: PlantingPlan, root: RootPlan, samples: Samples, moves: Array, *, whole_range: bool = False) -> Array:
    """Deviation `(S, 3)`, world space, of the root's keyed curve from its goals between frames.

    After the last key of a piece the curve runs straight to the next frame, see `piece_changes`, unless a key comes before that.
    """
    drift = np.zeros((len(plan.samples), 3))
    curves = _root_curves(plan, root, samples, moves)
    for piece in changed_pieces(_root_changes(moves), whole_range=whole_range or _is_whole(plan)):
        rows, last = piece_samples(piece), float(plan.frames[piece[1]])
        beside = slice(rows.stop - 1, rows.stop + SAMPLES_PER_FRAME)
        for axis, curve in enumerate(curves):
            drift[rows, axis] = fitted_samples(curve.values[rows]) - curve.values[rows]
            table = root.keyed[curve.channel].table
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
    plan: PlantingPlan, strip: str, solved: Mapping[Piece, list[SmoothKeys]], present: dict[Channel, Present]
) -> list[ChannelPieces]:
    """Merge the keys of all pieces by channel; some pieces have fewer channels than others."""
    keys: dict[Channel, list[tuple[Piece, SmoothKeys]]] = {}
    for piece, piece_keys in solved.items():
        for key in piece_keys:
            keys.setdefault(key.channel, []).append((piece, key))
    channels = []
    within, is_whole = (float(plan.frames[0]), float(plan.frames[-1])), _is_whole(plan)
    for channel, pieces in keys.items():
        now, new_keys = present[channel], [piece_keys for _, piece_keys in pieces]
        sides = [] if is_whole else [_sides(now, piece, piece_keys, within) for piece, piece_keys in pieces]
        channels.append(ChannelPieces(strip, with_keys_beside(new_keys, now.keyed, sides)))
    return channels


def _sides(now: Present, piece: Piece, keys: SmoothKeys, within: tuple[float, float]) -> Sides:
    """Where a channel is held to either side of a piece, at its present values.

    Outside the range `within` nothing is held beyond the channel's first and last key; one without keys has its value at all
    frames.
    """
    frames, table = (float(keys.frames[0]) - 1.0, float(keys.frames[-1]) + 1.0), now.keyed.table
    is_held = (True, True)
    if table is not None:
        first, last = min(float(table["co"][0, 0]), within[0]), max(float(table["co"][-1, 0]), within[1])
        is_held = frames[0] >= first - NEAR_FRAME, frames[1] <= last + NEAR_FRAME
    ends = _ends(now, piece)
    return sides_of(now.keyed.holding(ends), frames, is_held, ends)


def _is_whole(plan: PlantingPlan) -> bool:
    """Whether the whole range is keyed: a strip plays only its own keys."""
    return plan.settings.destination == "NLA"
