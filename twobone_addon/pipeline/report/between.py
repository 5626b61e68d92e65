"""What a proof has measured of one chain: how far off its tip is at frames, and at quarter frames between them.

Every quarter is evaluated where that is affordable. For a long take, or in the user's own scene, which is slow, only the
worst intervals are: the frames predict well how far off the tip will be half-way to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude
from ...core.rig.rotations import unit
from ...said import Sentence

QUARTERS = np.array([0.25, 0.5, 0.75])

TELLING = QUARTERS[[0, 2]]
"""Positions within an interval at which the tip error is predicted; half-way it may happen to cross zero."""

TWO = 2
"""Fewest frames with anything between them."""

AFFORDABLE = {"SCENE": 32}
"""Number of intervals whose quarters are evaluated, by evaluation, for all armatures together."""

AFFORDABLE_OURSELVES = 128
"""That number in a temporary scene: five seconds of animation. More would take longer than the bake."""

FRAMES_TO_AN_INTERVAL = 12
"""Frames of a longer take per evaluated interval: three moments for twelve frames add a quarter to the verification time."""

WIDEST = 1.0 + 1e-6
"""Largest step in frames between measured moments; between report frames farther apart the whole frames are measured too."""

SAME_FRAME = 1e-3
"""Distance in frames within which a key counts as on a frame."""

LEAST = 6
"""Fewest intervals evaluated per armature, however many armatures there are."""

INTERVALS_AT_ONCE = 4096
"""Intervals processed at once, which takes a few megabytes; all those of an hour of film would take half the bake's memory."""

MOST_KEYED = 16
"""Largest number of intervals evaluated additionally because the target has keys inside them."""


@dataclass(frozen=True, slots=True)
class Track:
    """Positions of a chain's joints and its target, as Blender evaluates them."""

    frames: Array
    """`(M,)`"""
    joints_world: Array
    """`(M, n + 1, 3)`"""
    targets_world: Array
    """`(M, 3)`, the tip's goals."""

    @property
    def distances(self) -> Array:
        """`(M,)` from the tip to its goal, world units; NaN where the target has no position."""
        return distances(self.joints_world[:, -1], self.targets_world)


@dataclass(frozen=True, slots=True)
class Between:
    """The largest tip errors between the report frames, world units."""

    farthest: float
    """Largest distance of the tip from its target."""
    rise: float
    """Largest excess of that distance over the distances at the report frames before and after; 0 if there is none."""
    frame: float
    """Frame of the largest excess."""
    frames: Array
    """`(Q,)` all measured moments."""
    rises: Array
    """`(Q,)` excess distance at each moment."""
    intervals: Array
    """`(Q,)` interval of each moment, as the row of its first report frame."""

    def stretches(self, least: float) -> list[list[float]]:
        """`[first, last]` moments with an excess above `least`; affected intervals in a row form one stretch."""
        off = self.rises > least
        frames, rows = self.frames[off], self.intervals[off]
        starts = np.flatnonzero(np.diff(rows, prepend=-2) > 1)
        ends = np.append(starts[1:], len(rows)) - 1
        return np.stack([frames[starts], frames[ends]], axis=-1).tolist()


