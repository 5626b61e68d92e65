"""What is known about feet before their contacts are: where their points are over time, how fast they move, how noisily.

A foot that is put down stops within a frame or two. Speeds that look at both sides of a frame blur that; here a frame
has one speed from the moments before it and one from the moments after it, each the slope of a line through all
positions in a window of fixed time (Savitzky and Golay's filter of degree 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array
from ..arrays import magnitude

WINDOW_IN_SECONDS = 1.0 / 50.0
"""Of the slope that tells the velocity of the ground: what stands in a sprint has room for three."""
SIDE_IN_SECONDS = 0.06
"""Of a slope that tells whether a foot stands: 1 cm of jitter from video becomes 0.2 leg lengths a second."""
NOISE_STEP = 0.035
"""Seconds between the five positions whose fourth difference tells the noise: feet that stand have no such difference,
and the jitter of video, which lasts for some frames, has."""
NOISE_QUANTILE, FOURTH = 0.2, 70.0**0.5
"""Of the lengths of fourth differences, which only noise has at so many frames, the quantile that is one standard deviation
of a component (chi distribution of degree 3); and the length of the coefficients 1, -4, 6, -4, 1."""
HELD = 1e-5
"""Leg lengths that a pose may change by and still be held: single precision, and no breath of anybody."""
CLOSES, SEAM, LEAST_CYCLE = 0.012, 0.5, 6
"""Of a cycle: leg lengths, 1 cm of a leg, by which its ends differ if they are one pose; part by which the step from its last to
its first pose may differ from the steps beside it otherwise; and frames."""
MOST_SAMPLES = 40
"""Of one window in which a quantile is looked for."""


@dataclass(frozen=True, slots=True)
class FeetMotion:
    """The feet of one character over time, `C` of them, heel first and ball second."""

    points: Array
    """`(C, 2, F, 3)` heel and ball, Z up, in a space in which the ground has no motion but a steady one."""
    heights: Array
    """`(C, 2, F)` over the ground, or over height 0 as long as the ground is not known; the sole at rest has 0."""
    hips: Array
    """`(C, F, 3)` root joints of the legs, in the same space."""
    leg_length: float
    """Of a stretched leg, in the units of the points."""
    rate: float
    """Frames a second."""

    def over(self, height: float) -> FeetMotion:
        """The same over a flat ground at that height."""
        return replace(self, heights=self.heights - height)

    def beside(self, velocity: Array) -> FeetMotion:
        """The same as seen from a ground that moves at `velocity` `(3,)`, units a second."""
        away = np.arange(self.points.shape[-2])[:, None] * (velocity / self.rate)
        return replace(self, points=self.points - away, hips=self.hips - away)

    def since(self, first: int) -> FeetMotion:
        """The same from that frame on."""
        points, heights, hips = self.points[..., first:, :], self.heights[..., first:], self.hips[:, first:]
        return replace(self, points=points, heights=heights, hips=hips)

    def going_on(self, reach: int) -> tuple[FeetMotion, int]:
        """A cycle with `reach` frames more at both ends, and their number; the same and 0 where this is none.

        In a cycle the last pose is the first one again, or comes one step before it; the body may travel.
        """
        count = self.points.shape[-2]
        joints = np.concatenate([self.points.reshape(-1, count, 3), self.hips])
        poses = joints - self.hips.mean(axis=0) * [1.0, 1.0, 0.0]
        if count < LEAST_CYCLE:
            return self, 0
        seam, before, after = (poses[:, one] - poses[:, two] for one, two in ((0, -1), (-1, -2), (1, 0)))
        body = self.hips.mean(axis=0)
        step, way, closed = (before + after) / 2.0, body[-1] - body[0], CLOSES * self.leg_length
        is_one = magnitude(seam).max() <= closed
        if not is_one and np.any(magnitude(seam - step) > SEAM * magnitude(step) + closed):
            return self, 0
        period = count - 1 if is_one else count
        way += 0.0 if is_one else (body[-1] - body[-2] + body[1] - body[0]) / 2.0
        places = np.arange(-reach, count + reach)
        inside = (places >= 0) & (places < count)
        rounds, rows = np.where(inside, 0, places // period), np.where(inside, places, places % period)
        away = rounds[:, None] * (way * [1.0, 1.0, 0.0])
        points, heights, hips = self.points[..., rows, :] + away, self.heights[..., rows], self.hips[:, rows] + away
        return replace(self, points=points, heights=heights, hips=hips), reach


def moving_rows(joints: Array, leg_length: float) -> slice:
    """The frames of `joints` `(..., F, 3)` without those before the first and after the last one at which something moves.

    Before the first key of a motion, and after its last one, poses are held; such frames tell nothing about how it moves.
    """
    places = joints.reshape(-1, *joints.shape[-2:])
    moving = [np.flatnonzero(np.abs(places - places[:, [end]]).max(axis=(0, 2)) > HELD * leg_length) for end in (0, -1)]
    return slice(moving[0][0] - 1, moving[1][-1] + 2) if len(moving[0]) else slice(0, places.shape[1])


@dataclass(frozen=True, slots=True)
class Kinematics:
    """How feet and the body over them move, in leg lengths and seconds."""

    points: Array
    """`(C, 2, F, 3)`"""
    heights: Array
    """`(C, 2, F)`"""
    hips: Array
    """`(C, F, 3)`"""
    body: Array
    """`(F, 3)` middle of the hips."""
    velocities: Array
    """`(C, 2, F, 3)` mean of both sides of each frame."""
    body_velocity: Array
    """`(F, 3)` alike."""
    speeds: Array
    """`(C, 2, F)` halfway between those of both sides, as factors: the lesser one lets skating feet land too early, and their
    mean lets a foot that stops dead land too late."""
    rises: Array
    """`(C, 2, F)` of the vertical part, up or down."""
    calmer_speeds: Array
    calmer_rises: Array
    """`(C, 2, F)` of whichever side is less."""
    noise: float
    """Standard deviation of a component of positions."""
    rate: float

    @classmethod
    def of(cls, feet: FeetMotion) -> Kinematics:
        """From positions."""
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
        )

    def calmer(self) -> Kinematics:
        """The same with the speeds of the calmer side of each frame."""
        return replace(self, speeds=self.calmer_speeds, rises=self.calmer_rises)

    def noise_of_speeds(self, noise: float) -> float:
        """Standard deviation of a component of velocities where that of positions is `noise`."""
        steps = max(1, round(SIDE_IN_SECONDS * self.rate))
        return noise * self.rate * (12.0 / (steps * (steps + 1) * (steps + 2))) ** 0.5


def steps_in(seconds: float, feet: FeetMotion) -> int:
    """Steps from frame to frame in so many seconds; at least one."""
    return max(1, round(seconds * feet.rate))


def slopes(positions: Array, steps: int) -> Array:
    """Slopes `(..., F - n, k)` of `positions` `(..., F, k)` a frame, each over a window of `n` `steps`.

    A motion that is shorter than a window is one window. Of a single frame there are none.
    """
    steps = min(steps, positions.shape[-2] - 1)
    if steps < 1:
        return np.zeros((*positions.shape[:-2], 0, positions.shape[-1]))
    places = np.arange(steps + 1) - steps / 2.0
    weights = places / (places @ places)
    return np.lib.stride_tricks.sliding_window_view(positions, steps + 1, axis=-2) @ weights


def both_sides(positions: Array, steps: int) -> tuple[Array, Array]:
    """Slopes `(..., F, k)` of `positions` `(..., F, k)` before and after each frame, a frame.

    At the ends windows are shorter; where there is nothing on one side, that side is as the other one. A single frame
    stands still.
    """
    after, before = (_after(each, steps) for each in (positions, positions[..., ::-1, :]))
    return -before[..., ::-1, :], after


def _after(positions: Array, steps: int) -> Array:
    count = positions.shape[-2]
    whole = slopes(positions, steps)
    if not whole.shape[-2]:
        return np.zeros_like(positions)
    rest = np.arange(whole.shape[-2], count - 1)
    ends = (positions[..., -1:, :] - positions[..., rest, :]) / (count - 1 - rest)[:, None]
    found = np.concatenate([whole, ends], axis=-2)
    return np.concatenate([found, found[..., -1:, :]], axis=-2)


def standing_speeds(feet: FeetMotion) -> Array:
    """Speeds `(C, 2, F)` of heels and balls, units a second: before or after each frame, whichever is less."""
    return magnitude(np.array(both_sides(feet.points, steps_in(WINDOW_IN_SECONDS, feet)))).min(axis=0) * feet.rate


def smoothed(values: Array, reach: int) -> Array:
    """Values `(..., F)`, each the mean of those within `reach` frames around it; less at the ends."""
    places = np.arange(values.shape[-1])
    first, last = np.maximum(places - reach, 0), np.minimum(places + reach + 1, values.shape[-1])
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    return (sums[..., last] - sums[..., first]) / (last - first)


def quantile_near(values: Array, reach: float, quantile: float) -> Array:
    """A quantile `(..., F)` of `values` `(..., F)` within `reach` frames around each."""
    reach = max(1, round(reach))
    around = [(0, 0)] * (values.ndim - 1) + [(reach, reach)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, around, mode="symmetric"), 2 * reach + 1, axis=-1)
    return np.quantile(windows[..., :: -(-windows.shape[-1] // MOST_SAMPLES)], quantile, axis=-1)


def noise_of(positions: Array, step: int) -> float:
    """Standard deviation of the noise of a component of `positions` `(..., F, 3)`, from fourth differences of every `step`-th."""
    count = positions.shape[-2] - 4 * step
    if count < 1:
        return 0.0
    five = [positions[..., place * step : place * step + count, :] for place in range(5)]
    fourth = five[0] - 4.0 * five[1] + 6.0 * five[2] - 4.0 * five[3] + five[4]
    return float(np.median(np.quantile(magnitude(fourth), NOISE_QUANTILE, axis=-1))) / FOURTH
