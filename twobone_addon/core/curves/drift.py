"""Measure and linearise the drift of joints caused by changed channel values, at samples and between them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..array_types import Array, Indices

Drift: TypeAlias = Callable[[Array, Indices], Array]
"""`drift(values, indices)` takes `(M, K)` and `(M,)` and returns `(M,)` or `(M, P)`: distances in world units of the tip, or of P
points such as tip and middle joint, between the pose of these channel values and the motion's own pose at the samples with these
indices. Must be 0 for the motion's own values."""

FINER = 2
"""Samples of `with_halves` per sample of the motion."""

MOST_AT_ONCE = 1 << 11
"""Samples per block: intermediate results stay in the processor's cache, however long the motion."""

CENTRAL = np.array([-1.0, 9.0, 9.0, -1.0]) / 16.0
"""Weights of four samples for the value halfway between the middle two and, in `EARLIER`, between the last two."""
EARLIER = np.array([1.0, -5.0, 15.0, 5.0]) / 16.0
THIRD_DIFFERENCE = np.array([-1.0, 3.0, -3.0, 1.0])
CENTRAL_ERROR, EARLIER_ERROR = 3.0 / 128.0, -5.0 / 128.0
"""What these cubics lack at the half, in fourth differences of the samples."""

DIFFERENCE = 1e-4
"""Finite-difference step in channel units (radians or quaternion components): its square is well above rounding."""

LEAST_FEELING = 0.03
"""Least sensitivity to a channel change, relative to the greatest: the tip of a straight limb ignores some to first order."""

FEELING_STRIDE = 8
"""Stride in samples at which the linearised drift is computed; it changes slowly with the pose."""


LONG_TAKE = 1 << 15
"""Number of poses above which the linearised drift is stored in single precision: 15,000 frames of a pair of bones."""


