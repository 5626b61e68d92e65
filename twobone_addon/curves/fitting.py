"""Many Bezier segments at once, each laid through its tube so that it strays least.

A segment runs from key to key: there it has exactly the motion's values. What is fitted are the handles, four numbers:
how far in time either handle reaches, and its value. The reach is worth fitting: with handles at thirds (a cubic in
time) the same motion needs half as many keys again.

For given reaches the best values follow from linear least squares, so a grid of reaches is tried at once; the best of it
is refined by Gauss-Newton steps that weigh the worst places more and more.
"""

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .bezier import bernstein, parameters_at
from .indices import Indices
from .tubes import Tubes

# Handles reach over 5 to 90 per cent of their segment: shorter ones cannot be grabbed, longer ones make steep steps.
SHORTEST_REACH, LONGEST_REACH = 0.05, 0.9
THIRD = 1.0 / 3.0
REACHES = np.array([SHORTEST_REACH, 0.12, 0.22, THIRD, 0.45, 0.6, 0.75, LONGEST_REACH])
# A handle that reaches less than so many samples, or leaves less than so many to the other end, bends the curve between
# samples, where nothing would see it. Segments of few samples have handles at thirds.
SEEN_REACH, SEEN_REST = 2.0, 4.0
ROUNDING = 1e-9

# Places of a segment that a fit looks at; how well it did is judged at all samples.
PLACES = 24
SHARES = (np.arange(PLACES) + 0.5) / PLACES

# Refining: steps, and how much the worst place outweighs the best.
STEPS, LEAST_WEIGHT = 6, 0.03
FIRST_DAMPING, LESS_DAMPING, MORE_DAMPING, RIDGE = 1e-2, 0.3, 4.0, 1e-12
STEP_PRECISION, SHOWN_PRECISION = 1e-7, 1e-9
SLOWEST = 1e-9

# A fit that strays farther than this at the places looked at is bad without looking at the rest.
HOPELESS = 1.6

# Grid: first handle's reach, second's, and the Bernstein polynomials (G, PLACES) of the two handles and the end.
FIRST_REACH, SECOND_REACH = np.repeat(REACHES, len(REACHES)), np.tile(REACHES, len(REACHES))
FIRST, SECOND, END = np.moveaxis(
    bernstein(parameters_at(SHARES, FIRST_REACH[:, None], 1.0 - SECOND_REACH[:, None]))[..., 1:], -1, 0
)


@dataclass(frozen=True, slots=True)
class Segments:
    """B segments of rows of tubes."""

    row: Indices
    """(B,)"""
    first: Indices
    """(B,) samples at which they start."""
    last: Indices
    """(B,) samples at which they end."""

    def __getitem__(self, chosen: Indices) -> "Segments":
        """Some of them."""
        return Segments(self.row[chosen], self.first[chosen], self.last[chosen])


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the segments are to be at the places looked at, from their first key's value on."""

    duration: Array
    """(B, 1) frames."""
    climb: Array
    """(B, 1) from key to key."""
    share: Array
    """(B, S) of the duration."""
    value: Array
    """(B, S)"""
    weight: Array
    """(B, S)"""
    slopes: Array
    """(B, 2) given slopes at the start and at the end; NaN where free."""
    reaches: Array
    """(B, 2) shortest and longest handle."""


def fit(tubes: Tubes, segments: Segments, slopes: Array | None = None) -> tuple[Array, Array]:
    """Shapes (B, 4) that stray least, and how far they do, (B,): at most 1 inside the tube.

    A shape is the first handle's value (from the first key's on), its place (share of the time), and the second's.
    slopes : (B, 2) value per frame, prescribed at the start and at the end; NaN where free
    """
    slopes = np.full((len(segments.row), 2), np.nan) if slopes is None else slopes
    place = segments.first[:, None] + SHARES * (segments.last - segments.first)[:, None]
    rough = _from_grid(_wanted(tubes, segments, slopes, place))
    # What lies between two samples is good enough to begin with, but not for a tight tolerance.
    shapes, peaks = _refined(_wanted(tubes, segments, slopes, np.round(place)), rough)
    return shapes, _worst(tubes, segments, shapes, peaks)


