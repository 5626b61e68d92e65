"""Contacts: spans in which nothing moves, and in which reduced keys must not let anything move either."""

from dataclasses import replace

import numpy as np

from ..array_types import Array
from .drift import Motion, farthest
from .indices import Indices

# Channels that change by less than this (radians) stand still: a motion at rest, read from Blender's single precision,
# trembles by about 4e-7. A millionth of a radian is a thousandth of a millimetre at the end of a leg.
STILL = 1e-6
# A channel that changes by less than this (radians) may hold one value all the time, if that takes no more than this
# share of the tolerance.
STEADY, UNFELT = 1e-4, 0.01


def still_spans(motion: Motion, candidates: Indices) -> Indices:
    """Spans `(S, 2)` of samples, [first, last], both among `candidates`, in which all channels stand still.

    Within a span no channel strays more than `STILL` from its first sample, so a slow creep is not taken for rest, nor
    does the tip leave its tolerance by resting. A span holds at least two candidates.
    """
    values = motion.values
    spans = []
    for first, last in resting(values):
        keys = candidates[(candidates >= first) & (candidates <= last)]
        if len(keys) > 1 and np.abs(values[keys[0] : keys[-1] + 1] - values[keys[0]]).max() <= STILL:
            spans.append((keys[0], keys[-1]))
    spans = np.array(spans, dtype=np.intp).reshape(-1, 2)
    drift = farthest(motion.moves(held_still(values, spans) - values))
    return np.array([span for span in spans if drift[span[0] : span[1] + 1].max() <= 1.0], dtype=np.intp).reshape(-1, 2)


def with_steady_channels(motion: Motion) -> Motion:
    """The motion with channels that hardly move holding one value, where the tip does not feel it."""
    for channel in np.flatnonzero(np.ptp(motion.values, axis=0) <= STEADY):
        steady = motion.values.copy()
        steady[:, channel] = steady[0, channel]
        if farthest(motion.moves(steady - motion.values)).max() <= UNFELT:
            motion = replace(motion, values=steady)
    return motion


def resting(values: Array) -> Indices:
    """Runs `(S, 2)` of samples, [first, last], from each to the next of which no channel of `values : (N, K)` moves."""
    calm = np.abs(np.diff(values, axis=0)).max(axis=1, initial=0.0) <= STILL
    edges = np.diff(np.concatenate([[False], calm, [False]]).astype(np.int8))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)], axis=-1)


def held_still(values: Array, spans: Indices) -> Array:
    """The values `(N, K)` with every span holding exactly the values of its first sample."""
    held = values.copy()
    for first, last in spans:
        held[first : last + 1] = values[first]
    return held
