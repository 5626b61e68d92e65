"""Keep feet in the air out of the ground: lift them over edges and slopes."""

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
"""Points of the sole that must be clear of the ground, as fractions from heel to ball."""

CLEARANCE = 0.5
"""Smallest fraction of its height above the ground that a foot keeps midway between two stances."""

WINDOW = 0.15
"""Seconds over which a lift eases in, and out."""

RAISED, CLEAR, SLOWER = LOW / 3.0, LOW + 0.001, (1.0, 1.5, 2.0, 3.0)
"""Rise of the floor in leg lengths above which swinging feet are lifted with it; height over the floor in leg lengths from which
a foot does not seem to stand; windows from a stance at which such a lift is complete, tried in turn until no knee pops."""


def with_clear_ways(footing: Footing, planted: Planted) -> Planted:
    """Planted legs with feet in the air lifted where they would graze or penetrate the ground, unless they already did."""
    return Planted([_cleared(footing, leg, planted) for leg in planted.legs], planted.moves)


def _cleared(footing: Footing, leg: PlantedLeg, planted: Planted) -> PlantedLeg:
    ground, before = footing.ground, footing.foot(leg.before)
    now = replace(before, ankles=ground.into(leg.ankles), turns=ground.turned_into(leg.turns))
    pinned = leg.goals.pinned
    old, new = _heights(footing, leg.before, before, on_flat=ground.is_new), _heights(footing, leg.before, now)
    # Without a surface, feet stand somewhat above and below the estimated ground, so feet in the air may be as low.
    lowest = 0.0 if ground.surface is not None else float(new[:, pinned].min(initial=0.0))
    window = max(1, round(WINDOW * footing.plan.frames_per_second * SAMPLES_PER_FRAME))
    kept = CLEARANCE * np.maximum(old, 0.0) * far_from(pinned, window)

    def lifted(up: Array, height: Array | float, free: Mask) -> Array:
        needs = (np.minimum(old, lowest + height) - new).max(axis=0) - up
        return up + lifts(np.where(needs > settled(leg.before), needs, 0.0), free, window)

    up = lifted(np.zeros(len(pinned)), kept, leg.changed & ~pinned)
    # The rest of the motion keeps its heights, unless the root moves it into the ground.
    up = lifted(up, 0.0, ~pinned)
    balls = old[-1], new[-1] + up
    return _clear_of_floor(footing, _lifted(leg, up) if up.any() else leg, planted, balls, window)


def _lifted(leg: PlantedLeg, up: Array) -> PlantedLeg:
    return replace(leg, ankles=leg.ankles - up[:, None] * DOWN, changed=leg.changed | (up > 0.0))


def _clear_of_floor(footing: Footing, leg: PlantedLeg, planted: Planted, balls: tuple[Array, Array], window: int) -> PlantedLeg:
    """The leg with its ball, at heights `(S,)` before and now, as far above its floor in the air as before, or clearly above it.

    Raising a stance that sank into the ground raises the floor, so that a swing that was clear of it would seem to slide on it.
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
    """Heights `(k, S)` of points of the sole above the ground, or above the flat ground of the original motion."""
    up = -foot.heel / max(float(np.linalg.norm(foot.heel)), np.finfo(float).tiny)
    under_ball = foot.ball - up * leg.ball_height
    points = [foot.points(foot.heel * (1.0 - part) + under_ball * part) for part in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])
