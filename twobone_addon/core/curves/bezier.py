"""Evaluate Blender's F-Curves, given as arrays of keys and handles, at any frame as Blender does.

A segment between two keys is a cubic Bezier in (frame, value), not a function of the frame: to get the value at a frame, the
curve parameter at that frame must be found. Blender first clamps both handles to the segment in time, so that time increases
along the curve and the parameter is unique.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array

PARAMETER_PRECISION = 1e-13
"""Tolerance of the time along a segment, as a fraction of the segment: far below the 6e-8 of Blender's single precision."""

FREE_STEPS, MOST_STEPS = 8, 50
"""Plain Newton steps, of which 3 to 6 are usual, and most steps of the bracketed search after them; bisection alone needs 44."""

LEAST_SPEED = 1e-12
"""Least divisor in Newton's method: the time derivative vanishes where both handles are as long as the segment."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one F-Curve, sorted in time."""

    frames: Array
    """`(K,)` frames of the keys, increasing."""
    values: Array
    """`(K,)` values at the keys."""
    left: Array
    """`(K, 2)` left handles: frame, value."""
    right: Array
    """`(K, 2)` right handles: frame, value."""


def evaluate(keys: Keys, frames: ArrayLike) -> Array:
    """Values `(F,)` of the curve at `frames : (F,)`; constant before the first key and after the last.

    `keys` must have at least one key. Agrees with Blender's own evaluation to its single precision.
    """
    frames = np.asarray(frames, dtype=float)
    if len(keys.frames) == 1:
        return np.full(frames.shape, keys.values[0])
    segment = np.clip(np.searchsorted(keys.frames, frames, side="right") - 1, 0, len(keys.frames) - 2)
    start, end = keys.frames[segment], keys.frames[segment + 1]
    share = np.clip((frames - start) / (end - start), 0.0, 1.0)
    first, last = keys.values[segment], keys.values[segment + 1]
    right, left = clamped_handles(keys)
    right, left = right[segment], left[segment]
    duration = end - start
    parameter = parameters_at(share, (right[:, 0] - start) / duration, (left[:, 0] - start) / duration)
    # Relative to the first key's value, so that a flat segment is exactly flat, as in Blender.
    offsets = np.stack([right[:, 1], left[:, 1], last]) - first
    return first + np.einsum("fk,kf->f", bernstein(parameter)[:, 1:], offsets)


def clamped_handles(keys: Keys) -> tuple[Array, Array]:
    """Handles of each segment as Blender evaluates them: `(K - 1, 2)` after its first key and `(K - 1, 2)` before its last.

    A handle longer in time than the segment is shortened to it, along its own direction.
    """
    duration = np.diff(keys.frames)

    def clamped(points: Array, handles: Array) -> Array:
        reach = handles - points
        length = np.abs(reach[:, 0])
        return points + reach * np.where(length > duration, duration / np.maximum(length, duration), 1.0)[:, None]

    points = np.stack([keys.frames, keys.values], axis=-1)
    return clamped(points[:-1], keys.right[:-1]), clamped(points[1:], keys.left[1:])


def bernstein(parameter: Array) -> Array:
    """The four cubic Bernstein polynomials `(..., 4)` at `parameter : (...)` in [0, 1]."""
    rest = 1.0 - parameter
    basis = np.empty((*parameter.shape, 4))
    basis[..., 0], basis[..., 1] = rest * rest * rest, 3.0 * parameter * rest * rest
    basis[..., 2], basis[..., 3] = 3.0 * parameter * parameter * rest, parameter * parameter * parameter
    return basis


def parameters_at(
    share: Array, right: ArrayLike, left: ArrayLike, *, guess: Array | None = None, precision: float = PARAMETER_PRECISION
) -> Array:
    """Curve parameters `(...)` at which a fraction `share : (...)` of a segment's time has passed.

    `right` and `left` are the handles' times as fractions of the segment, in [0, 1]; all three broadcast. Newton's method on the
    monotone cubic, bracketed if it does not converge; exact for thirds. A `guess : (...)` in [0, 1], such as the result for
    similar handles, saves steps.
    """
    right, left = np.asarray(right, dtype=float), np.asarray(left, dtype=float)
    cubic, square, linear = 1.0 + 3.0 * (right - left), 3.0 * (left - 2.0 * right), 3.0 * right
    parameter = np.asarray(share if guess is None else guess, dtype=float) + np.zeros(np.shape(linear))
    for _ in range(FREE_STEPS):
        error = ((cubic * parameter + square) * parameter + linear) * parameter - share
        if np.abs(error).max(initial=0.0) <= precision:
            return parameter
        speed = (3.0 * cubic * parameter + 2.0 * square) * parameter + linear
        parameter = np.minimum(np.maximum(parameter - error / np.maximum(speed, LEAST_SPEED), 0.0), 1.0)
    return _bracketed_newton(parameter, share, (cubic, square, linear), precision)


def _bracketed_newton(parameter: Array, share: Array, coefficients: tuple[Array, Array, Array], precision: float) -> Array:
    """Safeguarded Newton's method: steps that leave the bracket around the solution are replaced by bisection."""
    cubic, square, linear = coefficients
    low, high = np.zeros(parameter.shape), np.ones(parameter.shape)
    for _ in range(MOST_STEPS):
        error = ((cubic * parameter + square) * parameter + linear) * parameter - share
        if np.abs(error).max() <= precision:
            break
        low, high = np.where(error < 0.0, parameter, low), np.where(error > 0.0, parameter, high)
        speed = (3.0 * cubic * parameter + 2.0 * square) * parameter + linear
        newton = parameter - error / np.maximum(speed, LEAST_SPEED)
        inside = (newton > low) & (newton < high)
        parameter = np.where(error == 0.0, parameter, np.where(inside, newton, 0.5 * (low + high)))
    return parameter
