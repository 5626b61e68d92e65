"""What a foot is to do: stand on its pins, and come to them and leave them smoothly. Motion is known between frames as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Indices, Mask
from ..contacts.runs import runs
from ..rig.rotations import from_quaternion, slerp, to_quaternion
from .blends import eased
from .pins import Foot, Heights, Pins, find_pins

SAMPLES_PER_FRAME = 4
"""At the quarters it is seen how far a foot slides between frames."""


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
    foot: Foot, on_heel: Mask, on_ball: Mask, *, settled: float, down: PutDown | None = None, carried: Mask | None = None
) -> FootGoals:
    """Where a foot, known at samples `(S,)`, is to be while its heel and ball stand at frames `(F,)`.

    settled : distance, in the units of the ankles, by which a stance may be off its pins and still be left as it is
    down : `None` leaves feet as high as they are on average
    carried : (F,) where the root moves, and would take along a stance that is left as it is

    Between two frames a point stands if it does at both.
    """
    whole = slice(None, None, SAMPLES_PER_FRAME)
    at_frames = foot.on(whole)
    on, heights = (on_heel, on_ball), None if down is None else down.heights
    moving = _unsettled(at_frames, find_pins(at_frames, *on), on_heel | on_ball, settled)
    if down is not None:
        moving |= _unsettled(at_frames, find_pins(at_frames, *on, heights), on_heel | on_ball, max(settled, down.near))
    if carried is not None:
        for first, last in runs(on_heel | on_ball):
            moving[first : last + 1] |= carried[first : last + 1].any()
    pins = find_pins(at_frames, on_heel & moving, on_ball & moving, heights)
    turns, turned = _turns(foot, pins)
    goals, pinned = foot.ankles.copy(), np.zeros(len(foot.ankles), dtype=bool)
    ways = foot.ways(turns, foot.heel), foot.ways(turns, foot.ball)
    for pin in pins.pins:
        rows = slice(pin.first * SAMPLES_PER_FRAME, pin.last * SAMPLES_PER_FRAME + 1)
        goals[rows] = pin.place - ways[pin.is_ball][rows]
        pinned[rows] = True
    return FootGoals(goals, turns, pinned, turned)


def eased_ankles(goals: FootGoals, carried: Array, *, ease: int) -> tuple[Array, Mask]:
    """Ankles `(S, 3)` at all samples, and where they are not left to the leg's own motion, `(S,)`.

    carried : (S, 3) where the leg's own motion has the ankle, the root having moved
    ease : frames
    """
    samples = ease * SAMPLES_PER_FRAME
    speeds = _speeds(carried)
    corrections, touched = eased(goals.pinned, goals.ankles - carried, _speeds(goals.ankles, goals.pinned) - speeds, ease=samples)
    return np.where(goals.pinned[:, None], goals.ankles, carried + corrections), touched


def _speeds(places: Array, known: Mask | None = None) -> Array:
    """Change per sample `(S, 3)`, over a frame to either side, or to the side on which places are `known`."""
    step = SAMPLES_PER_FRAME
    rows = np.arange(len(places))
    before, after = np.maximum(rows - step, 0), np.minimum(rows + step, len(places) - 1)
    if known is not None:
        before, after = np.where(known[before], before, rows), np.where(known[after], after, rows)
    return (places[after] - places[before]) / np.maximum(after - before, 1)[:, None]


def _unsettled(foot: Foot, pins: Pins, standing: Mask, settled: float) -> Mask:
    """Frames `(F,)` of the stances that are to be corrected: of those that stand already there is nothing to do."""
    moving = standing.copy()
    points = foot.points(foot.heel), foot.points(foot.ball)
    off = np.zeros(len(moving))
    for pin in pins.pins:
        rows = slice(pin.first, pin.last + 1)
        off[rows] = np.maximum(off[rows], np.abs(points[pin.is_ball][rows] - pin.place).max(axis=1))
    for first, last in runs(moving):
        if off[first : last + 1].max() <= settled:
            moving[first : last + 1] = False
    return moving


def _turns(foot: Foot, pins: Pins) -> tuple[Array, Mask]:
    """Orientations `(S, 3, 3)`: kept where heel and ball stand, and within a frame beside that on the way there."""
    turns, turned = foot.turns.copy(), np.zeros(len(foot.turns), dtype=bool)
    for stand in pins.stands:
        first, last = stand.first * SAMPLES_PER_FRAME, stand.last * SAMPLES_PER_FRAME
        turns[first : last + 1] = stand.turn
        turned[first : last + 1] = True
    for stand in pins.stands:
        first, last = stand.first * SAMPLES_PER_FRAME, stand.last * SAMPLES_PER_FRAME
        for edge, way in ((first, -1), (last, 1)):
            rows = edge + way * np.arange(1, SAMPLES_PER_FRAME)
            rows = rows[(rows >= 0) & (rows < len(turns))]
            if len(rows) and not turned[rows].any():
                _turn_between(turns, foot.turns, rows, edge)
                turned[rows] = True
    return turns, turned


def _turn_between(turns: Array, own: Array, rows: Indices, edge: int) -> None:
    """Let the correction of the orientation at `edge` fade over the samples `rows` to none at the next frame, in place."""
    correction = to_quaternion(turns[edge] @ own[edge].T)
    left = 1.0 - np.abs(rows - edge) / SAMPLES_PER_FRAME
    nothing = np.array([1.0, 0.0, 0.0, 0.0])
    turns[rows] = from_quaternion(slerp(nothing, correction, left)) @ own[rows]
