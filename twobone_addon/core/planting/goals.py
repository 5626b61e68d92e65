"""Goals of a foot: stand on its pins, and reach and leave them smoothly. Motion is sampled between frames as well."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import magnitude, median
from ..contacts.feet import smoothed
from ..contacts.states import ContactState, on_ball, on_heel, runs
from ..rig.rotations import about_axis, to_axis_angle, to_quaternion, unit
from .blends import Ease, eased
from .pins import Foot, FootContacts, Heights, Pins, Resting, find_pins

SAMPLES_PER_FRAME = 4
"""Quarter frames show how far a foot slides between frames."""

TRANSIT_RATIO, TRANSIT_DISTANCE = 4.0, 1.1e-3
"""Distance of a point from its median place above which it is in transit: multiple of the median distance, but at least this
many leg lengths (1 mm of a leg of 0.9 m). In a steady slide the largest distance is twice the median."""

FEWEST_FRAMES = 3
"""Fewest frames that trimming leaves of a contact."""

ONE_FRAME = Ease(SAMPLES_PER_FRAME, SAMPLES_PER_FRAME)

TO_AND_FRO, TREMBLES = 2.0, 0.06
"""Way of a foot as a multiple of the width of its path from which it comes back to where it was; and seconds over which the path
is smoothed for that, since trembling is no way."""

LONGEST_TRANSIT = 0.1
"""Longest time in seconds that a foot takes to reach or leave its place; a point that is off for longer slides there."""


@dataclass(frozen=True, slots=True)
class FootGoals:
    """Goals of a foot at every sample."""

    ankles: Array
    """`(S, 3)` ankle positions in the ground's space; valid only where `pinned`."""
    turns: Array
    """`(S, 3, 3)` foot orientations in the ground's space."""
    pinned: Mask
    """`(S,)` where the foot stands."""
    turned: Mask
    """`(S,)` where its orientation differs from the animated one."""


@dataclass(frozen=True, slots=True)
class PutDown:
    """Ground onto which feet are placed."""

    heights: Heights
    near: float
    """Distance from the ground up to which a foot that stands still is left unchanged."""


def foot_goals(
    foot: Foot,
    on_heel: Mask,
    on_ball: Mask,
    *,
    settled: float,
    down: PutDown | None = None,
    carried: Mask | None = None,
    upright: bool = False,
    turning: Ease = ONE_FRAME,
    resting: Resting | None = None,
) -> FootGoals:
    """Goals of a foot, sampled at `(S,)`, whose heel and ball stand at frames `(F,)`.

    settled : distance from its pins, in the units of the ankles, up to which a stance is left unchanged
    down : ground to place the feet on; `None` keeps their average heights
    carried : (F,) where the root moves, and would carry along a stance that is left unchanged
    upright : whether points move to their pins vertically only
    turning : ease of the correction to a flat foot's orientation
    resting : when a foot rests, see `find_pins`

    Between two frames a point stands if it stands at both.
    """
    whole = slice(None, None, SAMPLES_PER_FRAME)
    at_frames = foot.on(whole)
    heights = None if down is None else down.heights
    axes = slice(2, 3) if upright else slice(0, 3)
    contacts = FootContacts.of(at_frames, on_heel, on_ball, resting)
    whole_pins = contacts.pins()
    moving = _unsettled(at_frames, whole_pins, on_heel | on_ball, settled, axes)
    if down is not None:
        whole_pins = contacts.pins_on(down.heights)
        moving |= _unsettled(at_frames, whole_pins, on_heel | on_ball, max(settled, down.near), axes)
    if carried is not None:
        for first, last in runs(on_heel | on_ball):
            moving[first : last + 1] |= carried[first : last + 1].any()
    # If all stances move their pins are known; else those that are left alone get none.
    is_known = np.array_equal(moving, on_heel | on_ball)
    pins = whole_pins if is_known else find_pins(at_frames, on_heel & moving, on_ball & moving, heights, resting)
    turns, turned = _turns(foot, pins, turning)
    goals, pinned = foot.ankles.copy(), np.zeros(len(foot.ankles), dtype=bool)
    from_ankle = foot.ways(turns, foot.heel), foot.ways(turns, foot.ball)
    for pin in pins.pins:
        rows = slice(pin.first * SAMPLES_PER_FRAME, pin.last * SAMPLES_PER_FRAME + 1)
        goals[rows, axes] = (pin.place - from_ankle[pin.is_ball][rows])[:, axes]
        pinned[rows] = True
    return FootGoals(goals, turns, pinned, turned)


