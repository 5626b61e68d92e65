"""Bezier segments laid through a motion so that the tip drifts least.

A segment runs from pose to pose: at its two keys the channels have exactly the motion's values. What is fitted are the
handles, four numbers for each channel: the slope at either end, and how far in time either handle reaches. The reach is
worth fitting: with handles at thirds (a cubic in time) the same motion needs half as many keys again.

Fitting is Levenberg-Marquardt least squares on the linearised drift, and then, if the worst drift is a little above
what is allowed, least squares that weigh the worst samples more and more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..array_types import Array, Mask
from .bezier import bernstein, parameters_at
from .drift import Motion
from .indices import Indices

# Handles reach over 5 to 90 per cent of their segment: shorter ones cannot be grabbed, longer ones make steep steps.
SHORTEST_REACH, LONGEST_REACH = 0.05, 0.9
# A handle that reaches less than so many samples, or leaves less than so many to the other end, bends the curve between
# samples, where nothing would see it. Segments of few samples have handles at thirds.
SEEN_REACH, SEEN_REST = 2.0, 4.0
THIRD = 1.0 / 3.0

# The curve parameter is needed to a share of the segment well below any tolerance: the next step corrects the rest.
STEP_PRECISION = 1e-8

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

SLOPES, REACHES = (0, 2), (1, 3)


@dataclass(frozen=True, slots=True)
class Segment:
    """The handles of all channels from one key to the next, and how well they do."""

    first: int
    """Sample at which the segment starts."""
    last: int
    """Sample at which it ends."""
    shape: Array
    """(4, K): slope at the start (value per frame), reach of the handle there (share of the segment's time); at the end."""
    worst: float
    """Largest drift as a share of the tolerance; the segment is good if this is at most 1."""

    @property
    def good(self) -> bool:
        """Whether the tip stays within the tolerance all along the segment."""
        return self.worst <= 1.0


def fit_segment(motion: Motion, first: int, last: int, *, slopes: Sequence[Array | None] = (None, None)) -> Segment:
    """The first segment found that keeps the tolerance between two samples, or the best one found.

    `slopes` prescribes the slopes (K,) at the start and at the end. Where there is no sample between the two, a
    straight line.
    """
    run = _Run(motion, (first, last), free=np.array([[slopes[0] is None, True, slopes[1] is None, True]]))
    shape = _thirds(motion, first, last, slopes)
    return run.fitted(shape[None])[0]


def fit_through(motion: Motion, left: Segment, right: Segment, *, held: tuple[bool, bool]) -> tuple[Segment, Segment]:
    """The two segments fitted anew with one common slope at the key between them.

    `held` says whether the slopes at the start of `left` and at the end of `right` must stay, because they are shared
    with a segment beyond.
    """
    free = np.ones((2, 4), dtype=bool)
    free[0, 0], free[1, 2] = not held[0], not held[1]
    run = _Run(motion, (left.first, left.last, right.last), free=free)
    shapes = np.stack([left.shape, right.shape])
    durations = np.diff(motion.times[[left.first, left.last, right.last]])
    # The shorter segment knows the slope at the key better.
    common = (shapes[0, 2] * durations[1] + shapes[1, 0] * durations[0]) / durations.sum()
    shapes[0, 2] = shapes[1, 0] = common
    first, second = run.fitted(shapes)
    return first, second


def still_segment(motion: Motion, first: int, last: int) -> Segment:
    """The flat segment between two samples that have the same values."""
    channels = motion.values.shape[1]
    shape = np.tile([[0.0], [THIRD]], (2, channels))
    return Segment(first, last, shape, motion.worst(np.repeat(motion.values[[first]], last + 1 - first, axis=0), first))


def _thirds(motion: Motion, first: int, last: int, slopes: Sequence[Array | None]) -> Array:
    """A shape (4, K) with handles at thirds, the free slopes by plain least squares in the channels: linear, so at once."""
    times, values = motion.times[first : last + 1], motion.values[first : last + 1]
    duration = times[-1] - times[0]
    basis = bernstein((times - times[0]) / duration)
    rest = values - basis[:, :2].sum(axis=1)[:, None] * values[0] - basis[:, 2:].sum(axis=1)[:, None] * values[-1]
    columns = np.stack([basis[:, 1], -basis[:, 2]], axis=-1) * (THIRD * duration)
    shape = np.full((4, values.shape[1]), THIRD)
    for place, column, slope in zip(SLOPES, columns.T, slopes, strict=True):
        if slope is not None:
            shape[place] = slope
            rest = rest - column[:, None] * slope
    free = [index for index, slope in enumerate(slopes) if slope is None]
    if last - first == 1:
        shape[[SLOPES[index] for index in free]] = (values[-1] - values[0]) / duration
    elif free:
        solution = np.linalg.lstsq(columns[:, free], rest, rcond=None)[0]
        shape[[SLOPES[index] for index in free]] = solution
    return shape


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


class _Run:
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

    def fitted(self, shapes: Array) -> tuple[Segment, ...]:
        """Segments from the start `shapes : (S, 4, K)`: the first found that keep the tolerance, or the best found."""
        best, lowest, aim = shapes, np.inf, AIM
        for tried, peak in self._descent(shapes):
            if peak < lowest:
                best, lowest = tried, peak
            if peak <= aim:
                segments = self._segments(tried)
                worst = max(segment.worst for segment in segments)
                if worst <= 1.0:
                    return segments
                # The linearised drift, or that at the samples looked at, was too low by this factor.
                aim = AIM * peak / worst
        return self._segments(best)

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
            if peak > LEVELLING_HOPE:
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

    def _segments(self, shapes: Array) -> tuple[Segment, ...]:
        return tuple(
            Segment(first, last, shape, self.motion.worst(_values(self.motion, first, last, shape), first))
            for (first, last), shape in zip(pairwise(self.bounds), shapes, strict=True)
        )


def _picked(first: int, last: int) -> Indices:
    """The samples between two keys that a fit looks at: all, or evenly spread ones."""
    step = max(1, (last - first) // MOST_FITTED)
    return np.arange(first + 1, last, step) if last - first > 1 else np.array([first])


def _values(motion: Motion, first: int, last: int, shape: Array) -> Array:
    """The values (n, K) of a segment at all samples from its first to its last."""
    times, start, end = motion.times[first : last + 1, None], motion.values[first], motion.values[last]
    duration = times[-1] - times[0]
    basis = bernstein(parameters_at((times - times[0]) / duration, shape[1], 1.0 - shape[3], precision=STEP_PRECISION))
    control = np.stack([start, start + shape[0] * shape[1] * duration, end - shape[2] * shape[3] * duration, end])
    return np.einsum("nkb,bk->nk", basis, control)


def _spread(free: Mask) -> Array:
    """The matrix (S * 4, U) from the unknowns to the numbers of the shapes; neighbours have one slope at their key."""
    spread = np.eye(free.size)
    for segment in range(len(free) - 1):
        end, start = segment * 4 + SLOPES[1], segment * 4 + 4 + SLOPES[0]
        spread[start, end] = 1.0
        free = free.copy()
        free[segment + 1, SLOPES[0]] = False
    return spread[:, free.ravel()]
