"""Velocity and height of the ground, from the motion of the feet.

At every frame of a walk some point of a foot is on the ground, and it is the lowest one. So the ground has the velocity
of most of the lowest points: nearly none in the world, that of the belt on a treadmill or in an in-place cycle. Planted
feet that slide because of bad data have a velocity, too, but unlike on a belt the character travels meanwhile.
"""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude, median
from .feet import WINDOW_IN_SECONDS, FeetMotion, Kinematics, slopes, standing_speeds, steps_in
from .states import runs

LOW_BAND = 0.06
"""Leg lengths over the lowest points of a motion up to which the lowest point of a frame may stand."""
LOWEST_PART = 0.1
"""Quantile of the heights of low points that counts as the lowest: single frames may be wrong."""
SLOWEST_BELT = 0.35
"""Slowest moving ground, in leg lengths per second: a foot that slides at 0.3 m/s is bad data, not on a belt."""
MOST_TRAVEL = 0.25
"""Largest mean speed of the hips, as part of a belt's: a character that walks on a belt stays in place."""
SPREAD, LEAST_AGREEING = 0.4, 0.35
"""Largest difference of a low point's velocity from a belt's, as part of the latter; least part of the low points within it."""
ROUNDS = 12
"""Rounds of moving the common velocity to the mean of those around it."""
AROUND = 2.5
"""Distance from the common velocity within which others count as having it, as a multiple of the usual distance."""
STANDING = 0.5
"""Leg lengths per second up to which a low point counts as standing when the height of the ground is measured."""
UNEVEN, MUCH_MORE, FAR_OFF = 0.005, 2.0, 0.12
"""Signs of a motion made for another ground: median deviation of the heights of standing points over the given ground, in leg
lengths and as a multiple of that over flat ground; or leg lengths between those points and the given ground."""
ON_ONE_LEVEL = 0.7
"""Least part of the time on one foot that is near flat ground in a take without other ground."""
SPOT_IN_SECONDS = 0.06
"""Least time on one foot that measures the height of a spot."""
STRETCHED = 0.85
"""Least reach of a leg that bears the body on a spot, as part of the farthest reach on any spot."""
BESIDE, FAR = 0.2, 1e-4
"""Horizontal distance in leg lengths up to which a spot defines the floor, below a tread; and weight of spots farther away."""


def ground_velocity(feet: FeetMotion) -> Array:
    """Horizontal velocity `(3,)` of the ground under the feet, units per second; 0 unless it certainly moves.

    A single frame gives 0.
    """
    at_rest = np.zeros(3)
    low = _low_velocities(feet)
    if not len(low):
        return at_rest
    common = _common_value(low)
    speed = np.linalg.norm(common)
    travel = np.linalg.norm(_travel(feet))
    agreeing = np.mean(magnitude(low - common) <= SPREAD * speed)
    if speed < SLOWEST_BELT * feet.leg_length or travel > MOST_TRAVEL * speed or agreeing < LEAST_AGREEING:
        return at_rest
    return np.array([*common, 0.0])


def velocity_of_stances(points: Array, stands: Mask, rate: float) -> tuple[Array, float]:
    """Common velocity `(3,)` of `points` `(P, F, 3)` while they stand `(P, F)`, and a point's largest distance from moving so.

    Least squares over all stances, each with its own place; zero if no stance lasts for two frames.
    """
    stances = [point[first : last + 1] for point, on in zip(points, stands, strict=True) for first, last in runs(on)]
    times = np.concatenate([np.zeros(0), *(np.arange(len(stance)) - (len(stance) - 1) / 2.0 for stance in stances)]) / rate
    offsets = np.concatenate([np.zeros((0, 3)), *(stance - stance.mean(axis=0) for stance in stances)])
    squares = times @ times
    velocity = times @ offsets / squares if squares else np.zeros(3)
    return velocity, float(magnitude(offsets - times[:, None] * velocity).max(initial=0.0))


def ground_height(feet: FeetMotion) -> float:
    """Height of flat ground under the feet, from the points that stand; that of the lowest point if none stands."""
    speeds = standing_speeds(feet)
    lowest = feet.heights.min()
    standing = feet.heights[speeds <= STANDING * feet.leg_length]
    if not len(standing):
        return float(lowest)
    low = np.quantile(standing, LOWEST_PART)
    return float(np.median(standing[standing <= low + LOW_BAND / 2.0 * feet.leg_length]))


