"""Segments that are fitted, sample by sample: where their curves run, how far the joints stray, and what would change it."""

from dataclasses import dataclass, fields, replace

import numpy as np

from ..array_types import Array, Indices, Mask
from .bezier import bernstein, parameters_at
from .drift import FINER, Motion

SLOPES, REACHES = (0, 2), (1, 3)
"""A shape is `(4, K)`: slope at the start (value per frame), reach of the handle there (share of the segment's time), and
the same at the end."""
THIRD = 1.0 / 3.0

STEP_PRECISION = 1e-8
"""The curve parameter is needed to a share of the segment well below any tolerance."""


LONG = 64
"""A segment of more samples than this is judged at those that were given: between them it is too smooth to stray unseen."""


def worst_drifts(motion: Motion, first: Indices, last: Indices, shapes: Array) -> Array:
    """The largest drift `(B,)` of each segment from sample `first` to `last : (B,)`, as a share of the tolerance.

    shapes : (B, 4, K)
    """
    if not len(first):
        return np.empty(0)
    stride = np.where(last - first > LONG, FINER, 1)
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
    """Values `(..., 4, K)` of a segment's two keys and, between them, its two handles."""
    out, back = (shapes[..., slope, :] * shapes[..., reach, :] * duration for slope, reach in zip(SLOPES, REACHES, strict=True))
    return np.stack([start, start + out, end - back, end], axis=-2)


SHORTEST_REACH, LONGEST_REACH = 0.05, 0.9
"""Handles reach over 5 to 90 per cent of their segment: shorter ones cannot be grabbed, longer ones make steep steps."""
SEEN_REACH, SEEN_REST = 2.0, 4.0
"""A handle that reaches less than so many samples, or leaves less than so many to the other end, bends the curve between
samples, where nothing would see it. Segments of few samples have handles at thirds."""

MOST_FITTED = 16
"""A fit looks at up to about twice so many samples of a segment; how well it did is always judged at all of them."""

RIDGE = 1e-12
"""Keeps equations solvable in which a parameter moves nothing, as the reach of a handle of slope 0 along a flat curve."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Segments of given shapes, followed sample by sample."""

    parameter: Array
    """`(B, n, K)` curve parameter."""
    away: Array
    """`(B, n, K)` the curve's values less those it should have."""
    squares: Array
    """`(B, n, P)` squares of the points' first-order moves, as shares of the tolerance."""

    @property
    def peaks(self) -> Array:
        """`(B,)` the worst linearised drift."""
        return np.sqrt(self.squares.max(axis=(1, 2)))

    def some(self, rows: Array) -> "Trace":
        """Those of some fits."""
        return Trace(self.parameter[rows], self.away[rows], self.squares[rows])

    def put(self, rows: Array, other: "Trace") -> None:
        """Replace those of some fits."""
        self.parameter[rows], self.away[rows], self.squares[rows] = other.parameter, other.away, other.squares


