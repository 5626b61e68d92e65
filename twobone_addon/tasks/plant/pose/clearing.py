"""Feet that are moved stay out of the ground on their way: they are lifted over edges and slopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....core.array_types import Array, Mask
from ....core.planting.clearing import far_from, lifts
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.pins import Foot
from ..plan.feet import LegMotion
from .standing import DOWN, Footing, Planted, PlantedLeg, settled

ALONG = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Parts of the sole, from heel to ball, that must be clear."""

CLEARANCE = 0.5
"""Part of its height over the ground that a foot half way between two stances keeps at least."""

WINDOW = 0.15
"""Seconds within which a lift comes, and goes."""


def with_clear_ways(footing: Footing, planted: Planted) -> Planted:
    """The same with feet that are off the ground lifted where they would graze it or go through it, unless they did anyway."""
    return Planted([_cleared(footing, leg) for leg in planted.legs], planted.moves)


def _cleared(footing: Footing, leg: PlantedLeg) -> PlantedLeg:
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
    return replace(leg, ankles=leg.ankles - up[:, None] * DOWN, changed=leg.changed | (up > 0.0)) if up.any() else leg


def _heights(footing: Footing, leg: LegMotion, foot: Foot, *, on_flat: bool = False) -> Array:
    """Of some points of the sole over the ground, or over the flat ground on which it was, `(k, S)`."""
    up = -foot.heel / max(float(np.linalg.norm(foot.heel)), np.finfo(float).tiny)
    under_ball = foot.ball - up * leg.ball_height
    points = [foot.points(foot.heel * (1.0 - part) + under_ball * part) for part in ALONG]
    below_ball = foot.points(foot.ball) - np.array([0.0, 0.0, leg.ball_height])
    if on_flat:
        return np.stack([places[:, 2] - footing.ground.level for places in (*points, below_ball)])
    return np.stack([footing.ground.over(places) for places in (*points, below_ball)])