@dataclass(frozen=True, slots=True)
class WithHalves:
    """Values `(2N - 1, K)` of a motion at its samples and halfway between them, looked up by index."""

    samples: Array
    """`(N, K)` values at the samples."""
    held: Indices
    """`(N,)` index of the sample whose values each sample takes."""
    halves: Array
    """`(N - 1, K)` values halfway between samples."""

    def __len__(self) -> int:
        return FINER * len(self.samples) - 1

    def __getitem__(self, indices: Indices) -> Array:
        values, between = self.samples[self.held[indices // FINER]], indices % FINER != 0
        values[between] = self.halves[indices[between] // FINER]
        return values

    @property
    def channels(self) -> int:
        """Number of channels, K."""
        return self.samples.shape[1]


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion sampled at full rate, with the tolerance within which it may be simplified."""

    times: Array
    """`(N,)` frames, increasing; several per possible key."""
    values: WithHalves
    """`(N, K)` channel values, continuous."""
    drift: Drift
    """Drift of P points, `(M, P)`."""
    tolerance: Array
    """`(N,)` > 0: greatest allowed drift of any point at each sample, in world units."""
    feeling: Array
    """`(Q, P, K (K + 1) / 2)` linearised drift at every `FEELING_STRIDE`-th sample: lower triangles of `felt`, row by row."""
    ends: tuple[Array | None, Array | None] = (None, None)
    """Required slopes `(K,)` of the curves at the first and the last sample; `None` where free."""

    def shares(self, values: Array, indices: Indices) -> Array:
        """Largest drift `(M,)` of `values : (M, K)` at samples `indices : (M,)`, as a fraction of the tolerance."""
        return self.drift(values, indices).max(axis=-1) / self.tolerance[indices]

    def felt(self, indices: Indices) -> Array:
        """Linearised drift `(..., P, K, K)` at samples `indices : (...)`.

        `change @ felt @ change` is, to first order, the squared move of a point as a fraction of the tolerance.
        """
        rows, columns = np.tril_indices(self.values.channels)
        positions = np.empty((self.values.channels,) * 2, dtype=np.intp)
        positions[rows, columns] = positions[columns, rows] = np.arange(len(rows))
        halves = self.feeling[np.minimum((indices + FEELING_STRIDE // 2) // FEELING_STRIDE, len(self.feeling) - 1)]
        return np.take(halves, positions, axis=-1).astype(float, copy=False)


def in_portions(drift: Drift) -> Drift:
    """Wrap a drift so that it always returns `(M, P)` and is evaluated in blocks of bounded size."""

    def measured(values: Array, indices: Indices) -> Array:
        blocks = [drift(values[part], indices[part]) for part in portions(len(values))]
        return np.concatenate([block.reshape(len(block), -1) for block in blocks])

    return measured


def portions(count: int) -> Iterator[slice]:
    """Slices of at most `MOST_AT_ONCE` over `count` samples; at least one slice."""
    for start in range(0, max(count, 1), MOST_AT_ONCE):
        yield slice(start, min(start + MOST_AT_ONCE, count))


def with_halves(times: Array, values: Array, held: Indices, drift: Drift) -> tuple[Array, WithHalves, Drift]:
    """Insert a sample halfway between any two: returns times (2N - 1,), values (2N - 1, K) and their drift.

    held : (N,) index of the sample whose values each sample takes

    So a curve cannot stray unnoticed between the samples it was fitted to. The drift at a new sample is approximated by the drift
    of the same channel error in the previous sample's pose, which is wrong by about the error times half a sample's move.
    """
    fine_times, fine = np.empty(FINER * len(values) - 1), WithHalves(values, held, halfway(values, held))
    fine_times[::FINER], fine_times[1::FINER] = times, 0.5 * (times[:-1] + times[1:])

    def drift_at_any(changed: Array, indices: Indices) -> Array:
        before = indices // FINER
        return drift(changed + (values[held[before]] - fine[indices]), before)

    return fine_times, fine, in_portions(drift_at_any)


def halfway(values: Array, held: Indices) -> Array:
    """Values `(N - 1, K)` halfway between neighbouring samples, by a cubic that does not look across corners.

    values : (M, K), whose rows `held` (N,) are the samples

    Among the cubics through the four surrounding samples, the four before and the four after, the one with the smallest third
    difference is taken per channel (as in ENO schemes, Harten et al. 1987). To this comes its error, told by the smaller of the
    fourth differences to both sides, or none where their signs differ. With fewer than four samples, the mean of the two.
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
    """`halfway` for four samples or more."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, len(CENTRAL), axis=0)
    thirds = windows @ THIRD_DIFFERENCE
    roughness, fourths = np.abs(thirds), _fourth_differences(thirds)
    far = np.full((1, samples.shape[1]), np.inf)
    count = len(samples) - 1
    halves, rough = [], []
    for weights, error, offset in (
        (CENTRAL, CENTRAL_ERROR, 1),
        (EARLIER, EARLIER_ERROR, 2),
        (EARLIER[::-1], EARLIER_ERROR, 0),
    ):
        # The stencil of interval i begins at sample i - offset; a stencil that begins outside does not exist.
        half, missing = windows @ weights + error * fourths, np.repeat(far, offset, axis=0)
        halves.append(np.concatenate([missing, half, np.repeat(far, count - len(half), axis=0)])[:count])
        rough.append(np.concatenate([missing, roughness, np.repeat(far, count - len(half), axis=0)])[:count])
    smoothest = np.argmin(rough, axis=0)
    return np.take_along_axis(np.stack(halves), smoothest[None], axis=0)[0]


def _fourth_differences(thirds: Array) -> Array:
    """Fourth differences `(W, K)` at stencils with third differences `(W, K)`: the smaller of both sides', 0 across corners."""
    if len(thirds) < 3:  # noqa: PLR2004 - too few for two of them
        return np.zeros(thirds.shape)
    fourths = np.diff(thirds, axis=0)
    before, after = np.concatenate([fourths[1:2], fourths]), np.concatenate([fourths, fourths[-2:-1]])
    return np.where(before * after > 0.0, np.where(np.abs(before) < np.abs(after), before, after), 0.0)


def feel(values: WithHalves, drift: Drift, tolerance: Array) -> Array:
    """Linearise the drift, as in `Motion.feeling`, from distances alone.

    Squared distances are a quadratic form of the channel changes, so K (K + 1) / 2 of them give the form by polarisation. No
    direction counts less than `LEAST_FEELING`; where no change moves any point, all directions count equally and very little.
    """
    channels = values.channels
    steps = DIFFERENCE * np.eye(channels)

    def form_at(indices: Indices) -> Array:
        here = values[indices]
        alone = [drift(here + step, indices) ** 2 for step in steps]
        form = np.empty((*alone[0].shape, channels, channels))
        for row in range(channels):
            form[..., row, row] = alone[row]
            for column in range(row):
                both = drift(here + steps[row] + steps[column], indices) ** 2
                form[..., row, column] = form[..., column, row] = 0.5 * (both - alone[row] - alone[column])
        form /= DIFFERENCE**2
        most = np.trace(form, axis1=-2, axis2=-1).max(axis=-1)
        least = np.where(most > 0.0, LEAST_FEELING**2 * most, LEAST_FEELING**4)
        form += least[:, None, None, None] * np.eye(channels)
        form /= tolerance[indices, None, None, None] ** 2
        return form[(..., *np.tril_indices(channels))]

    strided = np.arange(0, len(values), FEELING_STRIDE)
    first, *rest = portions(len(strided))
    first_form = form_at(strided[first])
    # It only guides the fit of handles, which are judged by the drift itself, so single precision is enough for a long take.
    form = np.empty((len(strided), *first_form.shape[1:]), dtype=np.float32 if len(strided) > LONG_TAKE else float)
    form[first] = first_form
    for part in rest:
        form[part] = form_at(strided[part])
    return form
