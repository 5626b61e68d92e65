"""Contacts: spans in which nothing moves, and in which reduced keys must not let anything move either."""

import numpy as np

from ...array_types import Array, Indices
from .drift import Drift

STILL = 1e-6
"""Channels that change by less than this (radians) stand still: a motion at rest, read from Blender's single precision,
trembles by about 4e-7. A millionth of a radian is a thousandth of a millimetre at the end of a leg."""


def still_spans(values: Array, candidates: Indices, drift: Drift, tolerance: Array) -> Indices:
    """Spans `(S, 2)` of samples, [first, last], both among `candidates`, in which all `values : (N, K)` stand still.

    Within a span no channel strays more than `STILL` from its first sample, so a slow creep is not taken for rest, nor
    does the tip leave its `tolerance : (N,)` by resting. A span holds at least two candidates.
    """
    resting = np.abs(np.diff(values, axis=0)).max(axis=1, initial=0.0) <= STILL
    edges = np.diff(np.concatenate([[False], resting, [False]]).astype(np.int8))
    spans = []
    for first, last in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        keys = candidates[(candidates >= first) & (candidates <= last)]
        if len(keys) <= 1:
            continue
        span = np.arange(keys[0], keys[-1] + 1)
        rest = np.repeat(values[keys[:1]], len(span), axis=0)
        most = np.abs(values[span] - rest).max()
        if most == 0.0 or (most <= STILL and np.all(drift(rest, span) <= tolerance[span, None])):
            spans.append((keys[0], keys[-1]))
    return np.array(spans, dtype=np.intp).reshape(-1, 2)


def held_still(values: Array, spans: Indices) -> Array:
    """The values `(N, K)` with every span holding exactly the values of its first sample."""
    held = values.copy()
    for first, last in spans:
        held[first : last + 1] = values[first]
    return held
