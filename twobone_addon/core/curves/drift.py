"""How far the joints stray when the channels do: measured at samples and between them, and linearised."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..array_types import Array, Indices

Drift: TypeAlias = Callable[[Array, Indices], Array]
"""`drift(values, indices)` of `(M, K)` and `(M,)` gives `(M,)` or `(M, P)`: distances of the tip, or of P points such as tip
and middle joint, in world units, between the pose of these channel values and the motion's own pose at the samples of these
indices. Must be 0 for the motion's own values."""

FINER = 2
"""Samples of `with_halves` for each one of the motion."""

MOST_AT_ONCE = 1 << 11
"""So many samples are worked on at once: what is in between stays in the processor's cache, however long the motion."""

CENTRAL = np.array([-1.0, 9.0, 9.0, -1.0]) / 16.0
"""Weights of four samples for the value halfway between the middle two, and between the last two."""
EARLIER = np.array([1.0, -5.0, 15.0, 5.0]) / 16.0
THIRD_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])

DIFFERENCE = 1e-4
"""Step (in channel units, radians or quaternion components) of the finite difference: its square is well above rounding."""

LEAST_FEELING = 0.03
"""A straight limb's tip does not feel some channel changes at first order. They count at least this share of the others."""

FEELING_STRIDE = 8
"""The linearised drift changes with the pose, so slowly that one of so many samples tells it for all around."""


LONG = 1 << 15
"""Of a take with more poses than this the linearised drift is held in single precision: 15,000 frames of a pair of bones."""


