"""Angular acceleration of knees, and two remedies for sudden bends: shorter stances and small moves of root or foot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..array_types import Array, Codes, Indices, Mask
from ..arrays import magnitude
from ..contacts.states import ContactState, runs

SEEN = 1.0 / 30.0
"""Seconds of the steps over which bends are seen: accelerations from frame to frame of 120 a second are mostly noise, beside
which a pop of a tenth of a second is small."""
NEAR = 3
"""Steps from the edge of a stance within which a sudden bend is attributed to that edge."""
STRETCH = 6
"""Steps to either side of a sudden bend at which the root may move to smooth it."""

CALMING_STEPS, FIRST_WEIGHT, WEIGHT_GROWTH = 40, 1e-4, 1.6
"""Most Gauss-Newton steps, first penalty weight, and its growth per step, for moves in leg lengths and angles in radians: the
first weight hardly moves anything, the last one leaves no sudden bend."""

MOST_GROWTH, LARGEST_WEIGHT = 3.0, 1e7
"""The growth is raised to the bend's multiple of its limit, so that where moves do not suffice the largest bends become equal: at
most to this power, and up to this weight, with which the system can still be solved for nearly straight knees."""

BOUNDED_STEPS = 20
"""Most changes of the set of moves that are held at their bounds."""

LONGEST_STEP = 1e-3
"""Largest step of the root or a foot per iteration, leg lengths: for nearly straight knees the linearisation holds no farther."""

DIFFERENCE_STEP = 1e-6
"""Finite-difference step for the derivative of the knee angles, leg lengths."""

STEEPEST = 5e3
"""Largest slope of a knee angle, radians per leg length: straight legs of any use have less than a third of it, links of almost
no length have a thousand times as much, with which the system cannot be solved."""

AnglesOf = Callable[[Array], Array]
"""Maps moves `(F,)` in leg lengths to knee angles `(C, F)` in radians."""

SHORTENING_DIVISOR = 8
"""A stance gives up one frame in this many at an edge per call, but at least one frame."""


def knee_angles(from_hip: Array, links: Array) -> Array:
    """Angles `(F,)` in radians between the two links of legs whose ankle is `from_hip` `(F, 3)` from the hip; 0 is straight.

    links : (F, 2) lengths of the links

    An ankle that is too far counts as a straight leg, one that is too near as a folded leg.
    """
    square = np.sum(from_hip**2, axis=-1)
    first, second = links[:, 0], links[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (square - first**2 - second**2) / (2.0 * first * second)
    return np.arccos(np.clip(np.nan_to_num(cosine, nan=1.0), -1.0, 1.0))


def steps_seen(rate: float) -> list[int]:
    """Frames of the steps over which bends are seen at `rate` frames per second: single ones show trembling, longer ones pops."""
    return sorted({1, max(1, round(SEEN * rate))})


def accelerations(angles: Array, step: int = 1) -> Array:
    """Second differences `(F,)` of angles `(F,)` over steps of `step` frames, per frame squared; 0 at both ends."""
    second = np.zeros(len(angles))
    if len(angles) > 2 * step:
        second[step:-step] = (angles[2 * step :] - 2.0 * angles[step:-step] + angles[: -2 * step]) / step**2
    return second


def gentler(states: Codes, sudden: Mask, step: int = 1) -> Codes:
    """States `(F,)` with shorter stances where the knee bends suddenly, `sudden` `(F,)`, near an edge; `step` as it is seen.

    A stance on heel and ball becomes shorter in favour of rolling: a foot that lands on its heel, or flat, rolls on the heel,
    one that lands on its ball on the ball; it leaves by the ball, or by the heel if it does so already. A foot that lands on or
    leaves by one point lands later or leaves earlier.
    """
    shortened, near, seen = states.copy(), NEAR * step, step
    for first, last in runs(states == ContactState.BOTH):
        step = max(seen, (last - first + 1) // SHORTENING_DIVISOR)
        if _is_near(sudden, first, near) and first > 0 and states[first - 1]:
            shortened[first : min(first + step, last + 1)] = states[first - 1]
        elif _is_near(sudden, first, near) and first > 0:
            shortened[first : min(first + step, last + 1)] = ContactState.HEEL
        if _is_near(sudden, last, near) and last < len(states) - 1:
            shortened[max(last - step + 1, first) : last + 1] = states[last + 1] or ContactState.BALL
    for first, last in runs(states != ContactState.NONE):
        if _is_near(sudden, first, near) and first > 0 and states[first] != ContactState.BOTH:
            shortened[first : min(first + seen, last + 1)] = ContactState.NONE
        if _is_near(sudden, last, near) and last < len(states) - 1 and states[last] != ContactState.BOTH:
            shortened[max(last - seen + 1, first) : last + 1] = ContactState.NONE
    return shortened


def _is_near(sudden: Mask, row: int, near: int) -> bool:
    return bool(sudden[max(row - near, 0) : row + near + 1].any())


def calming_moves(
    angles: AnglesOf,
    start: Array,
    limits: Array,
    watched: Mask,
    *,
    low: Array,
    high: Array,
    steps: Sequence[int] = (1,),
    solves_again: bool = True,
) -> Array:
    """Small moves `(F,)` in leg lengths that keep the acceleration of all knees within limits as far as possible.

    angles : maps moves `(F,)`, such as the root's, to the angles of all knees `(C, F)`
    start : (F,) moves to start from, within their bounds; they stay where no bend nearby is sudden
    limits : (C,) or (n * C,) largest second difference of each knee angle, for each of `n` steps
    watched : (C, F) where the limit applies
    low, high : (F,) bounds of the moves
    steps : frames of the `n` steps over which bends are seen
    solves_again : whether moves beside those held at a bound are solved again; else they are only clipped

    Gauss-Newton steps around the sudden bends minimise the sum of squared moves plus a penalty on accelerations beyond the
    limit, whose weight grows until none is left.
    """
    moves = start.copy()
    watched = np.tile(watched, (len(steps), 1))
    weights, row_steps = np.zeros(watched.shape), np.repeat(steps, len(watched) // len(steps))
    for _ in range(CALMING_STEPS):
        now = angles(moves)
        bends = np.stack([accelerations(knee, step) for step in steps for knee in now])
        multiples = np.abs(bends) / limits[:, None]
        sudden = watched & (multiples > 1.0)
        if not sudden.any():
            break
        growth = WEIGHT_GROWTH ** np.minimum(multiples, MOST_GROWTH)
        weights = np.where(sudden, np.clip(weights * growth, FIRST_WEIGHT, LARGEST_WEIGHT), weights)
        slopes = np.clip((angles(moves + DIFFERENCE_STEP) - now) / DIFFERENCE_STEP, -STEEPEST, STEEPEST)
        slopes = np.tile(slopes, (len(steps), 1))
        # What was sudden once stays in the system, so that calming one bend does not bring back another.
        free, reached = (_around(np.any(weights > 0.0, axis=0), each) for each in (STRETCH * max(steps), max(steps)))
        for first, last in runs(free):
            rows = slice(first, last + 1)
            system, right_side = _normal_equations(moves[rows], bends[:, rows], slopes[:, rows], weights[:, rows], row_steps)
            least, most = np.maximum(low[rows], moves[rows] - LONGEST_STEP), np.minimum(high[rows], moves[rows] + LONGEST_STEP)
            # No bend that counts depends on moves farther away: by their own price they are 0.
            near = reached[rows]
            moves[rows] = np.clip(0.0, least, most)
            system, right_side = system[np.ix_(near, near)], right_side[near]
            moves[rows][near] = _bounded_solution(
                system, right_side, least[near], most[near], BOUNDED_STEPS if solves_again else 0
            )
    return moves


def _around(rows: Mask, reach: int) -> Mask:
    """Mask `(F,)` of the frames within `reach` frames of any frame in `rows` `(F,)`."""
    return np.convolve(rows, np.ones(2 * reach + 1))[reach : reach + len(rows)] > 0.0


def _normal_equations(moves: Array, bends: Array, slopes: Array, weights: Array, steps: Indices) -> tuple[Array, Array]:
    """System `(n, n)` and right side `(n,)` of a Gauss-Newton step for the moves `(n,)` of a stretch.

    From second differences `bends` and slopes of the angles, both `(C, n)`, over `steps` `(C,)` of frames.
    """
    count = len(moves)
    # The identity is the price of the moves themselves: among those that calm the knees the smallest are taken, and the
    # system can be solved even where no bend counts.
    system, right_side = np.eye(count), np.zeros(count)
    for bend, slope, weight, step in zip(bends, slopes, weights, steps.tolist(), strict=True):
        second, inside = np.zeros((count, count)), np.arange(step, count - step)
        second[inside, inside - step] = second[inside, inside + step] = 1.0 / step**2
        second[inside, inside] = -2.0 / step**2
        counts = weight > 0.0
        change = (second * slope)[counts]
        system += change.T @ (weight[counts, None] * change)
        right_side -= change.T @ (weight[counts] * (bend[counts] - change @ moves))
    return system, right_side


def _bounded_solution(system: Array, right_side: Array, low: Array, high: Array, steps: int) -> Array:
    """The solution `(n,)` of a positive definite system, or the nearest to it, by its own measure, between `low` and `high`.

    Projected Newton steps (Bertsekas 1982): values at a bound that would go beyond it are held, and the rest solved again.
    """
    values = np.clip(np.linalg.solve(system, right_side), low, high)
    held = np.zeros(len(values), dtype=bool)
    for _ in range(steps):
        rises = system @ values - right_side
        held, before = ((values <= low) & (rises > 0.0)) | ((values >= high) & (rises < 0.0)), held
        if np.array_equal(held, before):
            break
        rows = np.flatnonzero(~held)
        remaining = right_side[rows] - system[rows][:, held] @ values[held]
        values[rows] = np.clip(np.linalg.solve(system[np.ix_(rows, rows)], remaining), low[rows], high[rows])
    return values


def links_of(joints: Array) -> Array:
    """Lengths `(F, 2)` of the two links between joints `(F, 3, 3)`."""
    return magnitude(np.diff(joints, axis=1))
