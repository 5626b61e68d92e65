"""Heels raised about a standing ball, so that the leg reaches without a lower hip."""

from __future__ import annotations

import math

import numpy as np

from ...records import replace
from ..array_types import Array, Mask
from ..arrays import dot, magnitude
from ..rig.rotations import about_axis, unit
from .clearing import lifts
from .goals import FootGoals
from .pins import Foot

MOST = math.radians(10.0)
"""Largest added pitch of a foot, radians; the push-off of a normal step pitches it by several times as much."""


def with_heels_up(foot: Foot, goals: FootGoals, *, on_heel: Mask, hips: Array, reaches: Array, window: int) -> FootGoals:
    """Goals with the heel raised where only the ball stands and the ankle is farther from the hip than the leg reaches.

    on_heel : (S,) where the heel stands
    hips : (S, 3) in the ground's space
    reaches : (S,) largest distance of the ankle from the hip
    window : samples within which a heel comes up and goes down again

    The foot pitches about its ball, which stays in place, by as little as needed, but by no more than `MOST` and no farther
    than brings the ankle nearer to the hip. A foot whose ankle, heel and ball are collinear stays unchanged.
    """
    rolls = goals.pinned & ~on_heel
    rows = np.flatnonzero(rolls & (magnitude(goals.ankles - hips) > reaches))
    if not len(rows):
        return goals
    across = unit(np.cross(foot.ball, foot.heel))
    arms = foot.on(rows).ways(goals.turns[rows], foot.ball)
    least, _ = pitches_within_reach(-arms, goals.turns[rows] @ across, hips[rows] - goals.ankles[rows] - arms, reaches[rows])
    needs = np.zeros(len(hips))
    needs[rows] = np.clip(least, 0.0, MOST)
    # Eased in and out where the ball stands alone and in the air, so that the heel does not jump where the need begins.
    raised = lifts(needs, ~on_heel, window)
    up, turns, ankles = np.flatnonzero(raised > 0.0), goals.turns.copy(), goals.ankles.copy()
    turns[up] = about_axis(goals.turns[up] @ across, raised[up]) @ goals.turns[up]
    pitched = up[rolls[up]]
    part = foot.on(pitched)
    # In the air there is no ball to turn about: only where it stands does the ankle follow the pitch.
    ankles[pitched] += part.ways(goals.turns[pitched], foot.ball) - part.ways(turns[pitched], foot.ball)
    return replace(goals, ankles=ankles, turns=turns, turned=goals.turned | (raised > 0.0))


def pitches_within_reach(ankles: Array, axes: Array, hips: Array, reaches: Array) -> tuple[Array, Array]:
    """The smallest and the largest pitch `(n,)` about a point of the foot with which the ankle is within reach of the hip.

    ankles, hips : (n, 3) from the point
    axes : (n, 3) unit vectors, perpendicular to `ankles`
    reaches : (n,) largest distance of the ankle from the hip

    Where no pitch suffices, both are the one that brings the ankle nearest to the hip.
    """
    # The ankle circles the point in the plane of ankle, ball and heel; it is nearest to the hip where both lie in one direction.
    ahead, beside = dot(hips, ankles), dot(hips, np.cross(axes, ankles))
    required_dot = 0.5 * (dot(hips, hips) + dot(ankles, ankles) - reaches**2)
    most = np.hypot(ahead, beside)
    from_nearest = np.arccos(np.divide(required_dot, most, out=np.sign(required_dot), where=np.abs(required_dot) < most))
    nearest = np.arctan2(beside, ahead)
    return nearest - from_nearest, nearest + from_nearest
