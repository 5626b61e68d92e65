"""What is wrong with a clip, as numbers: skating, floating, popping, seams. NumPy only.

Lengths and speeds are in the units of what is given, times in seconds. What happens between two frames depends on the rate
of a clip, so differences over time are those over a thirtieth of a second, at which most clips are made and watched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import cross, dot, magnitude
from ..contacts.feet import NOISE_STEP, noise_of
from ..contacts.states import on_ball, on_heel, runs

STEP = 1.0 / 30.0
"""Seconds of differences over time."""
HUMAN_LEG, HUMAN_LEGS = 0.9, (0.5, 1.4)
"""Metres of a leg where units tell none, and of legs whose units are metres."""
TOE_LOW, TOE_FAST = 0.05, 0.2
STANDS_LOW, STANDS_SLOW = 0.10, 0.15
"""Metres, and metres a second: the thresholds of Kimodo's `foot_skate_from_height`, `foot_skate_ratio` and
`foot_contact_consistency`."""
STRETCHED = 1e-3
"""Part of a limb's length within which it is at full stretch: a bend of 5 degrees of two equal links."""
FLAT_SHARE, FLAT_LEVEL = 0.7, 0.08
"""Part of the time on the ground that feet are within that part of the leg of the floor, where that is flat."""
STANDING_LEAST = 0.1
"""Seconds of a contact that is long enough to tell a slide."""


def metre(leg_length: float, units_per_metre: float = 1.0) -> float:
    """What a metre is in units: the scene's own where legs have a human's length in it, else by a leg of 0.9 m."""
    is_human = HUMAN_LEGS[0] <= leg_length / units_per_metre <= HUMAN_LEGS[1]
    return units_per_metre if is_human else leg_length / HUMAN_LEG


def pops(values: Array, rate: float) -> Array:
    """Sizes `(F,)` of the second differences of `values` `(F, k)` over a thirtieth of a second; 0 where there are none.

    Central differences, those of another step scaled to it as an acceleration is. What moves evenly has none, whatever its
    speed; what jumps by a step for a single frame has twice that.
    """
    step = max(1, round(rate * STEP))
    found = np.zeros(len(values))
    if len(values) > 2 * step:
        second = values[2 * step :] - 2.0 * values[step:-step] + values[: -2 * step]
        found[step:-step] = magnitude(second) * (STEP * rate / step) ** 2
    return found


def signed_bends(joints: Array, turns: Array) -> Array:
    """Bends `(F,)` of limbs with `joints` `(F, 3, 3)`, radians about the hinge: positive to the side to which it bends mostly.

    turns : (F, 3, 3) of the upper bone. The hinge is fixed to that, perpendicular to the plane in which both links are, by the
    mean over the clip of their cross product, so neither the rest pose nor names tell it. 0 is straight.
    """
    links = np.diff(joints, axis=1)
    first, second = (links[:, each] / np.maximum(magnitude(links[:, each]), 1e-30)[:, None] for each in (0, 1))
    area = cross(first, second)
    hinge = np.einsum("fji,fj->i", turns, area)
    size = float(np.linalg.norm(hinge))
    if size <= 1e-9 * len(joints):  # It never bends.
        return np.arctan2(magnitude(area), dot(first, second))
    axes = turns @ (hinge / size)
    return np.arctan2(dot(area, axes), dot(first, second) - dot(first, axes) * dot(second, axes))


def is_stretched(joints: Array) -> Mask:
    """Where `(F,)` limbs with `joints` `(F, 3, 3)` are straight, within a thousandth of their length."""
    reach = magnitude(joints[:, 2] - joints[:, 0])
    return reach >= (1.0 - STRETCHED) * magnitude(np.diff(joints, axis=1)).sum(axis=1)


def jitter(places: Array, rate: float) -> float:
    """Standard deviation of a component of the noise on `places` `(P, F, 3)`.

    From fourth differences over 0.035 s, their fifth smallest part, which only noise has; see `contacts.feet.noise_of`.
    """
    return noise_of(places, max(1, round(NOISE_STEP * rate)))


def loop_gaps(places: Array, rate: float) -> tuple[float, float]:
    """Farthest that one of `places` `(P, F, 3)` is at the last frame from where it is at the first; and of its velocities.

    Of velocities in units a second. A cycle ends in the pose in which it begins: its last frame is the first one again.
    """
    if places.shape[1] == 1:
        return 0.0, 0.0
    speeds = (places[:, -1] - places[:, -2] - places[:, 1] + places[:, 0]) * rate
    return float(magnitude(places[:, -1] - places[:, 0]).max()), float(magnitude(speeds).max())