def shown(times: Array, values: Array, segments: Segments, shapes: Array) -> tuple[Indices, Indices, Array]:
    """All samples of all segments one after the other: the segment, the sample and the curve's value, (n,) each.

    times : (N,); values : (R, N), the rows of which the segments are
    """
    counts = segments.last - segments.first + 1
    segment = np.repeat(np.arange(len(counts)), counts)
    sample = np.arange(counts.sum()) + np.repeat(segments.first - (np.cumsum(counts) - counts), counts)
    start = times[segments.first]
    share = (times[sample] - start[segment]) / (times[segments.last] - start)[segment]
    parameter = parameters_at(share, shapes[segment, 1], shapes[segment, 3], precision=SHOWN_PRECISION)
    base = values[segments.row, segments.first]
    ends = np.stack([shapes[:, 0], shapes[:, 2], values[segments.row, segments.last] - base], axis=-1)
    return segment, sample, base[segment] + np.einsum("nk,nk->n", bernstein(parameter)[:, 1:], ends[segment])


def strays(tubes: Tubes, segments: Segments, shapes: Array) -> Array:
    """How far the segments stray at all their samples, (B,)."""
    return _worst(tubes, segments, shapes, np.zeros(len(shapes)))


def _wanted(tubes: Tubes, segments: Segments, slopes: Array, place: Array) -> _Wanted:
    """What is wanted at places (B, S), which count samples."""
    counts = (segments.last - segments.first)[:, None]
    below = np.minimum(place.astype(np.intp), segments.last[:, None] - 1)
    part = place - below
    row = segments.row[:, None]

    def at(samples: Array) -> Array:
        return samples[row, below] * (1.0 - part) + samples[row, below + 1] * part

    start, end = tubes.times[segments.first][:, None], tubes.times[segments.last][:, None]
    times = tubes.times[below] * (1.0 - part) + tubes.times[below + 1] * part
    base = tubes.values[row, segments.first[:, None]]
    shortest = np.clip(SEEN_REACH / counts, SHORTEST_REACH, THIRD)
    longest = np.clip(1.0 - SEEN_REST / counts, THIRD, LONGEST_REACH)
    return _Wanted(
        duration=end - start,
        climb=tubes.values[row, segments.last[:, None]] - base,
        share=(times - start) / (end - start),
        value=at(tubes.values) + at(tubes.middle) - base,
        weight=1.0 / at(tubes.half),
        slopes=slopes,
        reaches=np.concatenate([shortest, longest], axis=1),
    )


def _from_grid(wanted: _Wanted) -> Array:
    """The best shapes (B, 4) with reaches of the grid, the handles' values by weighted least squares."""
    square = wanted.weight**2
    weighted = square * wanted.value
    first, both, second = square @ (FIRST * FIRST).T, square @ (FIRST * SECOND).T, square @ (SECOND * SECOND).T
    right_first = weighted @ FIRST.T - wanted.climb * (square @ (FIRST * END).T)
    right_second = weighted @ SECOND.T - wanted.climb * (square @ (SECOND * END).T)
    free = first * second - both * both
    one = (right_first * second - right_second * both) / free
    two = (first * right_second - both * right_first) / free
    given = ~np.isnan(wanted.slopes)
    if given.any():
        start, end = given[:, :1], given[:, 1:]
        fixed_one, fixed_two = _fixed(wanted, FIRST_REACH, SECOND_REACH)
        alone_one, alone_two = (right_first - both * fixed_two) / first, (right_second - both * fixed_one) / second
        one = np.where(start, fixed_one, np.where(end, alone_one, one))
        two = np.where(end, fixed_two, np.where(start, alone_two, two))
    strays_ = one[..., None] * FIRST + two[..., None] * SECOND + wanted.climb[..., None] * END - wanted.value[:, None]
    peaks = np.abs(strays_ * wanted.weight[:, None]).max(axis=-1)
    shortest, longest = wanted.reaches[:, :1] - ROUNDING, wanted.reaches[:, 1:] + ROUNDING
    unseen = (np.minimum(FIRST_REACH, SECOND_REACH) < shortest) | (np.maximum(FIRST_REACH, SECOND_REACH) > longest)
    best = np.where(unseen, np.inf, peaks).argmin(axis=1)
    each = np.arange(len(best))
    return np.stack([one[each, best], FIRST_REACH[best], two[each, best], 1.0 - SECOND_REACH[best]], axis=-1)


def _fixed(wanted: _Wanted, first_reach: Array, second_reach: Array) -> tuple[Array, Array]:
    """The handles' values where their slopes are given."""
    slopes = np.nan_to_num(wanted.slopes)
    return slopes[:, :1] * first_reach * wanted.duration, wanted.climb - slopes[:, 1:] * second_reach * wanted.duration


