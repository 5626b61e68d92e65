"""The ground, from the motion itself: how fast it moves under the feet, and how high it is.

At every frame of a walk some point of a foot is on the ground, and it is the lowest one. So the velocity that most of
the lowest points have is that of the ground: nearly none in the world, the belt's on a treadmill or in an in-place
cycle. Planted feet that slide because of bad data have some velocity, too; what tells them from a belt is that the
character travels meanwhile.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude
from .feet import WINDOW_IN_SECONDS, FeetMotion, Kinematics, slopes, standing_speeds, steps_in
from .states import runs

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
ON_ONE_LEVEL = 0.7
"""Part of the time on one foot that is near the flat ground in a take that has no other."""
SPOT_IN_SECONDS = 0.06
"""Least time on one foot that tells how high its spot is."""
STRETCHED = 0.85
"""Part of the farthest reach of a leg that bears the body to which each leg that bears it stretches at some time."""
BESIDE, FAR = 0.2, 1e-4
"""Leg lengths in plan within which a spot tells the floor, less than a tread; and what spots count that are farther away."""


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
    speeds = standing_speeds(feet)
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


def nearer_ground(soles: Array, grounds: Array, apart: Array) -> Array:
    """Heights `(..., 2, F)` of the ground under heel and ball, from those straight below them, `grounds` `(..., 2, F)`.

    soles : (..., 2, F) height of the sole there; apart : (..., F) how far heel and ball are apart, level

    Ground between them that is steeper than one in one is an edge, as of a step: the foot stands on the side it is nearer to.
    """
    nearer = np.take_along_axis(grounds, np.argmin(np.abs(soles - grounds), axis=-2, keepdims=True), axis=-2)
    known = np.where(np.isfinite(grounds).all(axis=-2, keepdims=True), grounds, 0.0)
    steep = np.ptp(known, axis=-2, keepdims=True) > apart[..., None, :]
    return np.where(steep, nearer, grounds)


def local_floor(motion: Kinematics, heights: Array, slowest: Array, most_rise: Array, level: float) -> Array | float:
    """Height `(C, 2, F)` of stairs, slopes and boxes under each point over the flat ground, leg lengths; 0 on flat ground.

    heights : (C, 2, F) over the flat ground; slowest : (C, F) speeds up to which a foot stands; most_rise : (F,) of
    the vertical part; level : how far from flat
    ground a foot may be and still be on it

    The ground is where one foot bears the body: it is slow while all others are on their way, and its leg
    stretches. A foot that is held up never does that, so it has no floor of its own. Nor has one in the air over the place
    where feet stand on flat ground, as in a jump on the spot: ground has one height at a place.
    """
    lower = heights.argmin(axis=1)[:, None]
    low_heights, speeds, rises = (
        np.take_along_axis(each, lower, axis=1)[:, 0] for each in (heights, motion.speeds, motion.rises)
    )
    places = np.take_along_axis(motion.points, lower[..., None], axis=1)[:, 0, :, :2]
    slow, moving = (speeds <= slowest) & (rises <= most_rise), motion.speeds.min(axis=1) > slowest
    spots, balls = [], motion.points[:, 1, :, :2]
    flat = balls[slow & (np.abs(low_heights) <= level)]
    for foot, stands in enumerate(slow):
        reach = magnitude(motion.points[foot].mean(axis=0) - motion.hips[foot])
        for first, last in runs(stands & np.all(np.delete(moving, foot, axis=0), axis=0)):
            inside = slice(first, last + 1)
            if last - first + 1 >= SPOT_IN_SECONDS * motion.rate:
                place, height = np.median(places[foot, inside], axis=0), np.median(low_heights[foot, inside])
                ball = np.median(balls[foot, inside], axis=0)
                if height > level and magnitude(flat - ball).min(initial=np.inf) < BESIDE:
                    continue
                spots.append((*place, height, last - first + 1, reach[inside].max()))
    known = np.array(spots).reshape(-1, 5)
    known = known[known[:, 4] >= STRETCHED * np.max(known[:, 4], initial=0.0)]
    durations = known[:, 3]
    if durations[np.abs(known[:, 2]) <= level].sum() >= ON_ONE_LEVEL * durations.sum():
        return 0.0
    sums, weights = np.zeros(heights.shape), np.zeros(heights.shape)
    for *place, height in known[:, :3]:
        squares = np.sum((motion.points[..., :2] - place) ** 2, axis=-1) / BESIDE**2
        weight = np.exp(-squares) + FAR / (1.0 + squares) ** 2
        sums, weights = sums + weight * height, weights + weight
    return sums / weights


def standing_points(feet: FeetMotion) -> Mask:
    """`(C, 2, F)` where the lower point of a foot is slow enough to stand."""
    lower = feet.heights <= feet.heights.min(axis=1, keepdims=True)
    return lower & (standing_speeds(feet) <= STANDING * feet.leg_length)


def _low_velocities(feet: FeetMotion) -> Array:
    """Horizontal velocities `(n, 2)` of the lowest point of each window, where that is low enough to stand; none of one frame."""
    velocities = slopes(feet.points, steps_in(WINDOW_IN_SECONDS, feet)) * feet.rate
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

    How near that is follows from themselves: exact values have an exact mean, whatever is far away. Where few are near to
    any, as in stylised steps that speed up and slow down on the ground, it is their median.
    """
    center = middle = np.median(values, axis=0)
    for _ in range(ROUNDS):
        distances = magnitude(values - center)
        near = distances[distances <= SPREAD * np.linalg.norm(center)]
        if not len(near):
            return center
        center = values[distances <= AROUND * np.median(near)].mean(axis=0)
    is_common = np.median(magnitude(values - center)) <= SPREAD / 2.0 * np.linalg.norm(center)
    return center if is_common else middle


def _travel(feet: FeetMotion) -> Array:
    """Mean horizontal velocity `(2,)` of the hips."""
    middle = feet.hips.mean(axis=0)[:, :2]
    return (middle[-1] - middle[0]) * feet.rate / (len(middle) - 1)