@dataclass(frozen=True, slots=True)
class Skating:
    """The foot metrics of Kimodo (NVIDIA, 2026, technical report, section 6.1), from the same definitions.

    Speeds are lengths of the differences between two frames, in space, metres a second. Toes are the balls of the feet; heels
    are below the ankles, on the sole. Heights are those of joints over the ground, which the paper takes for height 0.
    """

    foot_skate_from_height: float
    """Mean speed of toes at frames at which they are lower than 5 cm; 0 without such frames."""
    foot_skate_from_contacts: float
    """Mean speed of heels and toes at frames at which a contact has them on the ground (`foot_skate_from_pred_contacts`)."""
    foot_skate_max_speed: float
    """The largest of those speeds (`foot_skate_max_vel`)."""
    foot_skate_ratio: float
    """Share of the frames at which toes are lower than 5 cm now and at the next frame that have more than 0.2 m/s."""
    foot_contact_consistency: float
    """Share of frames, of heels and toes, at which contacts agree with what is slower than 0.15 m/s and lower than 10 cm."""


def kimodo_skating(places: Array, heights: Array, states: Codes, size: float, rate: float) -> Skating:
    """The metrics of feet with heels and balls at `places` `(C, 2, F, 3)`, as seen from the ground.

    heights : (C, 2, F) of the joints over the ground; states : (C, F) contacts; size : of a metre, in units
    """
    if places.shape[2] == 1:
        return Skating(0.0, 0.0, 0.0, 0.0, 1.0)
    speeds = magnitude(np.diff(places, axis=2)) * (rate / size)
    low, toes = heights[:, 1] < TOE_LOW * size, speeds[:, 1]
    stands = np.stack([on_heel(states), on_ball(states)], axis=1)
    seen = np.concatenate([speeds, speeds[..., -1:]], axis=2)
    consistent = stands == ((seen < STANDS_SLOW) & (heights < STANDS_LOW * size))
    on = speeds[stands[..., :-1]]
    return Skating(
        foot_skate_from_height=_mean(toes[low[:, :-1]]),
        foot_skate_from_contacts=_mean(on),
        foot_skate_max_speed=float(on.max(initial=0.0)),
        foot_skate_ratio=_mean(toes[low[:, :-1] & low[:, 1:]] > TOE_FAST),
        foot_contact_consistency=float(consistent.mean()),
    )


def _mean(values: Array | Mask) -> float:
    return float(values.mean()) if len(values) else 0.0


@dataclass(frozen=True, slots=True)
class Stance:
    """One time of a foot on the ground, measured."""

    first: int
    last: int
    """Indices of frames."""
    slide: float
    """How far a standing point slides along the ground, see `stances_of`."""
    height: float
    """Of the sole's lowest point over the floor, for three quarters of the time at least; negative below it."""


def stances_of(places: Array, heights: Array, states: Codes, rate: float) -> list[Stance]:
    """The times of a tenth of a second and more for which one foot stands, whichever of its points.

    places : (2, F, 3) of heel and ball as seen from the ground; heights : (2, F) of the sole there; states : (F,)

    A slide is how far the mean place of a point in the last third of the time it stands is from that in the first third, so
    neither noise nor the frames of landing and lifting count. That of the point which slides less is told: a foot that
    rolls turns about the other one.
    """
    found, least = [], max(3, round(STANDING_LEAST * rate))
    for first, last in runs(states > 0):
        inside, slides = slice(first, last + 1), []
        for place, on in zip(places, (on_heel(states), on_ball(states)), strict=True):
            way = place[inside, :2][on[inside]]
            if len(way) >= least:
                third = len(way) // 3
                slides.append(float(np.linalg.norm(way[-third:].mean(axis=0) - way[:third].mean(axis=0))))
        if slides:
            found.append(Stance(first, last, min(slides), float(np.quantile(heights[:, inside].min(axis=0), 0.25))))
    return found


def is_flat(stances: list[Stance], leg_length: float) -> bool:
    """Whether feet stand on one level most of the time they stand; on stairs no floor tells how high a foot should be."""
    times, levels = np.array([(each.last - each.first + 1, each.height) for each in stances]).reshape(-1, 2).T
    level = np.median(levels) if len(levels) else 0.0
    return bool(times[np.abs(levels - level) <= FLAT_LEVEL * leg_length].sum() >= FLAT_SHARE * times.sum())
