"""What a foot is to do: stand on its pins, and come to them and leave them smoothly. Motion is known between frames as well."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import magnitude, median
from ..contacts.states import ContactState, on_ball, on_heel, runs
from ..rig.rotations import about_axis, to_axis_angle, to_quaternion, unit
from .blends import Ease, eased
from .pins import Foot, Heights, Pins, find_pins

SAMPLES_PER_FRAME = 4
"""The quarters show how far a foot slides between frames."""

FAR_OFF, HARDLY = 4.0, 1.1e-3
"""Times the median distance of a point from its place, and leg lengths, 1 mm of a leg of 0.9 m, beyond which it is on its way:
where a point slides evenly, the farthest one is twice the median."""

FEWEST = 3
"""Frames that a contact of the foot keeps."""

ONE_FRAME = Ease(SAMPLES_PER_FRAME, SAMPLES_PER_FRAME)

LONGEST_WAY = 0.1
"""Seconds in which a foot has come to its place, or has left it: what is off for longer slides there."""


@dataclass(frozen=True, slots=True)
class FootGoals:
    """What a foot is to do at every sample."""

    ankles: Array
    """`(S, 3)` in the ground's space; only meant where `pinned`."""
    turns: Array
    """`(S, 3, 3)` in the ground's space."""
    pinned: Mask
    """`(S,)` where the foot stands."""
    turned: Mask
    """`(S,)` where its orientation is another one."""


@dataclass(frozen=True, slots=True)
class PutDown:
    """The ground on which feet are put down."""

    heights: Heights
    near: float
    """Distance by which a foot that stands still may be off it and still be left as it is."""


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
) -> FootGoals:
    """Where a foot, known at samples `(S,)`, is to be while its heel and ball stand at frames `(F,)`.

    settled : distance, in the units of the ankles, by which a stance may be off its pins and still be left as it is
    down : `None` leaves feet as high as they are on average
    carried : (F,) where the root moves, and would take along a stance that is left as it is
    upright : whether points only go up and down to their pins
    turning : how the correction of a flat foot's orientation comes and goes

    Between two frames a point stands if it does at both.
    """
    whole = slice(None, None, SAMPLES_PER_FRAME)
    at_frames = foot.on(whole)
    on, heights = (on_heel, on_ball), None if down is None else down.heights
    axes = slice(2, 3) if upright else slice(0, 3)
    own = find_pins(at_frames, *on)
    moving = _unsettled(at_frames, own, on_heel | on_ball, settled, axes)
    if down is not None:
        moving |= _unsettled(at_frames, find_pins(at_frames, *on, heights), on_heel | on_ball, max(settled, down.near), axes)
    if carried is not None:
        for first, last in runs(on_heel | on_ball):
            moving[first : last + 1] |= carried[first : last + 1].any()
    is_known = heights is None and np.array_equal(moving, on_heel | on_ball)
    pins = own if is_known else find_pins(at_frames, on_heel & moving, on_ball & moving, heights)
    turns, turned = _turns(foot, pins, turning)
    goals, pinned = foot.ankles.copy(), np.zeros(len(foot.ankles), dtype=bool)
    ways = foot.ways(turns, foot.heel), foot.ways(turns, foot.ball)
    for pin in pins.pins:
        rows = slice(pin.first * SAMPLES_PER_FRAME, pin.last * SAMPLES_PER_FRAME + 1)
        wanted = pin.place - ways[pin.is_ball][rows]
        goals[rows, axes] = wanted[:, axes]
        pinned[rows] = True
    return FootGoals(goals, turns, pinned, turned)


def without_ways(foot: Foot, states: Codes, leg_length: float, rate: float) -> Codes:
    """States `(F,)` without the frames at the edges of contacts at which a point is still, or already, on its way.

    foot : at frames, of which there are `rate` a second

    A point that stands for most of its contact, and is off its place only where that begins or ends, would be dragged there.
    One that rests somewhere else first, as a heel may before the sole is down, is not on its way.
    """
    kept, longest = [on_heel(states), on_ball(states)], math.ceil(LONGEST_WAY * rate)
    for number, points in enumerate((foot.points(foot.heel), foot.points(foot.ball))):
        on, other = kept[number].copy(), kept[1 - number]
        steps = magnitude(np.diff(points, axis=0)) * rate
        for begin, finish in runs(on):
            first, last = begin, finish
            while last > first:
                rests = steps[first:last] <= HARDLY / LONGEST_WAY * leg_length
                away = magnitude(points[first : last + 1] - median(points[first : last + 1]))
                near = away <= max(FAR_OFF * float(median(away)), HARDLY * leg_length)
                near[:-1] |= rests
                near[1:] |= rests
                start, end = first + int(np.argmax(near)), last - int(np.argmax(near[::-1]))
                start = start if start - begin <= longest else first
                end = end if finish - end <= longest else last
                gone = [*range(first, start), *range(end + 1, last + 1)]
                # Where the other point stands, the foot goes on to.
                if not gone or end - start + 1 < (1 if other[gone].all() else FEWEST):
                    break
                on[gone] = False
                first, last = start, end  # What is left is judged again.
        kept[number] = on
    return kept[0] * int(ContactState.HEEL) + kept[1] * int(ContactState.BALL)


def eased_ankles(goals: FootGoals, carried: Array, ease: Ease) -> tuple[Array, Mask]:
    """Ankles `(S, 3)` at all samples, and where they are not left to the leg's own motion, `(S,)`.

    carried : (S, 3) where the leg's own motion has the ankle, the root having moved
    """
    corrections, touched = eased(goals.pinned, goals.ankles - carried, ease)
    return np.where(goals.pinned[:, None], goals.ankles, carried + corrections), touched


def _unsettled(foot: Foot, pins: Pins, standing: Mask, settled: float, axes: slice) -> Mask:
    """Frames `(F,)` of the stances to correct: of those that stand already there is nothing to do."""
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
    """Orientations `(S, 3, 3)`, kept where heel and ball stand and eased to the foot's own, and where they are other ones."""
    turns, flat = foot.turns.copy(), np.zeros(len(foot.turns), dtype=bool)
    for stand in pins.stands:
        rows = slice(stand.first * SAMPLES_PER_FRAME, stand.last * SAMPLES_PER_FRAME + 1)
        turns[rows], flat[rows] = stand.turn, True
    if not flat.any():
        return turns, flat
    angles, axes = to_axis_angle(to_quaternion(turns @ np.swapaxes(foot.turns, -1, -2)))
    corrections, turned = eased(flat, angles[:, None] * axes, ease)
    free = turned & ~flat
    turns[free] = about_axis(unit(corrections[free]), magnitude(corrections[free])) @ foot.turns[free]
    return turns, turned
