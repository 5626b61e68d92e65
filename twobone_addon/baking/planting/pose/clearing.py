"""Feet that are moved stay out of the ground on their way: they are lifted over edges and slopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....array_types import Array
from ....planting.clearing import lifts
from ....planting.goals import SAMPLES_PER_FRAME
from ....planting.pins import Foot
from ..plan.feet import LegMotion
from .standing import DOWN, Footing, Planted, PlantedLeg

ALONG = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Parts of the sole, from heel to ball, that are to be clear."""

WINDOW = 0.15
"""Seconds within which a lift comes, and goes."""


def with_clear_ways(footing: Footing, planted: Planted) -> Planted:
    """The same with the feet that are off the ground lifted where they would go through it, as far as they did not anyway."""
    if footing.ground.surface is None:
        return planted
    return Planted([_cleared(footing, leg) for leg in planted.legs], planted.moves)


def _cleared(footing: Footing, leg: PlantedLeg) -> PlantedLeg:
    ground, before = footing.ground, footing.foot(leg.before)
    now = replace(before, ankles=ground.into(leg.ankles), turns=ground.turned_into(leg.turns))
    free = leg.changed & ~leg.goals.pinned
    if not free.any():
        return leg
    old = _heights(footing, leg.before, before, on_flat=ground.is_new)
    needs = np.where(free, (np.minimum(old, 0.0) - _heights(footing, leg.before, now)).max(axis=0), 0.0)
    window = max(1, round(WINDOW * footing.plan.frames_per_second * SAMPLES_PER_FRAME))
    up = lifts(needs, free, window)
    return replace(leg, ankles=leg.ankles - up[:, None] * DOWN) if up.any() else leg


def _heights(footing: Footing, leg: LegMotion, foot: Foot, *, on_flat: bool = False) -> Array:
    """Of some points of the sole over the ground, or over the flat ground on which it was, `(k, S)`."""
    up = -foot.heel / max(float(np.linalg.norm(foot.heel)), np.finfo(float).tiny)
    under_ball = foot.ball - up * leg.ball_height
    points = [foot.points(foot.heel * (1.0 - part) + under_ball * part) for part in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])
