"""Few keys for a planted leg: a key on every frame while the foot stands, and as few as the tolerance allows in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...array_types import Array, Indices, Mask
from ...arrays import magnitude
from ...curves.reducing.reduction import Reduction, reduce_keys
from ...planting.goals import SAMPLES_PER_FRAME
from ...planting.pins import runs
from ...scene.keys.writing import ChannelKeys
from ..keys.reducing import posed_points
from ..pose.solving import SolvedChain


def reduced_keys(solved: SolvedChain, keys: Sequence[ChannelKeys], pinned: Mask, tolerance: float) -> list[ChannelKeys]:
    """The keys of a leg, `keys` on every frame, with fewer where the foot is free.

    pinned : (S,) where the foot stands; tolerance : in world units, of the knee, the ankle and the foot's end
    """
    values = np.stack([curve.values for curve in solved.curves], axis=-1)
    kept = pinned[::SAMPLES_PER_FRAME].copy()
    found = list(keys)
    for first, last in runs(~kept):
        start, end = max(first - 1, 0), min(last + 1, len(kept) - 1)
        if start == end:
            kept[first] = True
            continue
        rows = np.arange(start * SAMPLES_PER_FRAME, end * SAMPLES_PER_FRAME + 1)
        reduction = _reduced(solved, values[rows], rows, tolerance)
        places = np.searchsorted(found[0].frames, reduction.frames)
        if not np.array_equal(found[0].frames[np.minimum(places, len(kept) - 1)], reduction.frames):
            kept[start : end + 1] = True  # The tolerance asks for keys between frames; those on every frame are nearer.
            continue
        kept[places] = True
        found = [_with_handles(key, reduction, places, column) for column, key in enumerate(found)]
    return [_some(key, kept) for key in found]


def _reduced(solved: SolvedChain, values: Array, rows: Indices, tolerance: float) -> Reduction:
    own = posed_points(solved, values, rows)

    def drift(tried: Array, indices: Indices) -> Array:
        return magnitude(posed_points(solved, tried, rows[indices]) - own[indices])

    frames = solved.plan.frames[rows]
    return reduce_keys(frames, values, drift, tolerance, key_frames=frames[::SAMPLES_PER_FRAME])


def _with_handles(key: ChannelKeys, reduction: Reduction, places: Indices, column: int) -> ChannelKeys:
    """The keys with the handles that lead through a reduced stretch, towards its inside at both of its ends."""
    left, right = np.array(key.left), np.array(key.right)
    left[places[1:]] = reduction.left[1:, column]
    right[places[:-1]] = reduction.right[:-1, column]
    return replace(key, left=left, right=right)


def _some(key: ChannelKeys, kept: Mask) -> ChannelKeys:
    left, right = np.array(key.left), np.array(key.right)
    return replace(key, frames=key.frames[kept], values=key.values[kept], left=left[kept], right=right[kept])
