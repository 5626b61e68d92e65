"""Feet that walked on flat ground, laid on uneven ground: how steep it is under each stance, and how far it is up or down."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array, Mask
from ..contacts.states import runs
from ..rig.rotations import least_turn, unit
from .goals import SAMPLES_PER_FRAME
from .ground import Surface
from .pins import Foot, find_pins
from .root_fit import smooth_moves

UP = np.array([0.0, 0.0, 1.0])

BESIDE = 1e-3
"""Part of a foot's length by which heel and ball are apart level at least, for the foot to point anywhere."""


@dataclass(frozen=True, slots=True)
class Stance:
    """The ground under a foot from a frame to another."""

    first: int
    last: int
    gradient: Array
    """`(2,)` how much the ground rises along X and along Y, as far as the foot may be tilted."""
    support: Array | None
    """`(3,)` the place through which the sole goes where the ground is steeper than that: below heel or ball."""

    def height(self, place: Array) -> float | None:
        """Of the sole at a place `(3,)`; `None` where that is the ground's own."""
        if self.support is None:
            return None
        return float(self.support[2] + (place - self.support)[:2] @ self.gradient)


@dataclass(frozen=True, slots=True)
class LaidFoot:
    """A foot, tilted as the ground is under it."""

    foot: Foot
    """At every sample."""
    tilted: Mask
    """`(S,)`"""
    stances: list[Stance]
    surface: Surface
    ball_height: float
    """Of the ball above the sole."""

    def height(self, place: Array, is_ball: bool, row: int) -> float:  # noqa: FBT001 - a `Heights`
        """Of a point that stands at a place `(3,)` from frame `row` on."""
        stance = next((each for each in self.stances if each.first <= row <= each.last), None)
        own = None if stance is None else stance.height(place)
        height = float(self.surface(place[None])[0][0]) if own is None else own
        if not is_ball:
            return height
        rise = 0.0 if stance is None else float(stance.gradient @ stance.gradient)
        # Between straight up from the ground and square to it: a sole is no plank, and its heel is on the ground as well.
        return height + self.ball_height * 0.5 * (1.0 + np.sqrt(1.0 + rise))

    def rises(self, on_heel: Mask, on_ball: Mask) -> Array:
        """How much higher `(S,)` than it was the foot must be; from stance to stance in between."""
        count = len(self.foot.ankles)
        foot = self.foot.on(slice(None, None, SAMPLES_PER_FRAME))
        found = np.full(len(on_heel), np.nan)
        points = foot.points(foot.heel), foot.points(foot.ball)
        for pin in find_pins(foot, on_heel, on_ball, self.height).pins:
            rows = slice(pin.first, pin.last + 1)
            found[rows] = pin.place[2] - points[pin.is_ball][rows, 2].mean()
        return _between(found[:, None], count)[:, 0]


def standing(
    foot: Foot, on_heel: Mask, on_ball: Mask, *, surface: Surface, ball_height: float, steepest: float, is_new: bool
) -> LaidFoot:
    """A foot at samples `(S,)` as it is, and the ground where it stands, `(F,)`.

    ball_height : of the ball above the sole
    steepest : radians; where the ground between heel and ball is steeper than this, a stance is as steep as it is below one of
        them, and no steeper than this
    is_new : whether the foot comes to this ground from another one: then it stands on the higher side of an edge, else on the
        side it is nearer to
    """
    at_frames = foot.on(slice(None, None, SAMPLES_PER_FRAME))
    above = None if is_new else np.array([0.0, ball_height])
    stances = [
        _stance(at_frames, run, (on_heel, on_ball), surface, steepest=steepest, above=above) for run in runs(on_heel | on_ball)
    ]
    return LaidFoot(foot, np.zeros(len(foot.ankles), dtype=bool), stances, surface, ball_height)


