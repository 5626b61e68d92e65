"""From a rough guess of handles down to those with which the joints drift least, for many segments at once.

Levenberg-Marquardt least squares on the linearised drift, and then, if the worst drift is a little above what is
allowed, least squares that weigh the worst samples more and more.
"""

from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Mask
from .fits import RIDGE, Fits, Trace
from .shapes import REACHES

LEVELLING_STEPS = 4
SMALLEST_GAIN = 0.01
"""A least-squares step that takes less than this share off the cost ends the descent."""
HOPES = np.array([60.0, 50.0, 30.0, 15.0, 8.0, 4.0, 2.8, 2.0, 1.6, 1.6])
"""A worst drift above this after 0, 1, 2 ... least-squares steps ends the descent: of segments that turned out good, 1 in 100
had been there, of the others most."""
LEVELLING_HOPE = 1.7
"""Levelling at most halves the worst drift, so it is skipped above this."""
AIM = 0.98
"""Aimed at, as a share of the tolerance: what the linearised drift leaves out must fit into the rest."""
SURELY_BAD = 3.0
"""A linearised drift above this is bad enough without measuring."""

LEVELLING_POWER, LEAST_WEIGHT, LEVELLING_DAMPING = 1.0, 0.03, 1e-2
"""The error to this power weighs it: levelling minimises the norm of twice the power plus 2, near enough to the worst drift."""

FIRST_DAMPING, LESS_DAMPING, MORE_DAMPING, MOST_DAMPING = 1e-3, 0.2, 8.0, 1e4
TINY = np.finfo(float).tiny


def descended(fits: Fits, shapes: Array) -> tuple[Array, Array]:
    """From the start `shapes : (B, S, 4, K)` the first found that keep the tolerance, or the best found.

    Beside them how much of the tolerance each segment needs, `(B, S)`: measured where that is at most about 1, at first
    order where it is far above.
    """
    descent = _Descent(fits, shapes)
    while True:
        descent.judge()
        if not len(descent.rows):
            return descent.best, descent.worst
        descent.step()


@dataclass(slots=True)
class _Found:
    """What is remembered of each of b fits that go on."""

    shapes: Array
    """`(b, S, 4, K)`"""
    trace: Trace
    lowest: Array
    """`(b,)` lowest peak so far."""
    aim: Array
    """`(b,)` peak at which it is worth measuring."""
    damping: Array
    """`(b,)`"""
    steps: Array
    """`(b,)` taken in this phase."""
    levelling: Mask
    """`(b,)` whether the second phase has begun."""

    def some(self, rows: Array) -> "_Found":
        """Those of some fits."""
        rest = (self.lowest, self.aim, self.damping, self.steps, self.levelling)
        return _Found(self.shapes[rows], self.trace.some(rows), *(each[rows] for each in rest))


