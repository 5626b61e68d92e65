"""When each foot stands, and on which of its points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..array_types import Array, Codes, Mask
from .feet import FeetMotion
from .runs import held_from_core, without_gaps, without_short
from .speeds import smoothed, standing_speeds
from .states import ContactState, states_of_points
from .thresholds import LEAVE, Thresholds, completed

LENIENT = 2.0
"""Times the speeds that are found for all feet, up to which one may stand that never would though others do."""
LOWEST_STAND = 0.25
"""Quantile of the heights at which a point stands that counts as its own level."""
MOST_LEVEL = 0.12
"""Leg lengths by which the level of a point may differ from the ground: soles are thick, feet at rest may point down."""


def find_states(feet: FeetMotion, given: Thresholds) -> Codes:
    """States `(C, F)` of feet whose points and heights are relative to the ground, see `states`.

    A single frame counts as standing still: then the height decides.
    """
    thresholds = completed(given, feet)
    found = _states(feet, thresholds)
    never = np.all(found == ContactState.NONE, axis=1)
    if given.enter_speed or not never.any() or never.all():
        return found
    # In fast cycles feet stand for a frame or two, and not all as still as the ground's velocity, common to all, has them.
    lenient = replace(thresholds, enter_speed=LENIENT * thresholds.enter_speed, leave_speed=LENIENT * thresholds.leave_speed)
    return np.where(never[:, None], _states(feet, lenient), found)


def _states(feet: FeetMotion, thresholds: Thresholds) -> Codes:
    speeds = standing_speeds(feet.points, feet.rate)
    heights = feet.heights - levels(feet, speeds, thresholds)[..., None]
    core = (speeds <= thresholds.enter_speed) & (heights <= thresholds.enter_height)
    loose = (speeds <= thresholds.leave_speed) & (heights <= thresholds.leave_height)
    lifts = heel_lifts(feet, core)
    return np.array([_foot(core[foot], loose[foot], lifts[foot], thresholds) for foot in range(len(speeds))])


def levels(feet: FeetMotion, speeds: Array, thresholds: Thresholds) -> Array:
    """Height `(C, 2)` over the ground at which each point stands as a rule, for a foot that is not at rest as it stands."""
    most = MOST_LEVEL * feet.leg_length
    standing = (speeds <= thresholds.enter_speed) & (np.abs(feet.heights) <= most + thresholds.enter_height)
    found = np.zeros(feet.heights.shape[:2])
    for place in np.ndindex(*found.shape):
        if standing[place].any():
            found[place] = np.quantile(feet.heights[place][standing[place]], LOWEST_STAND)
    return np.clip(found, -most, most)


def heel_lifts(feet: FeetMotion, core: Mask) -> Array:
    """How much higher `(C, F)` the heel is over the ball than in a foot that lies flat; below 0 the ball is up.

    Flat is a foot as it is most of the time while both of its points stand surely (`core` `(C, 2, F)`), or as it is at
    rest if they never do.
    """
    lifts = smoothed(feet.heights[:, 0] - feet.heights[:, 1], feet.rate)
    both = np.all(core, axis=1)
    most = MOST_LEVEL * feet.leg_length
    flat = [float(np.median(lift[stands])) if stands.any() else 0.0 for lift, stands in zip(lifts, both, strict=True)]
    return lifts - np.clip(flat, -most, most)[:, None]


def _foot(core: Mask, loose: Mask, lift: Array, thresholds: Thresholds) -> Codes:
    """States `(F,)` of a foot from where its points stand surely and likely, `(2, F)` each, and its heel's lift `(F,)`."""
    heel, ball = (without_gaps(held_from_core(*row), thresholds.longest_gap) for row in zip(core, loose, strict=True))
    stands = without_short(without_gaps(heel | ball, thresholds.longest_gap), thresholds.least_length)
    heel_up, ball_up = (held_from_core(way > thresholds.lift * LEAVE, way > thresholds.lift) for way in (lift, -lift))
    heel, ball = stands & heel & ~(heel_up & ball), stands & ball & ~(ball_up & heel)
    return states_of_points(heel, ball | (stands & ~heel))