def tilted(lying: LaidFoot, frames: int) -> LaidFoot:
    """The same foot, tilted about the middle of its sole as the ground is under it.

    Off the ground the foot turns from one stance to the next; before the first one and after the last one it stays tilted.
    """
    foot, gradients = lying.foot, np.full((frames, 2), np.nan)
    for stance in lying.stances:
        gradients[stance.first : stance.last + 1] = stance.gradient
    slopes = _between(gradients, len(foot.ankles))
    changed = np.any(slopes != 0.0, axis=-1)
    if not changed.any():
        return lying
    normals = unit(np.column_stack([-slopes, np.ones(len(slopes))]))
    tilts = np.where(changed[:, None, None], least_turn(UP, normals), np.eye(3))
    middles = (foot.points(foot.heel) + foot.points(foot.ball)) / 2.0
    ankles = middles + (tilts @ (foot.ankles - middles)[..., None])[..., 0]
    return replace(lying, foot=replace(foot, ankles=ankles, turns=tilts @ foot.turns), tilted=changed)


def common_rise(rises: Array, window: int) -> Array:
    """How far `(S,)` to raise what carries the feet, which are raised by `rises` `(C, S)`: smooth, and no more than the lowest.

    window : samples, odd

    Then no leg has to be longer than it was.
    """
    lowest = rises.min(axis=0)
    return lowest.max() - smooth_moves(lowest.max() - lowest, window)


def _stance(
    foot: Foot, run: tuple[int, int], on: tuple[Mask, Mask], surface: Surface, *, steepest: float, above: Array | None
) -> Stance:
    rows = np.arange(run[0], run[1] + 1)
    places = []
    for offset, stands in zip((foot.heel, foot.ball), on, strict=True):
        points = foot.points(offset)[rows]
        places.append((points[stands[rows]] if stands[rows].any() else points).mean(axis=0))
    ends = np.array(places)
    heights, normals = surface(ends)
    way = ends[1, :2] - ends[0, :2]
    length = float(np.linalg.norm(way))
    if length <= BESIDE * np.linalg.norm(foot.ball - foot.heel):
        return Stance(*run, _limited(_gradient(normals.sum(axis=0)), steepest), None)
    forward = way / length
    aside = np.array([-forward[1], forward[0]])
    rise = float(heights[1] - heights[0]) / length
    if abs(np.arctan(rise)) <= steepest:
        least = np.sqrt(max(0.0, np.tan(steepest) ** 2 - rise**2))
        roll = np.clip(_gradient(normals.sum(axis=0)) @ aside, -least, least)
        return Stance(*run, rise * forward + roll * aside, None)
    side = int(np.argmax(heights) if above is None else np.argmin(np.abs(ends[:, 2] - above - heights)))
    support = np.array([*ends[side, :2], heights[side]])
    return Stance(*run, _limited(_gradient(normals[side]), steepest), support)


def _gradient(normal: Array) -> Array:
    """How much ground with an upward normal `(3,)` rises along X and Y, `(2,)`; of a wall, none."""
    return -normal[:2] / normal[2] if normal[2] > 0.0 else np.zeros(2)


def _limited(gradient: Array, steepest: float) -> Array:
    rise = float(np.linalg.norm(gradient))
    return gradient * min(1.0, np.tan(steepest) / rise) if rise else gradient


def _between(values: Array, count: int) -> Array:
    """Values `(S, k)` at `count` samples that lead smoothly from those known at frames `(F, k)` to the next ones.

    Before the first and after the last known ones they stay; without any they are 0.
    """
    known = np.flatnonzero(~np.isnan(values[:, 0]))
    if not len(known):
        return np.zeros((count, values.shape[1]))
    samples = np.clip(np.arange(count) / SAMPLES_PER_FRAME, known[0], known[-1])
    after = np.clip(np.searchsorted(known, samples, side="right"), 1, max(1, len(known) - 1))
    start, end = known[after - 1], known[np.minimum(after, len(known) - 1)]
    part = np.clip((samples - start) / np.maximum(end - start, 1), 0.0, 1.0)[:, None]
    part = part * part * (3.0 - 2.0 * part)
    return values[start] * (1.0 - part) + values[end] * part
