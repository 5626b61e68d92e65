"""From a rough guess of handles down to those with which the tip drifts least.

Levenberg-Marquardt least squares on the linearised drift, and then, if the worst drift is a little above what is
allowed, least squares that weigh the worst samples more and more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask
from .bezier import bernstein, parameters_at
from .drift import Motion
from .indices import Indices
from .shapes import REACHES, SLOPES, STEP_PRECISION, THIRD, shape_values

# Handles reach over 5 to 90 per cent of their segment: shorter ones cannot be grabbed, longer ones make steep steps.
SHORTEST_REACH, LONGEST_REACH = 0.05, 0.9
# A handle that reaches less than so many samples, or leaves less than so many to the other end, bends the curve between
# samples, where nothing would see it. Segments of few samples have handles at thirds.
SEEN_REACH, SEEN_REST = 2.0, 4.0

# A fit looks at up to about twice so many samples of a segment; how well it did is always judged at all of them.
MOST_FITTED = 32

LEVELLING_STEPS = 4
# A least-squares step that takes less than this share off the cost ends the descent.
SMALLEST_GAIN = 0.01
# A worst drift above this after 0, 1, 2 ... least-squares steps ends the descent: of segments that turned out good, 1 in 100
# had been there, of the others most.
HOPES = (60.0, 50.0, 30.0, 15.0, 8.0, 4.0, 2.8, 2.0, 1.6, 1.6)
# Levelling can halve the worst drift; from further above it cannot succeed.
LEVELLING_HOPE = 1.7
# Aimed at, as a share of the tolerance: what the linearised drift leaves out must fit into the rest.
AIM = 0.98

# The error to this power weighs it: levelling minimises the norm of twice the power plus 2, near enough to the worst drift.
LEVELLING_POWER, LEAST_WEIGHT, LEVELLING_DAMPING = 1.0, 0.03, 1e-2

FIRST_DAMPING, LESS_DAMPING, MORE_DAMPING, MOST_DAMPING = 1e-3, 0.2, 8.0, 1e6
# Keeps equations solvable in which a parameter moves nothing, as the reach of a handle of slope 0 along a flat curve.
RIDGE = 1e-12


@dataclass(frozen=True, slots=True)
class _Trace:
    """Neighbouring segments of given shapes, followed sample by sample."""

    parameter: Array
    """(n, K) curve parameter."""
    basis: Array
    """(n, K, 4) Bernstein polynomials there."""
    control: Array
    """(n, 4, K) values of the segment's two keys and, between them, its two handles."""
    values: Array
    """(n, K) the curve."""
    error: Array
    """(n, K) the tip's first-order move as a share of the tolerance."""
    squares: Array
    """(n,) the square of its length."""


