"""The ground, from the motion itself: how fast it moves under the feet, and how high it is.

At every frame of a walk some point of a foot is on the ground, and it is the lowest one. So the velocity that most of
the lowest points have is that of the ground: nearly none in the world, the belt's on a treadmill or in an in-place
cycle. Planted feet that slide because of bad data have some velocity, too; what tells them from a belt is that the
character gets along meanwhile.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude
from .feet import FeetMotion
from .runs import runs
from .speeds import slopes, standing_speeds

LOW_BAND = 0.06
"""Height, in leg lengths, over the lowest points of a motion up to which the lowest point of a frame may stand."""
LOWEST_PART = 0.1
"""Quantile of low points that counts as their lowest: single frames may be wrong."""
SLOWEST_BELT = 0.35
"""Leg lengths a second, below which the ground does not move: a foot that slides by 0.3 m/s is bad data, not a belt."""
MOST_TRAVEL = 0.25
"""Of a belt's velocity that the hips may have on average: who walks on a belt stays where it is."""
SPREAD, LEAST_AGREEING = 0.4, 0.35
"""On a belt, that part of the low points has a velocity that differs by no more than that part of the belt's from it."""
ROUNDS = 12
AROUND = 2.5
"""Times the usual distance from the common velocity: what counts as having it."""
STANDING = 0.5
"""Leg lengths a second, up to which a low point counts as standing while the ground's height is looked for."""
UNEVEN, MUCH_MORE, FAR_OFF = 0.005, 2.0, 0.12
"""Leg lengths by which the heights of standing points usually differ, times that they differ more than others, and leg
lengths that they are away from the ground: what tells a motion that was made for another ground."""


def ground_velocity(feet: FeetMotion) -> Array:
    """Velocity `(3,)` of the ground under the feet, horizontal, units a second; 0 unless it surely moves.

    A single frame tells none.
    """
    still = np.zeros(3)
    low = _low_velocities(feet)
    if not len(low):
        return still
    common = _common_value(low)
    speed = np.linalg.norm(common)
    travel = np.linalg.norm(_travel(feet))
    agreeing = np.mean(magnitude(low - common) <= SPREAD * speed)
    if speed < SLOWEST_BELT * feet.leg_length or travel > MOST_TRAVEL * speed or agreeing < LEAST_AGREEING:
        return still
    return np.array([*common, 0.0])


def velocity_of_stances(points: Array, stands: Mask, rate: float) -> tuple[Array, float]:
    """Velocity `(3,)` that `points` `(P, F, 3)` have in common while they stand `(P, F)`, and the farthest that one is off it.

    By least squares over all stances, each of which has a place of its own; no velocity where none lasts for two frames.
    """
    stances = [place[first : last + 1] for place, on in zip(points, stands, strict=True) for first, last in runs(on)]
    times = np.concatenate([np.zeros(0), *(np.arange(len(stance)) - (len(stance) - 1) / 2.0 for stance in stances)]) / rate
    ways = np.concatenate([np.zeros((0, 3)), *(stance - stance.mean(axis=0) for stance in stances)])
    square = times @ times
    velocity = times @ ways / square if square else np.zeros(3)
    return velocity, float(magnitude(ways - times[:, None] * velocity).max(initial=0.0))


def ground_height(feet: FeetMotion) -> float:
    """Height of a flat ground under the feet, from where their points stand; that of the lowest point if none stands."""
    speeds = standing_speeds(feet.points, feet.rate)
    lowest = feet.heights.min()
    standing = feet.heights[speeds <= STANDING * feet.leg_length]
    if not len(standing):
        return float(lowest)
    low = np.quantile(standing, LOWEST_PART)
    return float(np.median(standing[standing <= low + LOW_BAND / 2.0 * feet.leg_length]))


def is_of_flat_ground(flat: Array, over: Array, leg_length: float) -> bool:
    """Whether a motion belongs on flat ground rather than on a surface, from heights `(n,)` of points that stand.

    flat : over any level; over : over the surface, not finite where there is none

    On a flat surface at their height both are alike: then it belongs on that.
    """
    known = np.isfinite(over)
    if not known.any():
        return False
    spread, flat_spread = (float(np.median(np.abs(each - np.median(each)))) for each in (over[known], flat[known]))
    if abs(float(np.median(over[known]))) > FAR_OFF * leg_length:
        return True
    return spread > UNEVEN * leg_length and spread > MUCH_MORE * flat_spread


def standing_points(feet: FeetMotion) -> Mask:
    """`(C, 2, F)` where the lower point of a foot is slow enough to stand."""
    lower = feet.heights <= feet.heights.min(axis=1, keepdims=True)
    return lower & (standing_speeds(feet.points, feet.rate) <= STANDING * feet.leg_length)


def _low_velocities(feet: FeetMotion) -> Array:
    """Horizontal velocities `(n, 2)` of the lowest point of each window, where that is low enough to stand; none of one frame."""
    velocities = slopes(feet.points, feet.rate)
    count = velocities.shape[-2]
    if not count:
        return np.zeros((0, 2))
    gap = feet.points.shape[-2] - count
    heights = (feet.heights[..., :count] + feet.heights[..., gap:]) / 2.0
    flat = heights.reshape(-1, count)
    lowest = np.argmin(flat, axis=0)
    low = flat[lowest, np.arange(count)]
    is_low = low <= np.quantile(low, LOWEST_PART) + LOW_BAND * feet.leg_length
    return velocities.reshape(-1, count, 3)[lowest, np.arange(count), :2][is_low]


def _common_value(values: Array) -> Array:
    """What most of `values` `(n, k)` are near to: their median, moved to the mean of those around it until it stays.

    How near that is follows from themselves: exact values have an exact mean, whatever is far away.
    """
    center = np.median(values, axis=0)
    for _ in range(ROUNDS):
        distances = magnitude(values - center)
        near = distances[distances <= SPREAD * np.linalg.norm(center)]
        if not len(near):
            return center
        center = values[distances <= AROUND * np.median(near)].mean(axis=0)
    return center


def _travel(feet: FeetMotion) -> Array:
    """Mean horizontal velocity `(2,)` of the hips."""
    middle = feet.hips.mean(axis=0)[:, :2]
    return (middle[-1] - middle[0]) * feet.rate / (len(middle) - 1)
