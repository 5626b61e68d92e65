"""Fit Bezier segments to a motion so that the joints drift least.

At both keys of a segment the channels have exactly the motion's values. Only the handles are fitted, four numbers per channel:
the slope at either end, and the reach of either handle in time. Fitting the reach pays off: with handles at thirds (a cubic in
time) the same motion needs half as many keys again.

Levenberg-Marquardt least squares on the linearised drift start from a rough guess of the handles; if the worst drift ends
slightly above the tolerance, the worst samples are then weighted more and more (levelling). Many segments are fitted in one
batch: one by one, call overhead would exceed the work.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from ...records import replace
from ..array_types import Array, Indices, Mask
from .bezier import bernstein, parameters_at
from .drift import FINER, Motion

SLOPES, REACHES = (0, 2), (1, 3)
"""Rows of a shape `(4, K)`: slope at the start (value per frame), reach of the start handle (fraction of the segment's time),
slope at the end, reach of the end handle."""
THIRD = 1.0 / 3.0

STEP_PRECISION = 1e-8
"""Precision of the curve parameter, as a fraction of the segment: well below any tolerance."""


LONG_SEGMENT = 64
"""Samples above which a segment is judged at the original samples only: it is too smooth to stray unnoticed between them."""


MOST_JUDGED = 1 << 14
"""Samples judged at once: a couple of megabytes."""


def worst_drifts(motion: Motion, first: Indices, last: Indices, shapes: Array) -> Array:
    """Largest drift `(B,)` of each segment from sample `first` to `last : (B,)`, as a fraction of the tolerance.

    shapes : (B, 4, K)
    """
    samples = np.cumsum(last - first)
    parts = np.split(np.arange(len(first)), np.flatnonzero(np.diff(samples // MOST_JUDGED)) + 1)
    drifts = [_worst_drifts(motion, first[part], last[part], shapes[part]) for part in parts if len(part)]
    return np.concatenate(drifts) if drifts else np.empty(0)


def _worst_drifts(motion: Motion, first: Indices, last: Indices, shapes: Array) -> Array:
    stride = np.where(last - first > LONG_SEGMENT, FINER, 1)
    # Original samples have indices that `FINER` divides; those between are estimates.
    begin = first + np.where(stride == 1, 0, -first % FINER)
    counts = (last - begin) // stride + 1
    starts = np.cumsum(counts) - counts
    segment = np.repeat(np.arange(len(counts)), counts)
    indices = begin[segment] + (np.arange(len(segment)) - starts[segment]) * stride[segment]
    keys = motion.times[first], motion.times[last]
    share = ((motion.times[indices] - keys[0][segment]) / (keys[1] - keys[0])[segment])[:, None]
    control = controls(motion.values[first], motion.values[last], (keys[1] - keys[0])[:, None], shapes)
    reaches = shapes[:, REACHES][segment]
    basis = bernstein(parameters_at(share, reaches[:, 0], 1.0 - reaches[:, 1], precision=STEP_PRECISION))
    shares = motion.shares(np.einsum("nkb,nbk->nk", basis, control[segment]), indices)
    return np.maximum.reduceat(shares, starts)


def controls(start: Array, end: Array, duration: Array, shapes: Array) -> Array:
    """Control values `(..., 4, K)` of a segment: first key, its two handles, last key."""
    out, back = (shapes[..., slope, :] * shapes[..., reach, :] * duration for slope, reach in zip(SLOPES, REACHES, strict=True))
    return np.stack([start, start + out, end - back, end], axis=-2)


SHORTEST_REACH, LONGEST_REACH = 0.05, 0.9
"""Least and greatest reach of handles, as a fraction of the segment: shorter ones are hard to grab, longer ones too steep."""
SEEN_REACH, SEEN_REST = 2.0, 4.0
"""Least reach of a handle, and least rest of the segment beyond it, in samples: otherwise the curve would bend between samples
unnoticed. Segments with few samples have handles at thirds."""

MOST_FITTED = 16
"""A fit uses at most about twice this many samples of a segment; the result is always judged at all of them."""

RIDGE = 1e-12
"""Regularisation for parameters without effect, such as the reach of a handle with slope 0 along a flat curve."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Segments of given shapes, evaluated at the samples."""

    parameter: Array
    """`(B, n, K)` curve parameters."""
    away: Array
    """`(B, n, K)` residuals: the curve's values minus the motion's."""
    squares: Array
    """`(B, n, P)` squared linearised drifts of the points, as fractions of the tolerance."""

    @property
    def peaks(self) -> Array:
        """`(B,)` worst linearised drift of each fit."""
        return np.sqrt(self.squares.max(axis=(1, 2)))

    def some(self, rows: Array) -> "Trace":
        """The traces of some fits."""
        return Trace(self.parameter[rows], self.away[rows], self.squares[rows])

    def put(self, rows: Array, other: "Trace") -> None:
        """Replace the traces of some fits, in place."""
        self.parameter[rows], self.away[rows], self.squares[rows] = other.parameter, other.away, other.squares


@dataclass(frozen=True, slots=True)
class Fits:
    """A batch of B fits, each of S segments: one alone, or two that share the slope at their common key.

    All are padded to the number of samples n of the largest; padding samples have zero sensitivity.
    """

    motion: Motion
    bounds: Indices
    """`(B, S, 2)` sample indices of each segment's two keys."""
    free: Mask
    """`(B, S, 4)` rows of each shape that may change."""
    reaches: tuple[Array, Array]
    """`(B, S, 1, 1)` least and greatest reach."""
    segment: Indices
    """`(B, n)` index, among the S segments, of the segment of each sample."""
    share: Array
    """`(B, n, 1)` fraction of the segment's time at each sample."""
    duration: Array
    """`(B, n, 1)` duration of the segment in frames."""
    ends: tuple[Array, Array]
    """`(B, n, K)` values at the segment's first and at its last key."""
    goals: Array
    """`(B, n, K)` values of the motion."""
    feeling: Array
    """`(B, n, P, K, K)` linearised drift, see `Motion.felt`."""

    @classmethod
    def of(cls, motion: Motion, bounds: Indices, free: Mask) -> "Fits":
        """Set up fits between `bounds : (B, S, 2)` of the shape rows that are `free : (B, S, 4)`."""
        count, stride = looked_at(bounds)
        numbers = np.arange(count.sum(axis=1).max())
        segment = np.sum(numbers[None, :, None] >= np.cumsum(count, axis=1)[:, None, :], axis=-1)
        known = segment < bounds.shape[1]
        segment = np.where(known, segment, 0)
        rows = np.arange(len(bounds))[:, None]
        starts, stops = np.moveaxis(bounds[rows, segment], -1, 0)
        within = numbers - (np.cumsum(count, axis=1) - count)[rows, segment]
        samples = np.where(known, starts + (stops - starts > 1) + within * stride[rows, segment], starts)
        duration = motion.times[stops] - motion.times[starts]
        counts = (bounds[..., 1] - bounds[..., 0])[..., None, None]
        return cls(
            motion=motion,
            bounds=bounds,
            free=free,
            reaches=(
                np.clip(SEEN_REACH / counts, SHORTEST_REACH, THIRD),
                np.clip(1.0 - SEEN_REST / counts, THIRD, LONGEST_REACH),
            ),
            segment=segment,
            share=((motion.times[samples] - motion.times[starts]) / duration)[..., None],
            duration=duration[..., None],
            ends=(motion.values[starts], motion.values[stops]),
            goals=motion.values[samples],
            feeling=motion.felt(samples) * known[..., None, None, None],
        )

    def some(self, rows: Array) -> "Fits":
        """Some of the fits."""
        parts: dict[str, Any] = {
            entry.name: tuple(array[rows] for array in value) if isinstance(value, tuple) else value[rows]
            for entry in fields(self)
            if not isinstance(value := getattr(self, entry.name), Motion)
        }
        return replace(self, **parts)

    def start_shapes(self, slopes: Array) -> Array:
        """Initial shapes `(B, 1, 4, K)`, with handles at thirds.

        Free slopes come from linear least squares on the channel values, fixed ones from `slopes : (B, 1, 2, K)`. Without a
        sample between the keys the segment is a straight line.
        """
        basis, weight = bernstein(self.share[..., 0]), np.any(self.feeling != 0.0, axis=(-3, -2, -1))[..., None]
        start, end = self.ends
        straight = basis[..., :2].sum(axis=-1)[..., None] * start + basis[..., 2:].sum(axis=-1)[..., None] * end
        columns = np.stack([basis[..., 1], -basis[..., 2]], axis=-1) * (THIRD * self.duration) * weight
        given = ~self.free[:, 0, SLOPES]
        slopes = np.where(given[..., None], slopes[:, 0], 0.0)
        rest = (self.goals - straight) * weight - columns @ slopes
        columns = columns * ~given[:, None, :]
        squares = np.swapaxes(columns, -1, -2) @ columns
        # The least number keeps the system solvable where no sample counts, or both slopes are given.
        ridge = RIDGE * np.trace(squares, axis1=-2, axis2=-1) + np.finfo(float).tiny
        solved = np.linalg.solve(squares + ridge[:, None, None] * np.eye(2), np.swapaxes(columns, -1, -2) @ rest)
        line = (end[:, 0] - start[:, 0])[:, None] / self.duration[:, :1]
        alone = (self.bounds[:, 0, 1] - self.bounds[:, 0, 0] == 1)[:, None, None]
        solved = np.where(given[..., None], slopes, np.where(alone, line, solved))
        shapes = np.full((len(basis), 1, 4, start.shape[-1]), THIRD)
        shapes[:, 0, SLOPES] = solved
        return shapes

    def measured(self, rows: Array, shapes: Array) -> Array:
        """Exact worst drift `(b, S)` of each segment of some fits, over all its samples."""
        if not len(shapes):
            return np.empty(shapes.shape[:2])
        flat = self.bounds[rows].reshape(-1, 2)
        drifts = worst_drifts(self.motion, flat[:, 0], flat[:, 1], shapes.reshape(-1, *shapes.shape[2:]))
        return drifts.reshape(shapes.shape[:2])

    def trace(self, shapes: Array, guess: Array | None) -> Trace:
        """Evaluate segments of these shapes; `guess` are curve parameters `(B, n, K)` nearby."""
        shape = shapes[np.arange(len(shapes))[:, None], self.segment]
        parameter = parameters_at(self.share, shape[:, :, 1], 1.0 - shape[:, :, 3], guess=guess, precision=STEP_PRECISION)
        values = np.einsum("bnkc,bnck->bnk", bernstein(parameter), controls(*self.ends, self.duration, shape))
        away = values - self.goals
        moves = (self.feeling @ away[:, :, None, :, None])[..., 0]
        return Trace(parameter, away, np.maximum((moves @ away[..., None])[..., 0], 0.0))

    def slopes_of(self, shapes: Array, trace: Trace) -> Array:
        """Jacobian (B, n, S * 4, K) of the curve's values with respect to the free shape rows.

        Moving a handle in time also changes the parameter at a given frame, so that the value moves along the curve.
        """
        shape = shapes[np.arange(len(shapes))[:, None], self.segment]
        parameter, rest = trace.parameter, 1.0 - trace.parameter
        before, between, after = 3.0 * rest * rest, 6.0 * rest * parameter, 3.0 * parameter * parameter
        right, left = before * parameter, after * rest
        steps = np.diff(controls(*self.ends, self.duration, shape), axis=2)
        start_slope, start_reach, end_slope, end_reach = np.moveaxis(shape, 2, 0)
        # How fast time passes along the parameter, and how fast the value changes with time there.
        speed = before * start_reach + between * (1.0 - start_reach - end_reach) + after * end_reach
        climb = (before * steps[:, :, 0] + between * steps[:, :, 1] + after * steps[:, :, 2]) / speed
        columns = np.stack(
            [
                right * start_reach * self.duration,
                right * (start_slope * self.duration - climb),
                -left * end_reach * self.duration,
                left * (climb - end_slope * self.duration),
            ],
            axis=2,
        )
        if shapes.shape[1] > 1:
            in_second = (self.segment == 1)[..., None, None]
            columns = np.concatenate([np.where(in_second, 0.0, columns), np.where(in_second, columns, 0.0)], axis=2)
            # Both segments share the slope at their common key.
            columns[:, :, 2] += columns[:, :, 4]
            columns[:, :, 4] = 0.0
        return columns * self.free.reshape(len(columns), 1, -1, 1)


def looked_at(bounds: Indices) -> tuple[Indices, Indices]:
    """Number (...) of samples that a fit uses between two keys `bounds : (..., 2)`, and their stride (...).

    All samples if there are few, else evenly spaced ones.
    """
    length = bounds[..., 1] - bounds[..., 0]
    stride = np.maximum(1, length // MOST_FITTED)
    return np.maximum(1, -(-(length - 1) // stride)), stride


LEVELLING_STEPS = 4
SMALLEST_GAIN = 0.01
"""Least relative decrease of the cost by a least-squares step; a smaller one ends the first phase."""
HOPELESS_DRIFTS = np.array([60.0, 50.0, 30.0, 15.0, 8.0, 4.0, 2.8, 2.0, 1.6, 1.6])
"""Worst drift after 0, 1, 2 ... least-squares steps above which the descent is given up: 1 in 100 of the segments that turned
out good exceeded it, but most of the others."""
HOPELESS_LEVELLING = 1.7
"""Worst drift above which levelling is skipped: it halves the drift at most."""
TARGET_DRIFT = 0.98
"""Target of the linearised drift as a fraction of the tolerance; the rest is for its nonlinear part."""
SURELY_BAD = 3.0
"""Linearised drift above which a segment counts as bad without exact measurement."""

LEVELLING_POWER, LEAST_WEIGHT, LEVELLING_DAMPING = 1.0, 0.03, 1e-2
"""Exponent of the relative drift as a sample's weight, its least value, and the least damping while levelling. Levelling thus
minimises the norm of order 2 * power + 2, close enough to the maximum norm."""

FIRST_DAMPING, LESS_DAMPING, MORE_DAMPING, MOST_DAMPING = 1e-3, 0.2, 8.0, 1e4
TINY = np.finfo(float).tiny


def descended(fits: Fits, shapes: Array) -> tuple[Array, Array]:
    """Descend from initial `shapes : (B, S, 4, K)` to the first found that keep the tolerance, or the best found.

    Also returns the worst drift of each segment as a fraction of the tolerance, `(B, S)`: exact up to about 1, linearised where
    it is far above.
    """
    descent = _Descent(fits, shapes)
    while True:
        descent.judge()
        if not len(descent.rows):
            return descent.best, descent.worst
        descent.step()


@dataclass(slots=True)
class _State:
    """State of the b fits that are still active."""

    shapes: Array
    """`(b, S, 4, K)` current shapes."""
    trace: Trace
    lowest: Array
    """`(b,)` lowest linearised worst drift so far."""
    aim: Array
    """`(b,)` linearised worst drift at or below which the exact drift is measured."""
    damping: Array
    """`(b,)` Levenberg-Marquardt damping."""
    steps: Array
    """`(b,)` steps taken in this phase."""
    levelling: Mask
    """`(b,)` whether the second phase, levelling, has begun."""

    def some(self, rows: Array) -> "_State":
        """The state of some fits."""
        rest = (self.lowest, self.aim, self.damping, self.steps, self.levelling)
        return _State(self.shapes[rows], self.trace.some(rows), *(array[rows] for array in rest))


class _Descent:
    """A descent of many fits; fits that succeed or cannot succeed are dropped."""

    def __init__(self, fits: Fits, shapes: Array) -> None:
        count = len(shapes)
        self.best, self.worst = shapes.copy(), np.full(shapes.shape[:2], np.inf)
        self.fits, self.rows = fits, np.arange(count)
        whole = np.zeros(count, dtype=int)
        levels = (np.full(count, np.inf), np.full(count, TARGET_DRIFT), np.full(count, FIRST_DAMPING))
        self.now = _State(shapes, fits.trace(shapes, None), *levels, whole, whole.astype(bool))

    def judge(self) -> None:
        """Measure the fits that look good; drop those that are good and those that are hopeless."""
        now, rows = self.now, self.rows
        peak = now.trace.peaks
        better = peak < now.lowest
        self.best[rows[better]] = now.shapes[better]
        now.lowest = np.minimum(now.lowest, peak)
        near = peak <= now.aim
        measured = self.fits.measured(near, now.shapes[near])
        most = measured.max(axis=1)
        self.best[rows[near]], self.worst[rows[near]] = now.shapes[near], measured
        # Lower the aim by the factor by which the linearised drift, or its samples, underestimated the exact drift.
        now.aim[near] = TARGET_DRIFT * peak[near] / np.maximum(most, TINY)
        done = np.zeros(len(rows), dtype=bool)
        done[near] = most <= 1.0
        # Fits that have used up their steps enter the levelling phase.
        over = ~now.levelling & (now.steps >= len(HOPELESS_DRIFTS))
        now.levelling |= over
        now.steps[over] = 0
        levelled = (peak > HOPELESS_LEVELLING) | (now.steps >= LEVELLING_STEPS)
        too_far = peak > HOPELESS_DRIFTS[np.minimum(now.steps, len(HOPELESS_DRIFTS) - 1)]
        going = ~(done | np.where(now.levelling, levelled, too_far) | (peak == 0.0))
        if going.all():
            return
        # Of those that failed the worst drift is linearised if it is surely bad, else measured exactly.
        surely = ~going & ~done & (now.lowest > SURELY_BAD)
        self.worst[rows[surely]] = now.lowest[surely, None]
        unsure = ~going & ~done & ~surely & np.isinf(self.worst[rows].max(axis=1))
        self.worst[rows[unsure]] = self.fits.measured(unsure, self.best[rows[unsure]])
        self.fits, self.rows, self.now = self.fits.some(going), rows[going], now.some(going)

    def step(self) -> None:
        """Take one step in each fit; fits that gained little enter the levelling phase."""
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
    """One Levenberg-Marquardt step on the sum of squares weighted by `weights : (B, n, P)`; unchanged where no step helps."""
    squares, down = _equations(fits, shapes, trace, weights)
    diagonal = np.diagonal(squares, axis1=1, axis2=2)
    ridge = RIDGE * diagonal.sum(axis=1, keepdims=True) + TINY
    before = np.sum(weights * trace.squares, axis=(1, 2))
    shapes, damping, open_rows = shapes.copy(), damping.copy(), np.arange(len(shapes))
    while len(open_rows):
        added = (damping[open_rows, None] * diagonal[open_rows] + ridge[open_rows])[:, :, None] * np.eye(squares.shape[1])
        move = np.linalg.solve(squares[open_rows] + added, down[open_rows]).reshape(len(open_rows), *shapes.shape[1:])
        if shapes.shape[1] > 1:
            # The slope at the common key was solved for once, with the first segment.
            move[:, 1, 0] = move[:, 0, 2]
        tried = shapes[open_rows] + move
        tried[:, :, REACHES] = np.clip(tried[:, :, REACHES], *fits.reaches)
        trace_tried = fits.trace(tried, trace.parameter[open_rows])
        lower = np.sum(weights[open_rows] * trace_tried.squares, axis=(1, 2)) < before[open_rows]
        shapes[open_rows[lower]] = tried[lower]
        trace.put(open_rows[lower], trace_tried.some(lower))
        damping[open_rows] *= np.where(lower, LESS_DAMPING, MORE_DAMPING)
        stuck = damping[open_rows] > MOST_DAMPING
        # Nothing helps with these weights: levelling, which has others, begins afresh.
        damping[open_rows[stuck]] = FIRST_DAMPING
        again = ~lower & ~stuck
        open_rows, fits = open_rows[again], fits.some(again)
    return shapes, trace, damping


def _equations(fits: Fits, shapes: Array, trace: Trace, weights: Array) -> tuple[Array, Array]:
    """Normal equations of the step: matrix (B, S * 4 * K, S * 4 * K) and right-hand side (B, S * 4 * K, 1)."""
    columns = fits.slopes_of(shapes, trace)
    count, samples, unknowns, channels = columns.shape
    size = unknowns * channels
    squares, down = np.empty((count, size, size)), np.empty((count, size, 1))
    at_once = max(1, MOST_PRODUCTS // (samples * size * channels))
    for start in range(0, count, at_once):
        part = slice(start, start + at_once)
        block = columns[part]
        pull = np.einsum("bnp,bnpkl->bnkl", weights[part], fits.feeling[part])
        pulled = (block[..., None] * pull[:, :, None]).transpose(0, 4, 2, 3, 1)
        products = pulled.reshape(len(block), channels, size, samples) @ block.transpose(0, 3, 1, 2)
        squares[part] = products.transpose(0, 2, 3, 1).reshape(len(block), size, size)
        force = (pull @ trace.away[part][..., None])[..., 0]
        down[part] = -np.einsum("bnuk,bnk->buk", block, force).reshape(len(block), size, 1)
    return squares, down


MOST_PRODUCTS = 1 << 18
"""Numbers multiplied at once for the normal equations: a couple of megabytes."""

MOST_NUMBERS, MOST_FITS = 1 << 20, 1024
"""Greatest amount of linearised-drift numbers held at once, and greatest number of fits per batch."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Handles of all channels from one key to the next, with their worst drift."""

    first: int
    """Sample at which the segment starts."""
    last: int
    """Sample at which it ends."""
    shape: Array
    """`(4, K)` rows: start slope (value per frame), start reach (fraction of the segment's time), end slope, end reach."""
    worst: float
    """Largest drift as a fraction of the tolerance; the segment is good if this is at most 1."""

    @property
    def good(self) -> bool:
        """Whether all points stay within the tolerance along the whole segment."""
        return self.worst <= 1.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for a segment between two samples, with required slopes `(K,)` where given."""

    first: int
    last: int
    start_slope: Array | None = None
    end_slope: Array | None = None


Search: TypeAlias = Generator[Wanted, Segment, list[Segment]]
"""A coroutine that requests segments one after the other and returns the ones it has chosen."""


def together(motion: Motion, searches: Sequence[Search]) -> list[list[Segment]]:
    """Run searches in parallel, fitting their simultaneous requests in one batch; returns the segments chosen by each."""
    segments: list[list[Segment]] = [[] for _ in searches]
    requests: dict[int, Wanted] = {}

    def advance(number: int, segment: Segment | None) -> None:
        try:
            # A coroutine that has not begun yet takes no answer.
            requests[number] = next(searches[number]) if segment is None else searches[number].send(segment)
        except StopIteration as end:
            segments[number] = end.value
            requests.pop(number, None)

    for number in range(len(searches)):
        advance(number, None)
    while requests:
        numbers = list(requests)
        for number, segment in zip(numbers, fit_segments(motion, [requests[number] for number in numbers]), strict=True):
            advance(number, segment)
    return segments


def fit_segments(motion: Motion, requests: Sequence[Wanted]) -> list[Segment]:
    """Fit each requested segment: the first found that keeps the tolerance, or the best found.

    Without a sample between its two, the segment is a straight line.
    """
    channels = motion.values.channels
    free = np.ones((len(requests), 1, 4), dtype=bool)
    slopes = np.zeros((len(requests), 1, 2, channels))
    for number, request in enumerate(requests):
        start, end = request.start_slope, request.end_slope
        # The motion's own ends may have required slopes, as at the seam of a cycle.
        start = motion.ends[0] if start is None and request.first == 0 else start
        end = motion.ends[1] if end is None and request.last == len(motion.times) - 1 else end
        for side, slope in enumerate((start, end)):
            if slope is not None:
                free[number, 0, 2 * side], slopes[number, 0, side] = False, slope
    bounds = np.array([[(request.first, request.last)] for request in requests])
    return [row[0] for row in _fitted(motion, bounds, free, slopes)]


def fit_through(
    motion: Motion, pairs: Sequence[tuple[Segment, Segment]], held: Sequence[tuple[bool, bool]]
) -> list[tuple[Segment, Segment]]:
    """Refit pairs of neighbouring segments with one common slope at the key between them.

    `held` tells, for each pair, whether the slopes at the start of the left and at the end of the right segment are fixed because
    they are shared with a segment beyond.
    """
    free = np.ones((len(pairs), 2, 4), dtype=bool)
    free[:, 0, 0], free[:, 1, 2] = ~np.array(held).T
    shapes = np.stack([[left.shape, right.shape] for left, right in pairs])
    bounds = np.array([[(left.first, left.last), (right.first, right.last)] for left, right in pairs])
    durations = np.diff(motion.times[bounds], axis=-1)
    # The shorter segment determines the slope at the key better.
    common = (shapes[:, 0, 2] * durations[:, 1] + shapes[:, 1, 0] * durations[:, 0]) / durations.sum(axis=1)
    shapes[:, 0, 2] = shapes[:, 1, 0] = common
    return [(row[0], row[1]) for row in _fitted(motion, bounds, free, shapes[:, :, (0, 2)], start=shapes)]


def _fitted(motion: Motion, bounds: Array, free: Array, slopes: Array, start: Array | None = None) -> list[list[Segment]]:
    """Fit B groups of S segments: `bounds : (B, S, 2)` samples, `free : (B, S, 4)`, `slopes : (B, S, 2, K)`."""
    count, channels = len(bounds), motion.values.channels
    # A batch is as wide as its longest fit, so fits of similar lengths go together.
    longest_first = np.argsort(-(bounds[..., 1] - bounds[..., 0]).sum(axis=1), kind="stable")
    shapes, worst = np.empty((*bounds.shape[:2], 4, channels)), np.empty(bounds.shape[:2])
    fitted = 0
    while fitted < count:
        rows = longest_first[fitted : fitted + MOST_FITS]
        rows = rows[: max(1, MOST_NUMBERS // (int(looked_at(bounds[rows[0]])[0].sum()) * motion.feeling.shape[1] * channels**2))]
        fits = Fits.of(motion, bounds[rows], free[rows])
        first_shapes = fits.start_shapes(slopes[rows]) if start is None else start[rows]
        shapes[rows], worst[rows] = descended(fits, first_shapes)
        fitted += len(rows)
    return [
        [Segment(int(first), int(last), shapes[row, part], float(worst[row, part])) for part, (first, last) in enumerate(ends)]
        for row, ends in enumerate(bounds)
    ]


def still_segment(motion: Motion, first: int, last: int) -> Segment:
    """The flat segment between two samples between which the motion stands still."""
    return Segment(first, last, np.tile([[0.0], [THIRD]], (2, motion.values.channels)), 0.0)
