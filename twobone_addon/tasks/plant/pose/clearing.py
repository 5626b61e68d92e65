"""Feet that are moved stay out of the ground on their way: they are lifted over edges and slopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....core.array_types import Array, Mask
from ....core.contacts.skating import LOW, LOWEST
from ....core.contacts.states import runs
from ....core.planting.clearing import far_from, lifts
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.pins import Foot
from ..plan.feet import LegMotion
from .calming import pops, with_calm_ease
from .standing import DOWN, Footing, Planted, PlantedLeg, settled

ALONG = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Parts of the sole, from heel to ball, that must be clear."""

CLEARANCE = 0.5
"""Part of its height over the ground that a foot half way between two stances keeps at least."""

WINDOW = 0.15
"""Seconds within which a lift comes, and goes."""

RAISED, CLEAR, SLOWER = LOW / 3.0, LOW + 0.001, (1.0, 1.5, 2.0, 3.0)
"""Leg lengths by which a floor must be higher for feet to be lifted with it; those over it from which a foot does not seem to
stand; and times the window from a stance within which such a lift is whole, where knees do not allow it sooner."""


def with_clear_ways(footing: Footing, planted: Planted) -> Planted:
    """The same with feet that are off the ground lifted where they would graze it or go through it, unless they did anyway."""
    return Planted([_cleared(footing, leg, planted) for leg in planted.legs], planted.moves)


def _cleared(footing: Footing, leg: PlantedLeg, planted: Planted) -> PlantedLeg:
    ground, before = footing.ground, footing.foot(leg.before)
    now = replace(before, ankles=ground.into(leg.ankles), turns=ground.turned_into(leg.turns))
    pinned = leg.goals.pinned
    old, new = _heights(footing, leg.before, before, on_flat=ground.is_new), _heights(footing, leg.before, now)
    # Where no height is given, feet stand somewhat higher and lower than the ground was found; so may those on their way.
    lowest = 0.0 if ground.surface is not None else float(new[:, pinned].min(initial=0.0))
    window = max(1, round(WINDOW * footing.plan.frames_per_second * SAMPLES_PER_FRAME))
    kept = CLEARANCE * np.maximum(old, 0.0) * far_from(pinned, window)

    def lifted(up: Array, height: Array | float, free: Mask) -> Array:
        needs = (np.minimum(old, lowest + height) - new).max(axis=0) - up
        return up + lifts(np.where(needs > settled(leg.before), needs, 0.0), free, window)

    up = lifted(np.zeros(len(pinned)), kept, leg.changed & ~pinned)
    # All else is to stay as it was, unless the root takes it into the ground.
    up = lifted(up, 0.0, ~pinned)
    balls = old[-1], new[-1] + up
    return _clear_of_floor(footing, _lifted(leg, up) if up.any() else leg, planted, balls, window)


def _lifted(leg: PlantedLeg, up: Array) -> PlantedLeg:
    return replace(leg, ankles=leg.ankles - up[:, None] * DOWN, changed=leg.changed | (up > 0.0))


def _clear_of_floor(footing: Footing, leg: PlantedLeg, planted: Planted, balls: tuple[Array, Array], window: int) -> PlantedLeg:
    """The same with its ball, at heights `(S,)` before and now, as far over its floor in the air as it was, or clearly over it.

    Where a foot that sinks while it stands is raised, its floor is higher: what swung clear of it would seem to slide on it.
    """
    pinned, (old, new) = leg.goals.pinned, balls
    floor, now = (float(np.quantile(each, LOWEST)) for each in balls)
    clear = np.minimum(old - floor, CLEAR * leg.before.length)
    for first, last in runs(~pinned) if now - floor > RAISED * leg.before.length else ():
        free = np.zeros_like(pinned)
        free[first : last + 1] = True
        for slower in SLOWER:
            needs = now + np.minimum(clear, CLEAR * leg.before.length * far_from(pinned, round(slower * window))) - new
            if not np.any(free & (needs > settled(leg.before))):
                break
            lifted = _lifted(leg, lifts(needs, free, window))
            (lifted,) = with_calm_ease(footing.plan, Planted([lifted], planted.moves)).legs
            if not pops(lifted, planted.moves, footing.plan.frames_per_second, leg):
                leg = lifted
                break
    return leg


def _heights(footing: Footing, leg: LegMotion, foot: Foot, *, on_flat: bool = False) -> Array:
    """Of some points of the sole over the ground, or over the flat ground on which it was, `(k, S)`."""
    up = -foot.heel / max(float(np.linalg.norm(foot.heel)), np.finfo(float).tiny)
    under_ball = foot.ball - up * leg.ball_height
    points = [foot.points(foot.heel * (1.0 - part) + under_ball * part) for part in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])
