"""Positions, speeds and noise of feet, before their contacts are known.

A foot that is put down stops within a frame or two, which central differences blur. So each frame has one speed from
the moments before it and one from the moments after it: slopes of lines fitted to all positions in a window of fixed
duration (Savitzky-Golay filter of degree 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...records import replace
from ..array_types import Array
from ..arrays import magnitude
from ..rig.rotations import nearest_rotation, to_quaternion, unit
from .states import runs

WINDOW_IN_SECONDS = 1.0 / 50.0
"""Slope window for standing points and the velocity of the ground; a stance of a sprint has room for three."""
SIDE_IN_SECONDS = 0.06
"""Slope window on each side of a frame to tell whether a foot stands: 1 cm of video jitter becomes 0.2 leg lengths a second."""
NOISE_STEP = 0.035
"""Seconds between the five positions whose fourth difference measures the noise: it vanishes for standing feet, but not for
video jitter, which lasts for several frames."""
NOISE_QUANTILE, FOURTH = 0.2, 70.0**0.5
"""Quantile of the lengths of fourth differences that equals one standard deviation of a component (chi distribution with 3
degrees of freedom), as in that part of the frames all is noise; and the norm of the coefficients 1, -4, 6, -4, 1."""
HELD = 1e-5
"""Leg lengths by which a held pose may vary: more than single precision does, less than breathing does."""
RECORDED_REST, RECORDED_RESTS = 4.0 / 900.0, 0.12
"""Leg lengths within which a recorded point keeps while it rests, 4 mm of a leg of 0.9 m, for at least so many seconds."""
LEFT_AT_ONCE = 0.12
"""Leg lengths that every joint moves from a held rest pose to the next frame: three legs a second at 24 frames a second."""
CLOSES, SEAM, LEAST_CYCLE = 0.012, 0.5, 6
"""Tolerances of a cycle: leg lengths (1 cm of a leg) within which its first and last pose are the same; otherwise the relative
difference of the step from last to first pose from the steps beside it; and its fewest frames."""
UPRIGHT, RAISED = 0.5, 0.25
"""Least height of the hips over the feet, relative to their distance or in leg lengths, of a body over its feet: a squatting
person has 0.9 and 0.3, a spider 0.9 and less; a body that lies has about 0, and one that is upside down less."""
READ = 2.0 / 3.0 * np.pi
"""Largest turn between two frames whose direction is read: one of half a turn has none, as where a recording flips."""
MOST_SAMPLES = 40
"""Most samples of one window from which a quantile is computed."""


@dataclass(frozen=True, slots=True)
class FeetMotion:
    """Motion of the `C` feet of one character, heel first and ball second."""

    points: Array
    """`(C, 2, F, 3)` heel and ball, Z up, in a space in which the ground is at rest or moves steadily."""
    heights: Array
    """`(C, 2, F)` heights of the sole under both over the ground, or over height 0 as long as the ground is unknown."""
    hips: Array
    """`(C, F, 3)` root joints of the legs, in the space of the points."""
    leg_length: float
    """Length of a stretched leg, in the units of the points."""
    rate: float
    """Frames per second."""
    belt: Array = field(default_factory=lambda: np.zeros(3))
    """`(3,)` velocity of the ground, beside which the points are, units per second; 0 for ground at rest."""

    def over(self, height: float) -> FeetMotion:
        """The feet with heights over flat ground at `height`."""
        return replace(self, heights=self.heights - height)

    def beside(self, velocity: Array) -> FeetMotion:
        """The feet as seen from ground that moves at `velocity` `(3,)`, units per second."""
        travel = np.arange(self.points.shape[-2])[:, None] * (velocity / self.rate)
        return replace(self, points=self.points - travel, hips=self.hips - travel, belt=self.belt + velocity)

    def is_over_feet(self) -> bool:
        """Whether the body is over its feet for at least half of the time; a single leg may be held anywhere."""
        if len(self.hips) == 1:
            return True
        legs = (self.hips - self.points.mean(axis=1)).mean(axis=0)
        least = np.minimum(UPRIGHT * magnitude(legs), RAISED * self.leg_length)
        return bool(np.median(legs[:, 2] - least) >= 0.0)

    def since(self, first: int) -> FeetMotion:
        """The feet from frame index `first` on."""
        points, heights, hips = self.points[..., first:, :], self.heights[..., first:], self.hips[:, first:]
        return replace(self, points=points, heights=heights, hips=hips)

    def going_on(self, reach: int) -> tuple[FeetMotion, int]:
        """A cycle extended by `reach` frames at each end, and `reach`; these feet and 0 if they are no cycle.

        In a cycle the last pose equals the first one, or is one step before it; the body may travel.
        """
        count = self.points.shape[-2]
        joints = np.concatenate([self.points.reshape(-1, count, 3), self.hips])
        poses = joints - self.hips.mean(axis=0) * [1.0, 1.0, 0.0]
        if count < LEAST_CYCLE:
            return self, 0
        seam, before, after = (poses[:, frame] - poses[:, other] for frame, other in ((0, -1), (-1, -2), (1, 0)))
        body = self.hips.mean(axis=0)
        step, travel, tolerance = (before + after) / 2.0, body[-1] - body[0], CLOSES * self.leg_length
        is_closed = magnitude(seam).max() <= tolerance
        if not is_closed and np.any(magnitude(seam - step) > SEAM * magnitude(step) + tolerance):
            return self, 0
        period = count - 1 if is_closed else count
        travel += 0.0 if is_closed else (body[-1] - body[-2] + body[1] - body[0]) / 2.0
        indices = np.arange(-reach, count + reach)
        inside = (indices >= 0) & (indices < count)
        laps, rows = np.where(inside, 0, indices // period), np.where(inside, indices, indices % period)
        offsets = laps[:, None] * (travel * [1.0, 1.0, 0.0])
        points, heights, hips = self.points[..., rows, :] + offsets, self.heights[..., rows], self.hips[:, rows] + offsets
        return replace(self, points=points, heights=heights, hips=hips), reach


def turns_round(upper: Array, foot: Array) -> bool:
    """Whether a foot turns all the way round, as only a wheel does: by its matrices `(F, 3, 3)` and those of its limb's root.

    What turns is its twist about the axis that most of its steps share, relative to the limb; feet turn to and fro.
    """
    turns = nearest_rotation(np.swapaxes(unit_columns(upper), 1, 2) @ unit_columns(foot))
    steps = to_quaternion(np.swapaxes(turns[:-1], 1, 2) @ turns[1:])
    steps *= np.where(steps[:, :1] < 0.0, -1.0, 1.0)
    if len(steps) == 0:
        return False
    axis = np.linalg.svd(steps[:, 1:], full_matrices=False)[2][0]
    since = to_quaternion(np.swapaxes(turns[:1], 1, 2) @ turns)
    twists = 2.0 * np.arctan2(since[:, 1:] @ axis, since[:, 0])
    read = (np.diff(twists) + np.pi) % (2.0 * np.pi) - np.pi
    gone = np.cumsum(np.where(np.abs(read) < READ, read, 0.0))
    return bool(np.ptp(gone) > 2.0 * np.pi)


def unit_columns(matrices: Array) -> Array:
    """Matrices `(F, 3, 3)` without the scale of their axes; without one that has no length."""
    return np.swapaxes(unit(np.swapaxes(matrices, 1, 2)), 1, 2)


def moving_rows(joints: Array, leg_length: float, kept: int = 0) -> slice:
    """Slice of the frames of `joints` `(..., F, 3)` without held poses at both ends, but for `kept` frames of each.

    Poses are held before the first and after the last key of a motion; such frames say nothing about how it moves. All frames if
    nothing moves; none of a held pose that every joint leaves within one frame, as exporters leave a rest pose there.
    """
    places = joints.reshape(-1, *joints.shape[-2:])
    moving = [np.flatnonzero(np.abs(places - places[:, [end]]).max(axis=(0, 2)) > HELD * leg_length) for end in (0, -1)]
    if not len(moving[0]):
        return slice(0, places.shape[1])
    first, last = int(moving[0][0]) - 1, int(moving[1][-1]) + 1
    is_rest_pose = magnitude(places[:, first + 1] - places[:, first]).min() > LEFT_AT_ONCE * leg_length
    return slice(first if is_rest_pose else max(first - kept, 0), min(last + kept + 1, places.shape[1]))


def holds(points: Array, leg_length: float, least: float) -> list[tuple[int, int]]:
    """First and last frame of each time, of at least `least` frame steps, at which `points` `(P, F, 3)` do not move at all.

    A time at either end of the frames may go on outside, so half as long is enough there.
    """
    still = magnitude(np.diff(points, axis=-2)).max(axis=0) <= HELD * leg_length
    ends = 0, len(still)
    return [
        (first, last + 1)
        for first, last in runs(still)
        if last + 1 - first >= (least / 2.0 if first == ends[0] or last + 1 == ends[1] else least)
    ]


def rests(path: Array, width: float, steps: int) -> list[tuple[int, int]]:
    """First and last row of each time at which a point on its `path` `(F, 3)` keeps within `width` for any `steps` in a row."""
    if len(path) <= steps:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(path, steps + 1, axis=0)
    still = magnitude(windows.max(axis=-1) - windows.min(axis=-1)) <= width
    resting = np.zeros(len(path), dtype=bool)
    for step in range(steps + 1):
        resting[step : step + len(still)] |= still
    return runs(resting)


@dataclass(frozen=True, slots=True)
class Kinematics:
    """Positions and speeds of feet and of the body over them, in leg lengths and seconds."""

    points: Array
    """`(C, 2, F, 3)`"""
    heights: Array
    """`(C, 2, F)`"""
    hips: Array
    """`(C, F, 3)`"""
    body: Array
    """`(F, 3)` middle of the hips."""
    velocities: Array
    """`(C, 2, F, 3)` mean of the velocities before and after each frame."""
    body_velocity: Array
    """`(F, 3)` mean of the velocities before and after each frame."""
    speeds: Array
    """`(C, 2, F)` power mean, of exponent 1/2, of the speeds before and after each frame: the lesser one lets skating feet land
    too early, and the arithmetic mean lets a foot that stops dead land too late."""
    rises: Array
    """`(C, 2, F)` vertical speeds, up or down, averaged like `speeds`."""
    calmer_speeds: Array
    calmer_rises: Array
    """`(C, 2, F)` lesser of the values before and after each frame."""
    noise: float
    """Standard deviation of a component of positions, leg lengths."""
    rate: float
    belt: Array
    """`(3,)` velocity of the ground beside which the points are."""

    @classmethod
    def of(cls, feet: FeetMotion) -> Kinematics:
        """Compute from the positions of feet."""
        points, hips = feet.points / feet.leg_length, feet.hips / feet.leg_length
        body, steps = hips.mean(axis=0), steps_in(SIDE_IN_SECONDS, feet)
        sides = np.array(both_sides(points, steps)) * feet.rate
        speeds, rises = magnitude(sides), np.abs(sides[..., 2])
        return cls(
            points=points,
            heights=feet.heights / feet.leg_length,
            hips=hips,
            body=body,
            velocities=sides.mean(axis=0),
            body_velocity=np.mean(both_sides(body, steps), axis=0) * feet.rate,
            speeds=np.mean(speeds**0.5, axis=0) ** 2,
            rises=np.mean(rises**0.5, axis=0) ** 2,
            calmer_speeds=speeds.min(axis=0),
            calmer_rises=rises.min(axis=0),
            noise=noise_of(points, steps_in(NOISE_STEP, feet)),
            rate=feet.rate,
            belt=feet.belt / feet.leg_length,
        )

    def calmer(self) -> Kinematics:
        """The kinematics with the lesser of the speeds before and after each frame."""
        return replace(self, speeds=self.calmer_speeds, rises=self.calmer_rises)

    def ahead_of_belt(self, slow: Array) -> Kinematics:
        """The kinematics with speeds along the belt scaled down, so that the belt's own speed becomes `slow` `(C, F)`.

        A foot swings against its belt, and in the air nothing drives it the other way; but stylised feet that land are faster
        than the ground that they share.
        """
        pace = float(magnitude(self.belt))
        along = np.maximum(self.velocities @ (self.belt / pace), 0.0) / np.maximum(magnitude(self.velocities), pace * HELD)
        ratio = np.minimum(slow / pace, 1.0)[:, None]
        # Only the part of the velocity along the belt is scaled, by `ratio`.
        return replace(self, speeds=self.speeds * np.sqrt(1.0 - along**2 * (1.0 - ratio**2)))

    def noise_of_speeds(self, noise: float) -> float:
        """Standard deviation of a velocity component if a position component has `noise`."""
        steps = max(1, round(SIDE_IN_SECONDS * self.rate))
        # That of the slope of a line fitted to `steps` + 1 positions.
        return noise * self.rate * (12.0 / (steps * (steps + 1) * (steps + 2))) ** 0.5


def steps_in(seconds: float, feet: FeetMotion) -> int:
    """Number of frame steps in `seconds`; at least one."""
    return max(1, round(seconds * feet.rate))


def slopes(positions: Array, steps: int) -> Array:
    """Slopes `(..., F - n, k)` per frame of `positions` `(..., F, k)`, each over a window of `n` `steps`.

    A motion shorter than a window is one window. A single frame has no slopes.
    """
    steps = min(steps, positions.shape[-2] - 1)
    if steps < 1:
        return np.zeros((*positions.shape[:-2], 0, positions.shape[-1]))
    places = np.arange(steps + 1) - steps / 2.0
    weights = places / (places @ places)
    return np.lib.stride_tricks.sliding_window_view(positions, steps + 1, axis=-2) @ weights


def both_sides(positions: Array, steps: int) -> tuple[Array, Array]:
    """Slopes `(..., F, k)` per frame of `positions` `(..., F, k)` before and after each frame.

    Near the ends windows are shorter; the missing side of the first and last frame has the slope of the outermost step.
    A single frame stands still.
    """
    after, before = (_after(path, steps) for path in (positions, positions[..., ::-1, :]))
    return -before[..., ::-1, :], after


def _after(positions: Array, steps: int) -> Array:
    count = positions.shape[-2]
    windowed = slopes(positions, steps)
    if not windowed.shape[-2]:
        return np.zeros_like(positions)
    remaining = np.arange(windowed.shape[-2], count - 1)
    # No whole window follows the last frames: they look to the last one.
    secants = (positions[..., -1:, :] - positions[..., remaining, :]) / (count - 1 - remaining)[:, None]
    result = np.concatenate([windowed, secants], axis=-2)
    return np.concatenate([result, result[..., -1:, :]], axis=-2)


def standing_speeds(feet: FeetMotion) -> Array:
    """Speeds `(C, 2, F)` of heels and balls, units per second: the lesser of those before and after each frame."""
    return magnitude(np.array(both_sides(feet.points, steps_in(WINDOW_IN_SECONDS, feet)))).min(axis=0) * feet.rate


def smoothed(values: Array, reach: int) -> Array:
    """Moving average of `values` `(..., F)` over `reach` frames on each side; fewer at the ends."""
    frames = np.arange(values.shape[-1])
    first, last = np.maximum(frames - reach, 0), np.minimum(frames + reach + 1, values.shape[-1])
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    return (sums[..., last] - sums[..., first]) / (last - first)


def quantile_near(values: Array, reach: float, quantile: float) -> Array:
    """Running quantile `(..., F)` of `values` `(..., F)` over `reach` frames on each side, mirrored at the ends."""
    reach = max(1, round(reach))
    around = [(0, 0)] * (values.ndim - 1) + [(reach, reach)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, around, mode="symmetric"), 2 * reach + 1, axis=-1)
    return np.quantile(windows[..., :: -(-windows.shape[-1] // MOST_SAMPLES)], quantile, axis=-1)


def noise_of(positions: Array, step: int) -> float:
    """Standard deviation of a component's noise in `positions` `(..., F, 3)`, from fourth differences over `step` frames."""
    count = positions.shape[-2] - 4 * step
    if count < 1:
        return 0.0
    shifted = [positions[..., number * step : number * step + count, :] for number in range(5)]
    fourth = shifted[0] - 4.0 * shifted[1] + 6.0 * shifted[2] - 4.0 * shifted[3] + shifted[4]
    return float(np.median(np.quantile(magnitude(fourth), NOISE_QUANTILE, axis=-1))) / FOURTH