def affordable_intervals(evaluation: str, armatures: int) -> int:
    """Number of intervals to evaluate per armature, of `armatures` that are evaluated one by one."""
    return max(LEAST, AFFORDABLE.get(evaluation, AFFORDABLE_OURSELVES) // armatures)


def worth_a_look(frames: int, affordable: int) -> int:
    """Number of intervals to evaluate in a take that has more of them than are affordable."""
    return max(LEAST, min(affordable, frames // FRAMES_TO_AN_INTERVAL))


def joined_tracks(first: Track, second: Track, *, without: Array) -> Track:
    """The two tracks, one after the other, except for the frames `without`."""
    frames = np.concatenate([first.frames, second.frames])
    kept = ~np.isin(frames, without)
    return Track(
        frames[kept],
        np.concatenate([first.joints_world, second.joints_world])[kept],
        np.concatenate([first.targets_world, second.targets_world])[kept],
    )


def worst_between(reported: Track, inside: Track) -> Between | None:
    """The largest errors at the moments `inside`, relative to `reported`; `None` without moments that have a target position."""
    known = np.isfinite(inside.distances)
    if not known.any():
        return None
    frames, misses = inside.frames[known], inside.distances[known]
    at_ends = np.nan_to_num(reported.distances, nan=np.inf)
    place = np.clip(np.searchsorted(reported.frames, frames), 1, len(at_ends) - 1)
    rise = misses - np.maximum(at_ends[place - 1], at_ends[place])
    worst = int(np.argmax(rise))
    order = np.argsort(frames)
    return Between(
        farthest=float(misses.max()),
        rise=max(0.0, float(rise[worst])),
        frame=float(frames[worst]),
        frames=frames[order],
        rises=rise[order],
        intervals=place[order] - 1,
    )


def measured_frames(reported: Array) -> Array:
    """Frames `(M,)` to measure: the report frames `(K,)`, and the whole frames between those that are farther apart."""
    if len(reported) < TWO or np.diff(reported).max() <= WIDEST:
        return reported
    whole = np.arange(np.ceil(reported[0]), np.floor(reported[-1]) + 1.0)
    place = np.clip(np.searchsorted(reported, whole), 1, len(reported) - 1)
    inside = np.diff(reported)[place - 1] > WIDEST
    return np.union1d(reported, whole[inside])


def worst_intervals(track: Track, targets_between: Array | None, *, interpolation: str, count: int) -> Array:
    """Intervals `(I,)`, at most `count`, by their first row, in which the tip is likely to be farthest off.

    targets_between : (M - 1, 2, 3), target positions at the `telling` moments of each interval; `None` if unknown
    interpolation : of the keys from one frame to the next, `CONSTANT`, `LINEAR` or `BEZIER`
    """
    if len(track.frames) < TWO:
        return np.empty(0, dtype=int)
    errors = [_expected_errors(track, targets_between, rows, interpolation) for rows in parts_of(len(track.frames) - 1)]
    expected = np.nan_to_num(np.concatenate(errors), nan=0.0, posinf=0.0)
    at_frames = np.nan_to_num(track.distances, nan=0.0, posinf=0.0)
    rise = expected - np.maximum(at_frames[1:], at_frames[:-1])
    return np.union1d(_rows_of_largest(expected, count // 2), _rows_of_largest(rise, count - count // 2))


def keyed_intervals(frames: Array, keyed: Array) -> Array:
    """Intervals `(I,)` between `frames` `(M,)`, by their first row, with keys inside; at most `MOST_KEYED`, evenly chosen."""
    inside = keyed[(keyed > frames[0]) & (keyed < frames[-1])]
    rows = np.searchsorted(frames, inside)
    apart = np.minimum(frames[rows] - inside, inside - frames[rows - 1]) > SAME_FRAME
    intervals = np.unique(rows[apart] - 1)
    return intervals[:: max(1, -(-len(intervals) // MOST_KEYED))]


def quarters(frames: Array, intervals: Array) -> Array:
    """The moments `(I * 3,)` at the quarters of intervals between `frames` `(M,)`, each interval given by its first row."""
    return _moments(frames, intervals, QUARTERS)


def telling(frames: Array) -> Array:
    """The moments `((M - 1) * 2,)` in the intervals between `frames` `(M,)` at which the tip error is predicted."""
    return _moments(frames, np.arange(len(frames) - 1), TELLING)


def _moments(frames: Array, intervals: Array, parts: Array) -> Array:
    start, length = frames[intervals], frames[intervals + 1] - frames[intervals]
    return (start[:, None] + length[:, None] * parts).ravel()


def distances(tips: Array, targets: Array) -> Array:
    """Distances `(...)` of points `(..., 3)`."""
    return magnitude(tips - targets)


def parts_of(count: int) -> Iterator[slice]:
    """Slices that cover the rows of `count` intervals, `INTERVALS_AT_ONCE` each."""
    for start in range(0, count, INTERVALS_AT_ONCE):
        yield slice(start, min(start + INTERVALS_AT_ONCE, count))


def _expected_errors(track: Track, targets_between: Array | None, rows: slice, interpolation: str) -> Array:
    """Expected tip errors `(I,)` in some of the intervals; see `worst_intervals`."""
    first, last = max(0, rows.start - 1), rows.stop + 2  # with a neighbour on both sides, which a cubic needs
    rows_inside = slice(rows.start - first, rows.stop - first)
    tips = _expected_tips(track.joints_world[first:last], interpolation)[rows_inside]
    targets = _along_cubic(track.targets_world[first:last])[rows_inside] if targets_between is None else targets_between[rows]
    return distances(tips, targets).max(axis=-1)


def _expected_tips(joints: Array, interpolation: str) -> Array:
    """Tip positions `(M - 1, 2, 3)` at the telling moments, if bones turn evenly from one frame's direction to the next."""
    if interpolation == "CONSTANT":
        return np.repeat(joints[:-1, None, -1], len(TELLING), axis=1)
    links = np.diff(joints, axis=1)
    lengths = magnitude(links)
    between = _along_cubic if interpolation == "BEZIER" else _along_line
    turned = unit(between(unit(links))) * _along_line(lengths[..., None])
    return _along_line(joints[:, 0]) + turned.sum(axis=-2)


def _along_line(values: Array) -> Array:
    """Values `(M - 1, 2, ...)` at the telling moments, linearly interpolated from those at the frames, `(M, ...)`."""
    parts = TELLING.reshape(1, -1, *(1,) * (values.ndim - 1))
    return values[:-1, None] * (1.0 - parts) + values[1:, None] * parts


def _along_cubic(values: Array) -> Array:
    """Values `(M - 1, 2, ...)` at the telling moments, on the cubic through four neighbouring values `(M, ...)`."""
    parts = TELLING.reshape(1, -1, *(1,) * (values.ndim - 1))
    ends = np.concatenate([2.0 * values[:1] - values[1:2], values, 2.0 * values[-1:] - values[-2:-1]])[:, None]
    before, start, end, after = ends[:-3], ends[1:-2], ends[2:-1], ends[3:]
    down, past = 1.0 - parts, 1.0 + parts
    outer = (before * (2.0 - parts) + after * past) * parts * down / -6.0
    return outer + (start * down + end * parts) * past * (2.0 - parts) / 2.0


def _rows_of_largest(values: Array, count: int) -> Array:
    """Rows of the `count` largest of `values` `(N,)`."""
    return np.argsort(values)[max(0, len(values) - count) :]


@dataclass(frozen=True, slots=True)
class Visibility:
    """Whether the visible bone of one chain follows; distances in world units."""

    bone: str
    """Name of the bone that deforms where the lower bone is, or of the lower bone itself."""
    is_own: bool
    """Whether it is the lower bone itself."""
    follows: bool
    hindrances: tuple[Sentence, ...]
    """The reasons why it does not."""
    max_distance: float | None
    """Largest distance of the visible limb's end from the target; `None` if it follows or was not measured."""
    frame: float
    """Frame of that distance."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one chain at its report frames, in world units; `None` if there was no frame to measure."""

    max_error: float | None
    mean_error: float | None
    max_goal_error: float | None
    max_off_plane: float
    distances: Array
    """`(K,)` of the tip from its target, in space; NaN where the target has no position."""
    beside: Array
    """`(K,)` part of that distance across the plane."""
    aside: Array
    """`(K,)` distance in the plane from the target to the goal after clamping, softening and limits."""
    limb_length: float
    between: Between | None
    turned: tuple[Array, ...]
    """Posed matrices `(K, 4, 4)` of the bones that turn, one row where they are still."""
    visibility: Visibility | None = None
    """Whether the visible bone follows."""