def _refined(wanted: _Wanted, shapes: Array) -> tuple[Array, Array]:
    """Better shapes (B, 4), and how far they stray at the places looked at, (B,)."""
    given = ~np.isnan(wanted.slopes)
    best, tried = shapes, shapes
    lowest, damping = np.full(len(shapes), np.inf), np.full(len(shapes), FIRST_DAMPING)
    parameter = None
    for step in range(STEPS + 1):
        parameter = parameters_at(wanted.share, tried[:, 1:2], tried[:, 3:4], guess=parameter, precision=STEP_PRECISION)
        basis = bernstein(parameter)
        value = tried[:, :1] * basis[..., 1] + tried[:, 2:3] * basis[..., 2] + wanted.climb * basis[..., 3]
        stray = (value - wanted.value) * wanted.weight
        peaks = np.abs(stray).max(axis=1)
        better = peaks < lowest
        best, lowest = np.where(better[:, None], tried, best), np.where(better, peaks, lowest)
        if step == STEPS:
            break
        damping = damping * np.where(better, LESS_DAMPING, MORE_DAMPING)
        tried = tried + _step(wanted, tried, (parameter, basis, stray), damping, given)
        # A step that led away is followed by a shorter one from the best place.
        tried = np.where(better[:, None], tried, best + 0.5 * (tried - best))
        tried = _allowed(wanted, tried, given)
    return best, lowest


def _step(wanted: _Wanted, shapes: Array, trace: tuple[Array, Array, Array], damping: Array, given: Array) -> Array:
    """A damped Gauss-Newton step (B, 4) down the weighted sum of squares."""
    parameter, basis, stray = trace
    rest = 1.0 - parameter
    level = np.abs(stray) / np.maximum(np.abs(stray).max(axis=1, keepdims=True), np.finfo(float).tiny) + LEAST_WEIGHT
    first, second = shapes[:, :2, None], shapes[:, 2:, None]
    before, between, after = 3.0 * rest * rest, 6.0 * rest * parameter, 3.0 * parameter * parameter
    speed = before * first[:, 1] + between * (second[:, 1] - first[:, 1]) + after * (1.0 - second[:, 1])
    climb = before * first[:, 0] + between * (second[:, 0] - first[:, 0]) + after * (wanted.climb - second[:, 0])
    # Moving a handle in time moves the parameter at which a frame is met; the value follows along the curve.
    slide = climb / np.maximum(speed, SLOWEST)
    one, two = basis[..., 1], basis[..., 2]
    slopes = np.nan_to_num(wanted.slopes) * wanted.duration
    rows = np.stack(
        [
            np.where(given[:, :1], 0.0, one),
            one * (slopes[:, :1] - slide),
            np.where(given[:, 1:], 0.0, two),
            two * (slopes[:, 1:] - slide),
        ],
        axis=-1,
    )
    rows *= (wanted.weight * level)[..., None]
    squares = np.swapaxes(rows, 1, 2) @ rows
    diagonal = np.einsum("bii->bi", squares)
    ridge = RIDGE * diagonal.sum(axis=1, keepdims=True) + np.finfo(float).tiny
    squares = squares + (damping[:, None] * diagonal + ridge)[:, :, None] * np.eye(4)
    down = -np.einsum("bsk,bs->bk", rows, stray * level)
    return np.linalg.solve(squares, down[..., None])[..., 0]


def _allowed(wanted: _Wanted, shapes: Array, given: Array) -> Array:
    """The shapes with handles of allowed reach and given slopes."""
    shortest, longest = wanted.reaches.T
    first, second = np.clip(shapes[:, 1], shortest, longest), np.clip(1.0 - shapes[:, 3], shortest, longest)
    one, two = _fixed(wanted, first[:, None], second[:, None])
    return np.stack(
        [
            np.where(given[:, 0], one[:, 0], shapes[:, 0]),
            first,
            np.where(given[:, 1], two[:, 0], shapes[:, 2]),
            1.0 - second,
        ],
        axis=-1,
    )


def _worst(tubes: Tubes, segments: Segments, shapes: Array, peaks: Array) -> Array:
    """How far the segments stray at all samples, where `peaks` leaves hope."""
    worst = np.where(np.isfinite(peaks), peaks, np.inf)
    hopeful = np.flatnonzero(worst <= HOPELESS)
    if len(hopeful):
        some = segments[hopeful]
        segment, sample, value = shown(tubes.times, tubes.values, some, shapes[hopeful])
        row = some.row[segment]
        stray = np.abs(value - tubes.values[row, sample] - tubes.middle[row, sample]) / tubes.half[row, sample]
        worst[hopeful] = np.maximum.reduceat(stray, np.flatnonzero(np.diff(segment, prepend=-1)))
    return worst
