"""Feet animated on flat ground, placed on uneven ground: its slope under each stance, and how far the feet rise or sink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import replace
from ..array_types import Array, Mask
from ..arrays import smooth_step
from ..contacts.states import runs
from ..rig.rotations import least_turn, unit
from .goals import SAMPLES_PER_FRAME
from .ground import Surface
from .pins import Foot, find_pins
from .root_fit import smooth_moves

UP = np.array([0.0, 0.0, 1.0])

LEAST_HORIZONTAL = 1e-3
"""Horizontal distance of heel and ball, relative to their distance, up to which a foot has no horizontal direction."""


@dataclass(frozen=True, slots=True)
class StanceGround:
    """The ground under a foot from frame row `first` to `last`, both included."""

    first: int
    last: int
    gradient: Array
    """`(2,)` rise of the ground per unit along X and Y, limited to the largest tilt of the foot."""
    support: Array | None
    """`(3,)` ground point below heel or ball that the sole passes through where the ground is steeper than that, else `None`."""

    def height(self, place: Array) -> float | None:
        """Height of the sole at a place `(3,)`; `None` where it is that of the ground."""
        if self.support is None:
            return None
        return float(self.support[2] + (place - self.support)[:2] @ self.gradient)


@dataclass(frozen=True, slots=True)
class LaidFoot:
    """A foot with the ground under its stances, tilted to match it or not yet."""

    foot: Foot
    """The foot at every sample."""
    tilted: Mask
    """`(S,)` where it has been tilted."""
    stances: list[StanceGround]
    surface: Surface
    ball_height: float
    """Height of the ball above the sole."""

    def height(self, place: Array, is_ball: bool, row: int) -> float:  # noqa: FBT001 - a `Heights`
        """Height of the heel or ball that stands at a place `(3,)` from frame `row` on."""
        stance = next((ground for ground in self.stances if ground.first <= row <= ground.last), None)
        sole = None if stance is None else stance.height(place)
        height = float(self.surface(place[None])[0][0]) if sole is None else sole
        if not is_ball:
            return height
        rise = 0.0 if stance is None else float(stance.gradient @ stance.gradient)
        # The mean of a vertical offset and one along the normal: a sole is no rigid plank, and its heel is on the ground as well.
        return height + self.ball_height * 0.5 * (1.0 + np.sqrt(1.0 + rise))

    def rises(self, on_heel: Mask, on_ball: Mask) -> Array:
        """Height change `(S,)` of the foot from its animation to its pins, interpolated between stances."""
        count = len(self.foot.ankles)
        foot = self.foot.on(slice(None, None, SAMPLES_PER_FRAME))
        changes = np.full(len(on_heel), np.nan)
        points = foot.points(foot.heel), foot.points(foot.ball)
        for pin in find_pins(foot, on_heel, on_ball, self.height).pins:
            rows = slice(pin.first, pin.last + 1)
            changes[rows] = pin.place[2] - points[pin.is_ball][rows, 2].mean()
        return _interpolated(changes[:, None], count)[:, 0]


def standing(
    foot: Foot, on_heel: Mask, on_ball: Mask, *, surface: Surface, ball_height: float, steepest: float, is_new: bool
) -> LaidFoot:
    """The unchanged foot, sampled at `(S,)`, with the ground under each of its stances; heel and ball stand at `(F,)`.

    ball_height : height of the ball above the sole
    steepest : radians; where the ground between heel and ball is steeper than this, a stance takes the slope below one of
        them, limited to this
    is_new : whether the foot was animated on other ground: then it stands on the higher side of an edge, else on the nearer
        side
    """
    at_frames = foot.on(slice(None, None, SAMPLES_PER_FRAME))
    above = None if is_new else np.array([0.0, ball_height])
    stances = [
        _stance(at_frames, run, (on_heel, on_ball), surface, steepest=steepest, above=above) for run in runs(on_heel | on_ball)
    ]
    return LaidFoot(foot, np.zeros(len(foot.ankles), dtype=bool), stances, surface, ball_height)


def tilted(lying: LaidFoot, frames: int) -> LaidFoot:
    """The foot tilted about the middle between heel and ball to match the ground under it.

    In the air the tilt is interpolated from one stance to the next; before the first and after the last it stays constant.
    """
    foot, gradients = lying.foot, np.full((frames, 2), np.nan)
    for stance in lying.stances:
        gradients[stance.first : stance.last + 1] = stance.gradient
    slopes = _interpolated(gradients, len(foot.ankles))
    changed = np.any(slopes != 0.0, axis=-1)
    if not changed.any():
        return lying
    normals = unit(np.column_stack([-slopes, np.ones(len(slopes))]))
    tilts = np.where(changed[:, None, None], least_turn(UP, normals), np.eye(3))
    middles = (foot.points(foot.heel) + foot.points(foot.ball)) / 2.0
    ankles = middles + (tilts @ (foot.ankles - middles)[..., None])[..., 0]
    return replace(lying, foot=replace(foot, ankles=ankles, turns=tilts @ foot.turns), tilted=changed)


def common_rise(rises: Array, window: int) -> Array:
    """Smooth rise `(S,)` of the root for feet that are raised by `rises` `(C, S)`, nowhere above the smallest of them.

    window : samples, odd

    So no leg has to be longer than it was.
    """
    lowest = rises.min(axis=0)
    return lowest.max() - smooth_moves(lowest.max() - lowest, window)


def _stance(
    foot: Foot, run: tuple[int, int], on: tuple[Mask, Mask], surface: Surface, *, steepest: float, above: Array | None
) -> StanceGround:
    rows = np.arange(run[0], run[1] + 1)
    places = []
    for offset, stands in zip((foot.heel, foot.ball), on, strict=True):
        points = foot.points(offset)[rows]
        places.append((points[stands[rows]] if stands[rows].any() else points).mean(axis=0))
    ends = np.array(places)
    heights, normals = surface(ends)
    across = ends[1, :2] - ends[0, :2]
    length = float(np.linalg.norm(across))
    if length <= LEAST_HORIZONTAL * np.linalg.norm(foot.ball - foot.heel):
        return StanceGround(*run, _limited(_gradient(normals.sum(axis=0)), steepest), None)
    forward = across / length
    aside = np.array([-forward[1], forward[0]])
    rise = float(heights[1] - heights[0]) / length
    if abs(np.arctan(rise)) <= steepest:
        # Heel and ball stand as they are; what is left of the steepest tilt may go to the side.
        most = np.sqrt(max(0.0, np.tan(steepest) ** 2 - rise**2))
        roll = np.clip(_gradient(normals.sum(axis=0)) @ aside, -most, most)
        return StanceGround(*run, rise * forward + roll * aside, None)
    side = int(np.argmax(heights) if above is None else np.argmin(np.abs(ends[:, 2] - above - heights)))
    support = np.array([*ends[side, :2], heights[side]])
    return StanceGround(*run, _limited(_gradient(normals[side]), steepest), support)


def _gradient(normal: Array) -> Array:
    """Rise `(2,)` of the ground per unit along X and Y, from its upward normal `(3,)`; zero for a wall."""
    return -normal[:2] / normal[2] if normal[2] > 0.0 else np.zeros(2)


def _limited(gradient: Array, steepest: float) -> Array:
    rise = float(np.linalg.norm(gradient))
    return gradient * min(1.0, np.tan(steepest) / rise) if rise else gradient


def _interpolated(values: Array, count: int) -> Array:
    """Values `(S, k)` at `count` samples, interpolated smoothly between those known at frames `(F, k)`; unknown ones are NaN.

    Before the first and after the last known frame they stay constant; without any known frame they are 0.
    """
    known = np.flatnonzero(~np.isnan(values[:, 0]))
    if not len(known):
        return np.zeros((count, values.shape[1]))
    samples = np.clip(np.arange(count) / SAMPLES_PER_FRAME, known[0], known[-1])
    after = np.clip(np.searchsorted(known, samples, side="right"), 1, max(1, len(known) - 1))
    start, end = known[after - 1], known[np.minimum(after, len(known) - 1)]
    # Level at both ends, so that nothing has a kink where a foot lands.
    share = smooth_step((samples - start) / np.maximum(end - start, 1))[:, None]
    return values[start] * (1.0 - share) + values[end] * share