class _Descent:
    """Fits on their way down; those that have arrived, or cannot, are left behind."""

    def __init__(self, fits: Fits, shapes: Array) -> None:
        count = len(shapes)
        self.best, self.worst = shapes.copy(), np.full(shapes.shape[:2], np.inf)
        self.fits, self.rows = fits, np.arange(count)
        whole = np.zeros(count, dtype=int)
        levels = (np.full(count, np.inf), np.full(count, AIM), np.full(count, FIRST_DAMPING))
        self.now = _Found(shapes, fits.trace(shapes, None), *levels, whole, whole.astype(bool))

    def judge(self) -> None:
        """Measure those that look good, and leave behind those that are, and those without hope."""
        now, rows = self.now, self.rows
        peak = now.trace.peaks
        better = peak < now.lowest
        self.best[rows[better]] = now.shapes[better]
        now.lowest = np.minimum(now.lowest, peak)
        near = peak <= now.aim
        measured = self.fits.measured(near, now.shapes[near])
        most = measured.max(axis=1)
        self.best[rows[near]], self.worst[rows[near]] = now.shapes[near], measured
        # The linearised drift, or that at the samples looked at, was too low by this factor.
        now.aim[near] = AIM * peak[near] / np.maximum(most, TINY)
        done = np.zeros(len(rows), dtype=bool)
        done[near] = most <= 1.0
        going = ~(done | self._hopeless(peak) | (peak == 0.0))
        if not going.all():
            self._settle(~going & ~done)
            self.fits, self.rows, self.now = self.fits.some(going), rows[going], now.some(going)

    def _hopeless(self, peak: Array) -> Mask:
        """Which fits `(b,)` will not become good any more; those that have had all their steps are levelled from now on."""
        now = self.now
        over = ~now.levelling & (now.steps >= len(HOPES))
        now.levelling |= over
        now.steps[over] = 0
        levelled = (peak > LEVELLING_HOPE) | (now.steps >= LEVELLING_STEPS)
        return np.where(now.levelling, levelled, peak > HOPES[np.minimum(now.steps, len(HOPES) - 1)])

    def _settle(self, which: Mask) -> None:
        """Say of fits that did not succeed how bad their best shapes are: measured where it may be little."""
        surely = which & (self.now.lowest > SURELY_BAD)
        self.worst[self.rows[surely]] = self.now.lowest[surely, None]
        unsure = which & ~surely & np.isinf(self.worst[self.rows].max(axis=1))
        self.worst[self.rows[unsure]] = self.fits.measured(unsure, self.best[self.rows[unsure]])

    def step(self) -> None:
        """Let each take one step down; one that gained little has its worst samples levelled from now on."""
        now = self.now
        peak = np.maximum(now.trace.peaks, TINY)[:, None, None]
        heavy = (np.sqrt(now.trace.squares) / peak) ** LEVELLING_POWER + LEAST_WEIGHT
        weights = np.where(now.levelling[:, None, None], heavy, 1.0)
        now.damping = np.where(now.levelling, np.maximum(now.damping, LEVELLING_DAMPING), now.damping)
        before = now.trace.squares.sum(axis=(1, 2))
        now.shapes, now.trace, now.damping = lowered(self.fits, now.shapes, now.trace, weights**2, now.damping)
        now.steps += 1
        slow = ~now.levelling & (before - now.trace.squares.sum(axis=(1, 2)) < SMALLEST_GAIN * before)
        now.levelling |= slow
        now.steps[slow] = 0


def lowered(fits: Fits, shapes: Array, trace: Trace, weights: Array, damping: Array) -> tuple[Array, Trace, Array]:
    """One Levenberg-Marquardt step down the sum of squares weighed by `weights : (B, n, P)`; the same where none goes down."""
    squares, down = _equations(fits, shapes, trace, weights)
    diagonal = np.diagonal(squares, axis1=1, axis2=2)
    ridge = RIDGE * diagonal.sum(axis=1, keepdims=True) + TINY
    before = np.sum(weights * trace.squares, axis=(1, 2))
    shapes, damping, left = shapes.copy(), damping.copy(), np.arange(len(shapes))
    while len(left):
        added = (damping[left, None] * diagonal[left] + ridge[left])[:, :, None] * np.eye(squares.shape[1])
        move = np.linalg.solve(squares[left] + added, down[left]).reshape(len(left), *shapes.shape[1:])
        if shapes.shape[1] > 1:
            move[:, 1, 0] = move[:, 0, 2]
        tried = shapes[left] + move
        tried[:, :, REACHES] = np.clip(tried[:, :, REACHES], *fits.reaches)
        trace_tried = fits.trace(tried, trace.parameter[left])
        lower = np.sum(weights[left] * trace_tried.squares, axis=(1, 2)) < before[left]
        shapes[left[lower]] = tried[lower]
        trace.put(left[lower], trace_tried.some(lower))
        damping[left] *= np.where(lower, LESS_DAMPING, MORE_DAMPING)
        stuck = damping[left] > MOST_DAMPING
        damping[left[stuck]] = FIRST_DAMPING
        again = ~lower & ~stuck
        left, fits = left[again], fits.some(again)
    return shapes, trace, damping


def _equations(fits: Fits, shapes: Array, trace: Trace, weights: Array) -> tuple[Array, Array]:
    """The normal equations of the step: (B, S * 4 * K, S * 4 * K), and (B, S * 4 * K, 1)."""
    columns = fits.slopes_of(shapes, trace)
    count, samples, unknowns, channels = columns.shape
    pull = np.einsum("bnp,bnpkl->bnkl", weights, fits.feeling)
    pulled = (columns[..., None] * pull[:, :, None]).transpose(0, 4, 2, 3, 1)
    squares = pulled.reshape(count, channels, unknowns * channels, samples) @ columns.transpose(0, 3, 1, 2)
    size = unknowns * channels
    force = (pull @ trace.away[..., None])[..., 0]
    down = -np.einsum("bnuk,bnk->buk", columns, force).reshape(count, size, 1)
    return squares.transpose(0, 2, 3, 1).reshape(count, size, size), down