def is_of_flat_ground(flat: Array, over: Array, leg_length: float) -> bool:
    """Whether a motion was made for flat ground rather than for a surface, from heights `(n,)` of points that stand.

    flat : over any level; over : over the surface, not finite where there is none

    If the surface is flat and as high as the points, both fit alike: then the motion belongs on the surface.
    """
    known = np.isfinite(over)
    if not known.any():
        return False
    spread, flat_spread = (float(np.median(np.abs(heights - np.median(heights)))) for heights in (over[known], flat[known]))
    if abs(float(np.median(over[known]))) > FAR_OFF * leg_length:
        return True
    return spread > UNEVEN * leg_length and spread > MUCH_MORE * flat_spread


def nearer_ground(soles: Array, grounds: Array, apart: Array) -> Array:
    """Heights `(..., 2, F)` of the ground that bears heel and ball, from `grounds` `(..., 2, F)` straight below them.

    soles : (..., 2, F) height of the sole there; apart : (..., F) horizontal distance from heel to ball

    Ground between them steeper than 45 degrees is an edge, as of a step: the foot stands on the side it is nearer to.
    """
    nearer = np.take_along_axis(grounds, np.argmin(np.abs(soles - grounds), axis=-2, keepdims=True), axis=-2)
    known = np.where(np.isfinite(grounds).all(axis=-2, keepdims=True), grounds, 0.0)
    steep = np.ptp(known, axis=-2, keepdims=True) > apart[..., None, :]
    return np.where(steep, nearer, grounds)


def local_floor(motion: Kinematics, heights: Array, slowest: Array, most_rise: Array, level: float) -> Array | float:
    """Height `(C, 2, F)` of stairs, slopes and boxes under each point over the flat ground, leg lengths; 0 on flat ground.

    heights : (C, 2, F) over the flat ground; slowest : (C, F) speeds up to which a foot stands; most_rise : (F,) vertical
    speeds up to which it does; level : distance from flat ground up to which a foot is on it

    Ground is where one foot bears the body: the foot is slow while all others move, and its leg is stretched. A foot that
    is held up never does that, so it gets no floor of its own. Nor does one in the air above a place where feet stand on
    flat ground, as in a jump on the spot: ground has one height at a place.
    """
    lower = heights.argmin(axis=1)[:, None]
    low_heights, speeds, rises = (
        np.take_along_axis(values, lower, axis=1)[:, 0] for values in (heights, motion.speeds, motion.rises)
    )
    slow, moving = (speeds <= slowest) & (rises <= most_rise), motion.speeds.min(axis=1) > slowest
    balls, low_points = motion.points[:, 1, :, :2], np.take_along_axis(motion.points, lower[..., None], axis=1)[:, 0, :, :2]
    spots, flat = [], balls[slow & (np.abs(low_heights) <= level)]
    standing = np.concatenate([low_points, low_heights[..., None], balls], axis=-1)
    for foot, stands in enumerate(slow):
        reach = magnitude(motion.points[foot].mean(axis=0) - motion.hips[foot])
        for first, last in runs(stands & np.all(np.delete(moving, foot, axis=0), axis=0)):
            inside = slice(first, last + 1)
            if last - first + 1 >= SPOT_IN_SECONDS * motion.rate:
                *place, height, ball_x, ball_y = median(standing[foot, inside])
                if height > level and magnitude(flat - [ball_x, ball_y]).min(initial=np.inf) < BESIDE:
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
    """Mask `(C, 2, F)` of the lower point of each foot where it is slow enough to stand."""
    lower = feet.heights <= feet.heights.min(axis=1, keepdims=True)
    return lower & (standing_speeds(feet) <= STANDING * feet.leg_length)


def _low_velocities(feet: FeetMotion) -> Array:
    """Horizontal velocities `(n, 2)` of each window's lowest point if it is low enough to stand; none for a single frame."""
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
    """Value `(k,)` near most of `values` `(n, k)`: their median, moved round by round to the mean of the values around it.

    The distance that counts follows from the values: exact ones have an exact mean, whatever is far away. If few values
    are close together, as in stylised steps that speed up and slow down on the ground, the median is returned.
    """
    center = initial = np.median(values, axis=0)
    for _ in range(ROUNDS):
        distances = magnitude(values - center)
        near = distances[distances <= SPREAD * np.linalg.norm(center)]
        if not len(near):
            return center
        center = values[distances <= AROUND * np.median(near)].mean(axis=0)
    is_common = np.median(magnitude(values - center)) <= SPREAD / 2.0 * np.linalg.norm(center)
    return center if is_common else initial


def _travel(feet: FeetMotion) -> Array:
    """Mean horizontal velocity `(2,)` of the hips."""
    body = feet.hips.mean(axis=0)[:, :2]
    return (body[-1] - body[0]) * feet.rate / (len(body) - 1)
