"""From curves that are known at every sampled frame to the keys that are written."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array
from ..scene.lookup import object_named
from ..scene.writing import ChannelKeys
from .holding import held_outside
from .planning import ChainPlan
from .reducing import reduced
from .solving import CurveSamples, Solved


@dataclass(frozen=True, slots=True)
class KeyedChain:
    """One chain with its keys, ready to be written."""

    solved: Solved
    keys: list[ChannelKeys]
    drift: float
    """Farthest that the keys let the tip drift from the full-rate motion, world units; 0 without reduction."""


def keyed_chain(solved: Solved) -> KeyedChain:
    """Choose the keys of a solved chain as its settings say."""
    if solved.plan.settings.keys == "REDUCE":
        keys, drift = reduced(solved)
    else:
        keys, drift = [full_rate_keys(solved.plan, curve) for curve in solved.curves], 0.0
    return KeyedChain(solved, [_held(solved, *pair) for pair in zip(solved.curves, keys, strict=True)], drift)


def _held(solved: Solved, curve: CurveSamples, keys: ChannelKeys) -> ChannelKeys:
    plan = solved.plan
    outside = held_outside(
        object_named(plan.names.armature),
        curve.path,
        curve.index,
        settings=plan.settings,
        within=(float(plan.frames[0]), float(plan.frames[-1])),
        present=(float(curve.present[0]), float(curve.present[-1])),
    )
    return keys if outside is None else replace(keys, outside=outside)


def full_rate_keys(plan: ChainPlan, curve: CurveSamples) -> ChannelKeys:
    """A key at each frame that the plan's report is about."""
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