def without_ways(foot: Foot, states: Codes, leg_length: float, rate: float) -> Codes:
    """States `(F,)` without the frames at the edges of contacts at which a point is still arriving or already leaving.

    foot : at frames, `rate` per second

    A point that stands for most of its contact, and is off its place only at the beginning or the end, would be dragged there.
    A point that first rests somewhere else, as a heel may before the sole is down, is not arriving.
    """
    kept, longest = [on_heel(states), on_ball(states)], math.ceil(LONGEST_TRANSIT * rate)
    for number, points in enumerate((foot.points(foot.heel), foot.points(foot.ball))):
        on, other = kept[number].copy(), kept[1 - number]
        steps = magnitude(np.diff(points, axis=0)) * rate
        for begin, finish in runs(on):
            first, last = begin, finish
            while last > first:
                rests = steps[first:last] <= TRANSIT_DISTANCE / LONGEST_TRANSIT * leg_length
                away = magnitude(points[first : last + 1] - median(points[first : last + 1]))
                near = away <= max(TRANSIT_RATIO * float(median(away)), TRANSIT_DISTANCE * leg_length)
                near[:-1] |= rests
                near[1:] |= rests
                start, end = first + int(np.argmax(near)), last - int(np.argmax(near[::-1]))
                start = start if start - begin <= longest else first
                end = end if finish - end <= longest else last
                trimmed = [*range(first, start), *range(end + 1, last + 1)]
                # Where the other point stands on all trimmed frames, the foot keeps its contact, so a single frame may remain.
                if not trimmed or end - start + 1 < (1 if other[trimmed].all() else FEWEST_FRAMES):
                    break
                on[trimmed] = False
                first, last = start, end  # Judge the remaining frames again.
        kept[number] = on
    return kept[0] * int(ContactState.HEEL) + kept[1] * int(ContactState.BALL)


def goes_to_and_fro(path: Array, rate: float) -> bool:
    """Whether a point on its `path` `(F, 3)`, at `rate` frames per second, goes to and fro in plan, rather than on or about."""
    calm = smoothed(path[:, :2].T, round(TREMBLES / 2.0 * rate))
    return float(magnitude(np.diff(calm).T).sum()) > TO_AND_FRO * float(magnitude(np.ptp(calm, axis=1)))


def eased_ankles(goals: FootGoals, carried: Array, ease: Ease) -> tuple[Array, Mask]:
    """Ankles `(S, 3)` at all samples, and a mask `(S,)` of the samples at which they are pinned or part of an ease.

    carried : (S, 3) ankles of the leg's own motion after the root has moved
    """
    corrections, touched = eased(goals.pinned, goals.ankles - carried, ease)
    return np.where(goals.pinned[:, None], goals.ankles, carried + corrections), touched


def _unsettled(foot: Foot, pins: Pins, standing: Mask, settled: float, axes: slice) -> Mask:
    """Frames `(F,)` of the stances that are farther than `settled` from their pins along `axes`."""
    moving = standing.copy()
    points = foot.points(foot.heel), foot.points(foot.ball)
    off = np.zeros(len(moving))
    for pin in pins.pins:
        rows = slice(pin.first, pin.last + 1)
        off[rows] = np.maximum(off[rows], np.abs(points[pin.is_ball][rows] - pin.place)[:, axes].max(axis=1))
    for first, last in runs(moving):
        if off[first : last + 1].max() <= settled:
            moving[first : last + 1] = False
    return moving


def _turns(foot: Foot, pins: Pins, ease: Ease) -> tuple[Array, Mask]:
    """Orientations `(S, 3, 3)`, constant while heel and ball stand and eased to the foot's own, and where they differ from it."""
    turns, flat = foot.turns.copy(), np.zeros(len(foot.turns), dtype=bool)
    for stand in pins.stands:
        rows = slice(stand.first * SAMPLES_PER_FRAME, stand.last * SAMPLES_PER_FRAME + 1)
        turns[rows], flat[rows] = stand.turn, True
    if not flat.any():
        return turns, flat
    angles, axes = to_axis_angle(to_quaternion(turns[flat] @ np.swapaxes(foot.turns[flat], -1, -2)))
    # As rotation vectors the corrections ease like moves.
    known = np.zeros((len(flat), 3))
    known[flat] = angles[:, None] * axes
    corrections, turned = eased(flat, known, ease)
    free = turned & ~flat
    turns[free] = about_axis(unit(corrections[free]), magnitude(corrections[free])) @ foot.turns[free]
    return turns, turned
