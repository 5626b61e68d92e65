"""From curves that are known at every sampled frame to the keys that are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..scene.writing import ChannelKeys
from .reducing import reduced
from .solving import CurveSamples, Solved


@dataclass(frozen=True, slots=True)
class KeyedChain:
    """One chain with its keys, ready to be written."""

    solved: Solved
    keys: list[ChannelKeys]
    drift: float
    """Farthest that the keys let the tip drift from the full-rate motion, world units; 0 without reduction."""
    present: dict[tuple[str, int], tuple[float, float]]
    """What the channels, by path and index, hold before and after the range where they have no curve."""


def keyed_chain(solved: Solved) -> KeyedChain:
    """Choose the keys of a solved chain as its settings say."""
    present = {(curve.path, curve.index): (float(curve.present[0]), float(curve.present[-1])) for curve in solved.curves}
    if solved.plan.settings.keys == "REDUCE":
        keys, drift = reduced(solved)
        return KeyedChain(solved, keys, drift, present)
    return KeyedChain(solved, [_full_rate(solved, curve) for curve in solved.curves], 0.0, present)


def _full_rate(solved: Solved, curve: CurveSamples) -> ChannelKeys:
    plan = solved.plan
    rows = plan.report_rows
    frames, values = plan.frames[rows], curve.values[rows]
    interpolation = plan.settings.interpolation
    if interpolation != "BEZIER" or len(frames) == 1:
        return ChannelKeys(curve.path, curve.index, curve.group, frames, values, interpolation)
    slopes = np.gradient(curve.values, plan.frames)[rows]
    left, right = _handles(frames, values, slopes)
    return ChannelKeys(curve.path, curve.index, curve.group, frames, values, interpolation, left, right)


def _handles(frames: Array, values: Array, slopes: Array) -> tuple[Array, Array]:
    """Handles `(K, 2)` a third of the way to the neighbouring keys, along the motion's own slope there."""
    thirds = np.diff(frames) / 3.0
    before, after = np.concatenate([thirds[:1], thirds]), np.concatenate([thirds, thirds[-1:]])
    left = np.stack([frames - before, values - slopes * before], axis=-1)
    right = np.stack([frames + after, values + slopes * after], axis=-1)
    return left, right
