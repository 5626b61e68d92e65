"""Measurements of the feet before and after planting, on the motion as Blender evaluates it, at frames and quarter frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array, Codes, Mask
from ....core.arrays import every_row, magnitude
from ....core.contacts.states import on_ball, on_heel, runs
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.ground import Ground
from ....pipeline.motion.plan_motion import points
from ....scene.sampling.quantities import Quantity, Samples
from ..plan.planning import LegPlan, PlantingPlan

SKATING_SPEED = 0.5
"""Metres per second; a standing point that is faster skates."""

LOW = 0.05
"""Height above the ground, relative to leg length, from which a point is in the air and does not skate."""


@dataclass(frozen=True, slots=True)
class Track:
    """The evaluated motion of one leg in world space."""

    frames: Array
    """`(M,)` frames and subframes."""
    heels: Array
    """`(M, 3)` positions."""
    balls: Array
    """`(M, 3)` positions."""
    joints: Array
    """`(M, 3, 3)` positions of hip, knee and ankle."""

    def at(self, frames: Array) -> Track:
        """The track at some of its frames."""
        rows = np.searchsorted(self.frames, frames)
        return Track(frames, self.heels[rows], self.balls[rows], self.joints[rows])


def on_ground(leg_track: Track, ground: Ground) -> Track:
    """Transform heels and balls to ground space; `ground` has a sample for each frame of the track."""
    return Track(leg_track.frames, ground.into(leg_track.heels), ground.into(leg_track.balls), leg_track.joints)


def foot_pose(leg: LegPlan) -> Quantity:
    """The pose quantity of the bone that carries heel and ball."""
    return leg.plan.end_pose or leg.plan.poses[-1]


def proof_quantities(plan: PlantingPlan) -> list[Quantity]:
    """The quantities to sample for the tracks of all legs."""
    quantities = []
    for leg in plan.legs:
        carriers = [leg.plan.pose(index) for index in (*leg.plan.rest.turning, len(leg.plan.rest.bones) - 1)]
        quantities += [leg.plan.armature_world, foot_pose(leg), *carriers]
    return list(dict.fromkeys(quantities))


def proof_frames(plan: PlantingPlan, states: list[Codes]) -> Array:
    """All frames, and the quarter frames during which a foot stands."""
    wanted = np.zeros(len(plan.samples), dtype=bool)
    wanted[::SAMPLES_PER_FRAME] = True
    for each in states:
        for first, last in runs(each > 0):
            wanted[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME] = True
    return plan.samples[wanted]


def track(leg: LegPlan, samples: Samples) -> Track:
    """The track of one leg at the frames of the samples."""
    count, plan = len(samples.frames), leg.plan
    world = samples[plan.armature_world]
    foot = samples[foot_pose(leg)]
    last = samples[plan.poses[-1]]
    places = [*(samples[plan.pose(index)][:, :3, 3] for index in plan.rest.turning), points(last, plan.rest.tip)]
    joints = np.stack([every_row(points(world, place), count) for place in places], axis=1)
    heels, balls = (every_row(points(world, points(foot, offset)), count) for offset in (leg.points.heel, leg.points.ball))
    return Track(samples.frames, heels, balls, joints)


def knee_acceleration(leg_track: Track, frames_per_second: float) -> Array:
    """Angular acceleration of the knee `(F - 2,)` in radians per second squared, for a track at every frame."""
    upper, lower = leg_track.joints[:, 1] - leg_track.joints[:, 0], leg_track.joints[:, 2] - leg_track.joints[:, 1]
    angles = np.arctan2(magnitude(np.cross(upper, lower)), np.sum(upper * lower, axis=-1))
    return np.diff(angles, 2) * frames_per_second**2


def slides(leg_track: Track, frames: tuple[float, float], place: Array, *, is_ball: bool) -> tuple[float, float]:
    """Largest distances of a point from its pin `place` `(3,)`: at the frames of a contact, and at all its sampled subframes."""
    rows = slice(np.searchsorted(leg_track.frames, frames[0]), np.searchsorted(leg_track.frames, frames[1], side="right"))
    away = magnitude((leg_track.balls if is_ball else leg_track.heels)[rows] - place)
    whole = leg_track.frames[rows] % 1.0 == frames[0] % 1.0
    return float(away[whole].max(initial=0.0)), float(away.max(initial=0.0))


def skating(
    leg_track: Track, over: tuple[Array, Array], states: Codes, *, low: float, fast: float, frames_per_second: float
) -> float:
    """Share of the frames on the ground at which a standing point is lower than `low` and faster than `fast`, in world units.

    over : (F,) heights of the heel and of the ball above the ground
    """
    stands = np.zeros(len(states), dtype=bool)
    skates = np.zeros(len(states), dtype=bool)
    for places, heights, on in zip((leg_track.heels, leg_track.balls), over, (on_heel(states), on_ball(states)), strict=True):
        stands |= on
        speeds = magnitude(np.diff(places, axis=0)) * frames_per_second
        stays = on[:-1] & on[1:]
        skates[:-1] |= stays & (speeds > fast) & (heights[:-1] < low)
    return float(np.count_nonzero(skates)) / max(1, int(np.count_nonzero(stands)))


def penetration(heels: Array, balls: Array) -> float:
    """Largest depth of the sole below the ground, from its heights `(F,)` above the ground under heel and under ball."""
    return max(0.0, float(-heels.min()), float(-balls.min()))


def standing(states: Codes) -> Mask:
    """Mask `(F,)` of the frames at which heel or ball is on the ground."""
    return on_heel(states) | on_ball(states)
