"""When a point of a foot counts as standing, in units and frames; what is not given follows from the motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .feet import FeetMotion
from .speeds import WINDOW_IN_SECONDS, slopes, standing_speeds, window_frames

ENTER_SPEED = 0.1
"""Of the fastest speed of the feet: a foot swings ten times faster than it may still move when it lands."""
LEAST_ENTER_SPEED, MOST_ENTER_SPEED = 0.4, 1.6
"""Leg lengths a second: more than the slide of bad data, less than what an eye takes for standing."""
SLOW_PART, SLOWEST_ENTER_SPEED = 0.2, 0.1
"""In slow motion the least is that part of the fastest speed, but no less than so many leg lengths a second."""
QUIET_PART, UNQUIET = 0.5, 4.0
"""Where standing feet hardly move, that part of it does; and that many times the speed with which they move."""
LEAVE = 1.25
"""Of the speed and the height at which a contact begins surely, those at which it ends."""
ENTER_HEIGHT = 0.06
"""Leg lengths over the ground: floating, soft ground and bent soles are lower, a raised foot is higher."""
LIFT = 0.012
"""Leg lengths, 1 cm of a leg, by which the heel is up, or the ball, of a foot that does not lie flat any more."""
LEAST_IN_SECONDS = 0.06
"""The shortest contacts of a sprint take 0.08 s."""
GAP_IN_SECONDS = 0.06
"""No foot leaves the ground and comes back in less."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of one search; 0 stands for what follows from the motion."""

    enter_speed: float = 0.0
    """Units a second, relative to the ground, below which a point stands surely."""
    leave_speed: float = 0.0
    """Units a second up to which it goes on standing, before and after."""
    enter_height: float = 0.0
    """Units over the ground below which a point stands surely."""
    leave_height: float = 0.0
    """Units up to which it goes on standing."""
    lift: float = 0.0
    """Units by which the heel or the ball of a standing foot is up when it does not stand any more itself."""
    least_length: float = 0.0
    """Frames; shorter contacts of a foot are none."""
    longest_gap: float = 0.0
    """Frames; shorter gaps in a contact are bridged."""


def completed(given: Thresholds, feet: FeetMotion) -> Thresholds:
    """Thresholds in which nothing is 0, for feet seen from their ground."""
    length = feet.leg_length
    enter_speed = given.enter_speed or _enter_speed(feet)
    enter_height = given.enter_height or ENTER_HEIGHT * length
    return Thresholds(
        enter_speed=enter_speed,
        leave_speed=max(enter_speed, given.leave_speed or LEAVE * enter_speed),
        enter_height=enter_height,
        leave_height=max(enter_height, given.leave_height or LEAVE * enter_height),
        lift=given.lift or LIFT * length,
        least_length=given.least_length or LEAST_IN_SECONDS * feet.rate,
        longest_gap=given.longest_gap or GAP_IN_SECONDS * feet.rate,
    )


def _enter_speed(feet: FeetMotion) -> float:
    """Of a foot that stands as quietly as those of this motion do."""
    fastest, length = _fastest(feet), feet.leg_length
    least = max(SLOWEST_ENTER_SPEED * length, min(LEAST_ENTER_SPEED * length, SLOW_PART * fastest))
    loosest = float(np.clip(ENTER_SPEED * _sharpness(feet.rate) * fastest, least, MOST_ENTER_SPEED * length))
    speeds = standing_speeds(feet.points, feet.rate)
    standing = speeds[speeds <= loosest]
    quiet = float(np.median(standing)) if len(standing) else loosest
    return float(np.clip(QUIET_PART * loosest + UNQUIET * quiet, least, loosest))


def _fastest(feet: FeetMotion) -> float:
    velocities = slopes(feet.points, feet.rate)
    return float(np.linalg.norm(velocities, axis=-1).max(initial=0.0))


def _sharpness(rate: float) -> float:
    """How much less a speed may be that is told from frames far apart: most of it may be over before the foot lands."""
    return min(1.0, WINDOW_IN_SECONDS * rate / window_frames(rate)) ** 0.5