@dataclass(frozen=True, slots=True)
class WithHalves:
    """The values `(2N - 1, K)` of a motion at its samples and halfway between them, found by index."""

    samples: Array
    """`(N, K)`"""
    held: Indices
    """`(N,)` which of the samples each of them has the values of."""
    halves: Array
    """`(N - 1, K)`"""

    def __len__(self) -> int:
        return FINER * len(self.samples) - 1

    def __getitem__(self, indices: Indices) -> Array:
        found, between = self.samples[self.held[indices // FINER]], indices % FINER != 0
        found[between] = self.halves[indices[between] // FINER]
        return found

    @property
    def channels(self) -> int:
        """K."""
        return self.samples.shape[1]


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion at full rate, and how it may be simplified."""

    times: Array
    """`(N,)` frames, rising; several per key frame."""
    values: WithHalves
    """`(N, K)` channel values, continuous."""
    drift: Drift
    """Distances of P points from where they should be, `(M, P)`."""
    tolerance: Array
    """`(N,)` > 0: how far each point may drift at each sample, in world units."""
    feeling: Array
    """`(Q, P, K (K + 1) / 2)` of every `FEELING_STRIDE`-th sample, see `felt`: one half of a symmetric matrix, row by row."""
    ends: tuple[Array | None, Array | None] = (None, None)
    """Slopes `(K,)` that the curves are to have at the first and the last sample, where that is known."""

    def shares(self, values: Array, indices: Indices) -> Array:
        """The largest drift `(M,)` of `values : (M, K)` at samples `indices : (M,)`, as a share of the tolerance."""
        return self.drift(values, indices).max(axis=-1) / self.tolerance[indices]

    def felt(self, indices: Indices) -> Array:
        """The linearised drift `(..., P, K, K)` at samples `indices : (...)`.

        `change @ felt @ change` is the square of a point's move as a share of the tolerance, at first order.
        """
        rows, columns = np.tril_indices(self.values.channels)
        place = np.empty((self.values.channels,) * 2, dtype=np.intp)
        place[rows, columns] = place[columns, rows] = np.arange(len(rows))
        halves = self.feeling[np.minimum((indices + FEELING_STRIDE // 2) // FEELING_STRIDE, len(self.feeling) - 1)]
        return np.take(halves, place, axis=-1).astype(float, copy=False)


def in_portions(drift: Drift) -> Drift:
    """The same drift, always `(M, P)`, asked for a bounded number of samples at once."""

    def measured(values: Array, indices: Indices) -> Array:
        found = [drift(values[part], indices[part]) for part in portions(len(values))]
        return np.concatenate([each.reshape(len(each), -1) for each in found])

    return measured


def portions(count: int) -> Iterator[slice]:
    """Slices over `count` samples, at least one."""
    for start in range(0, max(count, 1), MOST_AT_ONCE):
        yield slice(start, min(start + MOST_AT_ONCE, count))


def with_halves(times: Array, values: Array, held: Indices, drift: Drift) -> tuple[Array, WithHalves, Drift]:
    """The motion with one more sample halfway between any two: times (2N - 1,), values (2N - 1, K) and their drift.

    held : (N,) which of the samples each of them is to have the values of

    So a curve cannot stray unseen between the samples it was fitted to. The drift at a new sample is taken to be that
    of the same channel error in the pose of the sample before it, which is off by the error times half a sample's move.
    """
    fine_times, fine = np.empty(FINER * len(values) - 1), WithHalves(values, held, halfway(values, held))
    fine_times[::FINER], fine_times[1::FINER] = times, 0.5 * (times[:-1] + times[1:])

    def drift_at_any(changed: Array, indices: Indices) -> Array:
        before = indices // FINER
        return drift(changed + (values[held[before]] - fine[indices]), before)

    return fine_times, fine, in_portions(drift_at_any)


def halfway(values: Array, held: Indices) -> Array:
    """Values `(N - 1, K)` halfway between neighbouring samples, by a cubic that does not look across corners.

    values : (M, K), of which the samples are the rows `held` (N,)

    Of the cubics through the four samples around, the four before and the four after, that with the smallest third
    difference is taken, per channel (the choice of ENO schemes, Harten et al. 1987). With fewer than four samples,
    the mean of the two.
    """
    if len(held) < len(CENTRAL):
        return 0.5 * (values[held[:-1]] + values[held[1:]])
    halves = np.empty((len(held) - 1, values.shape[1]))
    beyond = len(CENTRAL)
    for part in portions(len(halves)):
        start, stop = max(part.start - beyond, 0), min(part.stop + beyond, len(held))
        halves[part] = _halfway(values[held[start:stop]])[part.start - start : part.stop - start]
    return halves


def _halfway(samples: Array) -> Array:
    """As `halfway`, of four samples or more."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, len(CENTRAL), axis=0)
    roughness = np.abs(windows @ THIRD_DIFFERENCE)
    far = np.full((1, samples.shape[1]), np.inf)
    count = len(samples) - 1
    halves, rough = [], []
    for weights, offset in ((CENTRAL, 1), (EARLIER, 2), (EARLIER[::-1], 0)):
        # The stencil of interval i begins at sample i - offset: those that begin outside do not exist.
        half, missing = windows @ weights, np.repeat(far, offset, axis=0)
        halves.append(np.concatenate([missing, half, np.repeat(far, count - len(half), axis=0)])[:count])
        rough.append(np.concatenate([missing, roughness, np.repeat(far, count - len(half), axis=0)])[:count])
    smoothest = np.argmin(rough, axis=0)
    return np.take_along_axis(np.stack(halves), smoothest[None], axis=0)[0]


def feel(values: WithHalves, drift: Drift, tolerance: Array) -> Array:
    """The points' first-order answers to channel changes, as in `Motion.feeling`, from distances alone.

    Distances squared are a quadratic form of the changes, so K (K + 1) / 2 of them give the form by polarisation. No
    direction counts less than `LEAST_FEELING`; where nothing moves any point, all count alike, and next to nothing.
    """
    channels = values.channels
    steps = DIFFERENCE * np.eye(channels)

    def form_at(indices: Indices) -> Array:
        here = values[indices]
        own = [drift(here + step, indices) ** 2 for step in steps]
        form = np.empty((*own[0].shape, channels, channels))
        for row in range(channels):
            form[..., row, row] = own[row]
            for column in range(row):
                both = drift(here + steps[row] + steps[column], indices) ** 2
                form[..., row, column] = form[..., column, row] = 0.5 * (both - own[row] - own[column])
        form /= DIFFERENCE**2
        most = np.trace(form, axis1=-2, axis2=-1).max(axis=-1)
        least = np.where(most > 0.0, LEAST_FEELING**2 * most, LEAST_FEELING**4)
        form += least[:, None, None, None] * np.eye(channels)
        form /= tolerance[indices, None, None, None] ** 2
        return form[(..., *np.tril_indices(channels))]

    asked = np.arange(0, len(values), FEELING_STRIDE)
    first, *rest = portions(len(asked))
    begun = form_at(asked[first])
    # It only leads to handles, which are judged by the drift itself, so that of a long take single precision is enough.
    form = np.empty((len(asked), *begun.shape[1:]), dtype=np.float32 if len(asked) > LONG else float)
    form[first] = begun
    for part in rest:
        form[part] = form_at(asked[part])
    return form