class Run:
    """One segment or a few neighbouring ones that are fitted together."""

    def __init__(self, motion: Motion, bounds: Sequence[int], free: Mask) -> None:
        """`bounds` are the S + 1 samples of the keys; `free : (S, 4)` says which numbers of a shape may change."""
        self.motion, self.bounds = motion, list(bounds)
        counts = np.diff(bounds)
        self.reaches = (
            np.clip(SEEN_REACH / counts, SHORTEST_REACH, THIRD)[:, None, None],
            np.clip(1.0 - SEEN_REST / counts, THIRD, LONGEST_REACH)[:, None, None],
        )
        self.spread = _spread(free)
        picked = [_picked(first, last) for first, last in pairwise(bounds)]
        samples = np.concatenate(picked)
        self.segment = np.repeat(np.arange(len(picked)), [len(each) for each in picked])
        starts, ends = np.array(bounds[:-1])[self.segment], np.array(bounds[1:])[self.segment]
        self.duration = (motion.times[ends] - motion.times[starts])[:, None]
        self.share = (motion.times[samples] - motion.times[starts])[:, None] / self.duration
        self.start, self.end = motion.values[starts], motion.values[ends]
        self.wanted, self.feeling = motion.values[samples], motion.feeling[samples]

    def fitted(self, shapes: Array) -> tuple[Array, list[float]]:
        """From the start `shapes : (S, 4, K)` the first found that keep the tolerance, or the best; and their worst drifts."""
        best, lowest, aim = shapes, np.inf, AIM
        for tried, peak in self._descent(shapes):
            if peak < lowest:
                best, lowest = tried, peak
            if peak <= aim:
                worst = self._worst(tried)
                if max(worst) <= 1.0:
                    return tried, worst
                # The linearised drift, or that at the samples looked at, was too low by this factor.
                aim = AIM * peak / max(worst)
        return best, self._worst(best)

    def _descent(self, shapes: Array) -> Iterator[tuple[Array, float]]:
        """Shapes and their worst linearised drift: down in the sum of squares first, then in the worst."""
        weights, damping = np.ones(len(self.wanted)), FIRST_DAMPING
        trace = self._trace(shapes, None)
        peak = self._peak(trace)
        yield shapes, peak
        for hope in HOPES:
            if peak > hope:
                return
            before = trace.squares.sum()
            shapes, trace, damping = self._step(shapes, trace, weights, damping)
            peak = self._peak(trace)
            yield shapes, peak
            if before - trace.squares.sum() < SMALLEST_GAIN * before:
                break
        for _ in range(LEVELLING_STEPS):
            if not 0.0 < peak <= LEVELLING_HOPE:
                return
            weights = (np.sqrt(trace.squares) / peak) ** LEVELLING_POWER + LEAST_WEIGHT
            shapes, trace, damping = self._step(shapes, trace, weights, max(damping, LEVELLING_DAMPING))
            peak = self._peak(trace)
            yield shapes, peak

    def _step(self, shapes: Array, trace: _Trace, weights: Array, damping: float) -> tuple[Array, _Trace, float]:
        """One Levenberg-Marquardt step down the weighted sum of squares; the same shapes where none goes down."""
        columns = self.spread.T @ self._slopes_of(shapes, trace)
        rows = (self.feeling * weights[:, None, None])[:, :, None, :] * columns[:, None, :, :]
        rows = rows.reshape(-1, columns.shape[1] * columns.shape[2])
        squares, down = rows.T @ rows, -((trace.error * weights[:, None]).ravel() @ rows)
        diagonal = np.diagonal(squares)
        ridge = RIDGE * diagonal.sum() + np.finfo(float).tiny
        before = weights**2 @ trace.squares
        while damping <= MOST_DAMPING:
            move = np.linalg.solve(squares + np.diag(damping * diagonal + ridge), down).reshape(columns.shape[1:])
            tried = shapes + (self.spread @ move).reshape(shapes.shape)
            tried[:, REACHES] = np.clip(tried[:, REACHES], *self.reaches)
            tried_trace = self._trace(tried, trace.parameter)
            if weights**2 @ tried_trace.squares < before:
                return tried, tried_trace, damping * LESS_DAMPING
            damping *= MORE_DAMPING
        return shapes, trace, FIRST_DAMPING

    def _trace(self, shapes: Array, guess: Array | None) -> _Trace:
        shape = shapes[self.segment]
        parameter = parameters_at(self.share, shape[:, 1], 1.0 - shape[:, 3], guess=guess, precision=STEP_PRECISION)
        basis = bernstein(parameter)
        control = np.empty_like(shape)
        control[:, 0], control[:, 3] = self.start, self.end
        control[:, 1] = self.start + shape[:, 0] * shape[:, 1] * self.duration
        control[:, 2] = self.end - shape[:, 2] * shape[:, 3] * self.duration
        values = np.einsum("nkb,nbk->nk", basis, control)
        error = np.einsum("nij,nj->ni", self.feeling, values - self.wanted)
        return _Trace(parameter, basis, control, values, error, np.einsum("ni,ni->n", error, error))

    def _slopes_of(self, shapes: Array, trace: _Trace) -> Array:
        """How the curve's values move with the numbers of the shapes: (n, S * 4, K).

        Moving a handle in time moves the parameter at which a frame is met; the value follows along the curve.
        """
        shape, parameter = shapes[self.segment], trace.parameter
        right, left, rest = trace.basis[..., 1], trace.basis[..., 2], 1.0 - parameter
        before, between, after = 3.0 * rest * rest, 6.0 * rest * parameter, 3.0 * parameter * parameter
        control = trace.control[:, 1:] - trace.control[:, :-1]
        speed = before * shape[:, 1] + between * (1.0 - shape[:, 1] - shape[:, 3]) + after * shape[:, 3]
        climb = (before * control[:, 0] + between * control[:, 1] + after * control[:, 2]) / speed
        own = np.empty_like(shape)
        own[:, 0] = right * shape[:, 1] * self.duration
        own[:, 1] = right * (shape[:, 0] * self.duration - climb)
        own[:, 2] = -left * shape[:, 3] * self.duration
        own[:, 3] = left * (climb - shape[:, 2] * self.duration)
        if len(shapes) == 1:
            return own
        columns = np.zeros((len(own), *shapes.shape))
        columns[np.arange(len(own)), self.segment] = own
        return columns.reshape(len(own), -1, own.shape[-1])

    def _peak(self, trace: _Trace) -> float:
        """The worst linearised drift."""
        return float(np.sqrt(trace.squares.max()))

    def _worst(self, shapes: Array) -> list[float]:
        """The true worst drift of each segment, over all its samples."""
        return [
            self.motion.worst(shape_values(self.motion, first, last, shape), first)
            for (first, last), shape in zip(pairwise(self.bounds), shapes, strict=True)
        ]


def _picked(first: int, last: int) -> Indices:
    """The samples between two keys that a fit looks at: all, or evenly spread ones."""
    step = max(1, (last - first) // MOST_FITTED)
    return np.arange(first + 1, last, step) if last - first > 1 else np.array([first])


def _spread(free: Mask) -> Array:
    """The matrix (S * 4, U) from the unknowns to the numbers of the shapes; neighbours have one slope at their key."""
    spread = np.eye(free.size)
    for segment in range(len(free) - 1):
        end, start = segment * 4 + SLOPES[1], segment * 4 + 4 + SLOPES[0]
        spread[start, end] = 1.0
        free = free.copy()
        free[segment + 1, SLOPES[0]] = False
    return spread[:, free.ravel()]
