"""How abruptly knees bend, and where a stance has to let the foot roll for longer so that they do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import magnitude
from ..contacts.states import ContactState, runs

NEAR = 3
"""Frames within which a sudden bend is put down to the edge of a stance, if they are at least `NEAR_IN_SECONDS`."""
NEAR_IN_SECONDS = 0.05

STRETCH = 6
"""Frames to either side of a sudden bend in which the root may give way to it."""

CALMING_ROUNDS, FIRST_WEIGHT, HEAVIER = 40, 1e-4, 1.6
"""Lengths count in legs, angles in radians: the first weight hardly moves anything, the last one leaves nothing sudden."""

LONGEST_STEP = 1e-3
"""Legs by which the root, or a foot, gives way at a time: knees that are nearly straight have no slope to rely on for longer."""

TINY = 1e-6
"""Legs by which the root is moved to see how much that bends the knees."""

AnglesOf = Callable[[Array], Array]

INWARD = 8
"""One part in so many of a stance is given up at an edge at a time, but at least a frame."""


def knee_angles(ways: Array, links: Array) -> Array:
    """Angles `(F,)` between the two links of legs whose ankle is `ways` `(F, 3)` from the hip.

    links : (F, 2) their lengths

    Out of reach counts as straight, or as folded.
    """
    square = np.sum(ways**2, axis=-1)
    first, second = links[:, 0], links[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (square - first**2 - second**2) / (2.0 * first * second)
    return np.arccos(np.clip(np.nan_to_num(cosine, nan=1.0), -1.0, 1.0))


def accelerations(angles: Array) -> Array:
    """Second differences `(F,)` of angles `(F,)`; 0 at both ends."""
    found = np.zeros(len(angles))
    found[1:-1] = np.diff(angles, 2)
    return found


def gentler(states: Codes, sudden: Mask, near: int = NEAR) -> Codes:
    """The states `(F,)` with shorter stances where knees bend suddenly, `sudden` `(F,)`, at a stance's edge, or `near` it.

    Where heel and ball stand together the foot is to roll for longer: one that comes down on its heel, or flat, rolls on the
    heel, one that comes down on its ball on the ball; it leaves by the ball, or by the heel if it does so anyway. Where a
    foot comes to the ground, or leaves it, it does so later, or earlier.
    """
    found = states.copy()
    for first, last in runs(states == ContactState.BOTH):
        step = max(1, (last - first + 1) // INWARD)
        if _near(sudden, first, near) and first > 0 and states[first - 1]:
            found[first : first + step] = states[first - 1]
        elif _near(sudden, first, near) and first > 0:
            found[first : first + step] = ContactState.HEEL
        if _near(sudden, last, near) and last < len(states) - 1:
            found[last - step + 1 : last + 1] = states[last + 1] or ContactState.BALL
    for first, last in runs(states != ContactState.NONE):
        if _near(sudden, first, near) and first > 0 and states[first] != ContactState.BOTH:
            found[first] = ContactState.NONE
        if _near(sudden, last, near) and last < len(states) - 1 and states[last] != ContactState.BOTH:
            found[last] = ContactState.NONE
    return found


def _near(sudden: Mask, row: int, near: int) -> bool:
    return bool(sudden[max(row - near, 0) : row + near + 1].any())


def calming_moves(angles: AnglesOf, count: int, limits: Array, watched: Mask, *, most: float) -> Array:
    """Small moves `(F,)` with which no knee is accelerated more than it may be, as far as that can be.

    angles : from moves `(F,)`, such as the root's, to the angles of all knees `(C, F)`
    limits : (C,) largest second difference of each knee
    watched : (C, F) where it counts
    most : legs that a move is at most

    Of all moves those that are smallest in sum of squares, with a weight on what is too sudden that grows until nothing is
    (Gauss-Newton steps on the stretches around it).
    """
    moves = np.zeros(count)
    weights = np.zeros(watched.shape)
    for _ in range(CALMING_ROUNDS):
        now = angles(moves)
        bends = np.stack([accelerations(each) for each in now])
        sudden = watched & (np.abs(bends) > limits[:, None])
        if not sudden.any():
            break
        weights = np.where(sudden, np.maximum(weights * HEAVIER, FIRST_WEIGHT), weights)
        slopes = (angles(moves + TINY) - now) / TINY
        free = _around(np.any(weights > 0.0, axis=0))
        for first, last in runs(free):
            rows = slice(first, last + 1)
            wanted = _calmer(moves[rows], bends[:, rows], slopes[:, rows], weights[:, rows])
            step = np.clip(wanted - moves[rows], -LONGEST_STEP, LONGEST_STEP)
            moves[rows] = np.clip(moves[rows] + step, -most, most)
    return moves


def _calmer(moves: Array, bends: Array, slopes: Array, weights: Array) -> Array:
    """One step: moves `(n,)` of a stretch for second differences `bends` `(C, n)` that change as their `slopes` say."""
    count = len(moves)
    second = np.zeros((count, count))
    inside = np.arange(1, count - 1)
    second[inside, inside - 1] = second[inside, inside + 1] = 1.0
    second[inside, inside] = -2.0
    system, wanted = np.eye(count), np.zeros(count)
    for bend, slope, weight in zip(bends, slopes, weights, strict=True):
        change = second * slope
        system += change.T @ (weight[:, None] * change)
        wanted -= change.T @ (weight * (bend - change @ moves))
    return np.linalg.solve(system, wanted)


def _around(rows: Mask) -> Mask:
    """`(F,)` within `STRETCH` frames of any of `rows` `(F,)`."""
    return np.convolve(rows, np.ones(2 * STRETCH + 1), mode="same") > 0.0


def links_of(joints: Array) -> Array:
    """Lengths `(F, 2)` of the links between joints `(F, 3, 3)`."""
    return magnitude(np.diff(joints, axis=1))
