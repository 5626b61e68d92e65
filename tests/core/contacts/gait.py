"""Walks and runs with known contacts: a flat foot that lands on its heel, lies flat, rolls over its ball and swings.

In stance the heel stands first, then both, then the ball: what stands does not move, and the foot turns about it. In
swing the heel's place and the foot's pitch are cubic curves that begin as the stance ends and land with some speed.
All lengths are in leg lengths until the end.
"""

from dataclasses import dataclass, replace

import numpy as np

FOOT = 0.2
"""From the heel to the ball."""
LANDED, TAKEN_OFF = 0.35, -1.0
"""Pitch at the first and at the last moment of the stance, radians."""


@dataclass(frozen=True)
class Gait:
    cycle: float
    """Seconds from landing to landing of one foot."""
    duty: float
    """Part of the cycle in which it stands."""
    stride: float
    """Leg lengths from landing to landing."""
    lift: float
    """Of the heel in swing, leg lengths."""
    heel_until: float
    """Part of the stance after which the ball stands as well."""
    ball_from: float
    """Part of the stance after which the heel does not stand any more."""

    @property
    def speed(self):
        return self.stride / self.cycle


WALK = Gait(cycle=1.1, duty=0.62, stride=1.5, lift=0.15, heel_until=0.15, ball_from=0.6)
RUN = Gait(cycle=0.72, duty=0.34, stride=2.8, lift=0.5, heel_until=0.12, ball_from=0.45)


@dataclass(frozen=True)
class Feet:
    """Points `(2, 2, F, 3)` of the left and right foot, heel and ball; hips `(2, F, 3)`; which points stand `(2, 2, F)`."""

    points: np.ndarray
    hips: np.ndarray
    stands: np.ndarray
    leg_length: float
    rate: float

    @property
    def states(self):
        return self.stands[:, 0] + 2 * self.stands[:, 1]


def feet_of(gait, *, rate, seconds=5.0, leg_length=0.9, halted=(0.0, 0.0)):
    """Both feet of a character that walks along Y, and is `halted` from a time on for so many seconds."""
    times = np.arange(round(seconds * rate) + 1) / rate
    times -= np.clip(times - halted[0], 0.0, halted[1])
    sides = [foot(gait, times, phase, side) for phase, side in ((0.2, 0.1), (0.7, -0.1))]
    hips = [hip(gait, times, side) for side in (0.1, -0.1)]
    points = np.array([points for points, _ in sides]) * leg_length
    return Feet(points, np.array(hips) * leg_length, np.array([stands for _, stands in sides]), leg_length, rate)


def hip(gait, times, side):
    bob = 0.92 + 0.02 * np.cos(4 * np.pi * times / gait.cycle)
    return np.stack([np.full_like(times, side), gait.speed * times, bob], axis=-1)


def foot(gait, times, phase, side):
    """Points `(2, F, 3)` of one foot, and which of them stand `(2, F)`."""
    turns = times / gait.cycle + phase
    step, part = np.floor(turns), turns % 1.0
    stance = part / gait.duty
    at = (step - phase) * gait.stride + 0.1
    pitch, heel = standing(stance, gait)
    swing = np.clip((part - gait.duty) / (1 - gait.duty), 0.0, 1.0)
    flying = part >= gait.duty
    flown_pitch, flown_heel = flying_foot(swing, gait)
    pitch = np.where(flying, flown_pitch, pitch)
    heel = np.where(flying[:, None], flown_heel, heel) + np.stack([at, np.zeros_like(at)], axis=-1)
    ball = heel + FOOT * np.stack([np.cos(pitch), np.sin(pitch)], axis=-1)
    stands = np.array([stance < gait.ball_from, (stance >= gait.heel_until) & ~flying])
    return np.array([np.insert(point, 0, side, axis=-1) for point in (heel, ball)]), stands & ~flying


def standing(stance, gait):
    """Pitch `(F,)` and place of the heel `(F, 2)` where the foot stands."""
    landing = LANDED * (1 - np.clip(stance / gait.heel_until, 0, 1))
    rolling = TAKEN_OFF * np.clip((stance - gait.ball_from) / (1 - gait.ball_from), 0, 1) ** 2
    pitch = landing + rolling
    heel = np.stack([FOOT * (1 - np.cos(rolling)), -FOOT * np.sin(rolling)], axis=-1)
    return pitch, heel


def flying_foot(swing, gait):
    """The same where it swings: from where the stance ends to the next landing."""
    seconds, (last_pitch, last_heel) = (1 - gait.duty) * gait.cycle, standing(np.array([1 - 1e-6, 1.0]), gait)
    step = 1e-6 * gait.duty * gait.cycle
    spin, push = (last_pitch[1] - last_pitch[0]) / step, (last_heel[1] - last_heel[0]) / step
    landing = np.array([0.25 * gait.stride / seconds, -0.2])
    pitch = hermite(swing, TAKEN_OFF, spin * seconds, LANDED, -1.0 * seconds)
    heel = hermite(swing[:, None], last_heel[1], push * seconds, np.array([gait.stride, 0.0]), landing * seconds)
    heel[:, 1] += gait.lift * (4 * swing * (1 - swing)) ** 2
    return pitch, heel


def hermite(part, start, start_slope, end, end_slope):
    """Cubic from `start` to `end` with these slopes."""
    return (
        (2 * part**3 - 3 * part**2 + 1) * start
        + (part**3 - 2 * part**2 + part) * start_slope
        + (3 * part**2 - 2 * part**3) * end
        + (part**3 - part**2) * end_slope
    )


def on_belt(feet, velocity):
    """The same as it is seen beside a belt that runs at `velocity` `(3,)`."""
    away = np.arange(feet.points.shape[-2])[:, None] / feet.rate * np.asarray(velocity)
    return replace(feet, points=feet.points + away, hips=feet.hips + away)


def noisy(feet, rng, *, meters=0.002):
    return replace(feet, points=feet.points + rng.normal(0.0, meters, feet.points.shape))


def sliding(feet, rng, speeds):
    """Standing feet slide with one of the `speeds` and come back while they swing."""
    return _displaced(feet, lambda count: np.arange(count)[:, None] / feet.rate * _heading(rng, rng.choice(speeds)))


def floating(feet, rng, heights):
    return _displaced(feet, lambda count: np.full((count, 1), rng.choice(heights)) * [0.0, 0.0, 1.0])


def _heading(rng, size):
    angle = rng.uniform(0, 2 * np.pi)
    return size * np.array([np.cos(angle), np.sin(angle), 0.0])


def _displaced(feet, of_contact):
    points, count = feet.points.copy(), feet.points.shape[-2]
    for number, states in enumerate(feet.states):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], states > 0, [0]])))
        at, moved = [], []
        for first, end in edges.reshape(-1, 2):
            at.append(np.arange(first, end))
            moved.append(of_contact(end - first))
        at, moved = np.concatenate(at), np.concatenate(moved)
        points[number] += np.stack([np.interp(np.arange(count), at, moved[:, axis]) for axis in range(3)], axis=-1)
    return replace(feet, points=points)


def with_shorter_legs(feet, part):
    """As on a character whose legs are shorter by that part, with the same rotations; its hips get along as before."""
    return replace(feet, points=feet.hips[:, None] + (feet.points - feet.hips[:, None]) * (1 - part))