@dataclass(frozen=True, slots=True)
class Fits:
    """B fits, each of S segments: one alone, or two that meet at a key with one slope.

    All have as many samples as the one with the most; those that are not its own feel nothing.
    """

    motion: Motion
    bounds: Indices
    """`(B, S, 2)` samples of the keys."""
    free: Mask
    """`(B, S, 4)` which numbers of a shape may change."""
    reaches: tuple[Array, Array]
    """`(B, S, 1, 1)` shortest and longest reach."""
    segment: Indices
    """`(B, n)` which of the S segments a sample is in."""
    share: Array
    """`(B, n, 1)` share of the segment's time."""
    duration: Array
    """`(B, n, 1)`"""
    ends: tuple[Array, Array]
    """`(B, n, K)` values at the segment's two keys."""
    wanted: Array
    """`(B, n, K)`"""
    feeling: Array
    """`(B, n, P, K, K)`"""

    @classmethod
    def of(cls, motion: Motion, bounds: Indices, free: Mask) -> "Fits":
        """Fits between `bounds : (B, S, 2)` of the numbers that are `free : (B, S, 4)`."""
        count, stride = looked_at(bounds)
        place = np.arange(count.sum(axis=1).max())
        segment = np.sum(place[None, :, None] >= np.cumsum(count, axis=1)[:, None, :], axis=-1)
        known = segment < bounds.shape[1]
        segment = np.where(known, segment, 0)
        rows = np.arange(len(bounds))[:, None]
        starts, stops = np.moveaxis(bounds[rows, segment], -1, 0)
        within = place - (np.cumsum(count, axis=1) - count)[rows, segment]
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
            wanted=motion.values[samples],
            feeling=motion.felt(samples) * known[..., None, None, None],
        )

    def some(self, rows: Array) -> "Fits":
        """Some of the fits."""
        parts = {
            entry.name: tuple(each[rows] for each in value) if isinstance(value, tuple) else value[rows]
            for entry in fields(self)
            if not isinstance(value := getattr(self, entry.name), Motion)
        }
        return replace(self, **parts)

    def start_shapes(self, slopes: Array) -> Array:
        """Shapes `(B, 1, 4, K)` with handles at thirds.

        The free slopes by plain least squares in the channels: linear, so at once; the others as in `slopes : (B, 1, 2, K)`.
        Where there is no sample between the keys, a straight line.
        """
        basis, weight = bernstein(self.share[..., 0]), np.any(self.feeling != 0.0, axis=(-3, -2, -1))[..., None]
        start, end = self.ends
        straight = basis[..., :2].sum(axis=-1)[..., None] * start + basis[..., 2:].sum(axis=-1)[..., None] * end
        columns = np.stack([basis[..., 1], -basis[..., 2]], axis=-1) * (THIRD * self.duration) * weight
        given = ~self.free[:, 0, SLOPES]
        slopes = np.where(given[..., None], slopes[:, 0], 0.0)
        rest = (self.wanted - straight) * weight - columns @ slopes
        columns = columns * ~given[:, None, :]
        squares = np.swapaxes(columns, -1, -2) @ columns
        ridge = RIDGE * np.trace(squares, axis1=-2, axis2=-1) + np.finfo(float).tiny
        found = np.linalg.solve(squares + ridge[:, None, None] * np.eye(2), np.swapaxes(columns, -1, -2) @ rest)
        line = (end[:, 0] - start[:, 0])[:, None] / self.duration[:, :1]
        alone = (self.bounds[:, 0, 1] - self.bounds[:, 0, 0] == 1)[:, None, None]
        found = np.where(given[..., None], slopes, np.where(alone, line, found))
        shapes = np.full((len(basis), 1, 4, start.shape[-1]), THIRD)
        shapes[:, 0, SLOPES] = found
        return shapes

    def measured(self, rows: Array, shapes: Array) -> Array:
        """The true worst drift `(b, S)` of each segment of some fits, over all its samples."""
        if not len(shapes):
            return np.empty(shapes.shape[:2])
        flat = self.bounds[rows].reshape(-1, 2)
        found = worst_drifts(self.motion, flat[:, 0], flat[:, 1], shapes.reshape(-1, *shapes.shape[2:]))
        return found.reshape(shapes.shape[:2])

    def trace(self, shapes: Array, guess: Array | None) -> Trace:
        """Follow segments of these shapes; `guess` is a parameter nearby."""
        shape = shapes[np.arange(len(shapes))[:, None], self.segment]
        parameter = parameters_at(self.share, shape[:, :, 1], 1.0 - shape[:, :, 3], guess=guess, precision=STEP_PRECISION)
        values = np.einsum("bnkc,bnck->bnk", bernstein(parameter), controls(*self.ends, self.duration, shape))
        away = values - self.wanted
        moves = (self.feeling @ away[:, :, None, :, None])[..., 0]
        return Trace(parameter, away, np.maximum((moves @ away[..., None])[..., 0], 0.0))

    def slopes_of(self, shapes: Array, trace: Trace) -> Array:
        """How the curve's values move with the free numbers of the shapes: (B, n, S * 4, K).

        Moving a handle in time moves the parameter at which a frame is met; the value follows along the curve.
        """
        shape = shapes[np.arange(len(shapes))[:, None], self.segment]
        parameter, rest = trace.parameter, 1.0 - trace.parameter
        before, between, after = 3.0 * rest * rest, 6.0 * rest * parameter, 3.0 * parameter * parameter
        right, left = before * parameter, after * rest
        steps = np.diff(controls(*self.ends, self.duration, shape), axis=2)
        start_slope, start_reach, end_slope, end_reach = np.moveaxis(shape, 2, 0)
        speed = before * start_reach + between * (1.0 - start_reach - end_reach) + after * end_reach
        climb = (before * steps[:, :, 0] + between * steps[:, :, 1] + after * steps[:, :, 2]) / speed
        own = np.stack(
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
            own = np.concatenate([np.where(in_second, 0.0, own), np.where(in_second, own, 0.0)], axis=2)
            # Neighbours have one slope at their key.
            own[:, :, 2] += own[:, :, 4]
            own[:, :, 4] = 0.0
        return own * self.free.reshape(len(own), 1, -1, 1)


def looked_at(bounds: Indices) -> tuple[Indices, Indices]:
    """How many samples (...) a fit looks at between two keys `bounds : (..., 2)`, and how far apart.

    All of them, or evenly spread ones.
    """
    length = bounds[..., 1] - bounds[..., 0]
    stride = np.maximum(1, length // MOST_FITTED)
    return np.maximum(1, -(-(length - 1) // stride)), stride
