"""Turn curves sampled at every frame into the keys that are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, KeyFrames
from ...records import replace
from ...scene.keys.tables import ChannelKeys, Keyed, SmoothKeys, StraightKeys
from ..plan.chain_plan import ChainPlan
from ..pose.solving import CurveSamples, SolvedChain
from .holding import held_outside, loop_slopes
from .posed_points import PosedByCurves
from .reducing import NO_DRIFT, KeyDrift, ended_at_cuts, reduced, with_calm_axes


@dataclass(frozen=True, slots=True)
class KeyedChain:
    """One solved chain with its keys, ready to be written."""

    solved: SolvedChain
    keys: list[ChannelKeys]
    drift: KeyDrift
    sets: tuple[str, ...] = ()
    """Data paths of properties that are set along with the keys."""


def keyed_chain(solved: SolvedChain, lever: float = 0.0) -> KeyedChain:
    """Choose the keys of a solved chain according to its settings; `lever` as for `reduced`."""
    if solved.plan.settings.keys == "REDUCE" or solved.plan.settings.interpolation == "BEZIER":
        rows = solved.plan.report_rows
        values = np.stack([curve.values[rows] for curve in solved.curves], axis=-1)
        solved = replace(solved, plan=ended_at_cuts(solved.plan, PosedByCurves.of(solved).joints(values, rows)))
    if solved.plan.settings.keys == "REDUCE":
        values = with_calm_axes(solved.curves, np.stack([curve.values for curve in solved.curves], axis=-1))
        # Make the curves views of `values`, so that those of a long take are in memory only once.
        solved = replace(solved, curves=[replace(curve, values=values[:, row]) for row, curve in enumerate(solved.curves)])
        keys, drift = reduced(solved, values, lever)
    else:
        keys, drift = full_rate_keys(solved.plan, solved.curves), NO_DRIFT
    held = [with_held(solved.plan, solved.plan.keyed, *pair) for pair in zip(solved.curves, keys, strict=True)]
    return KeyedChain(solved, held, drift)


def with_held(plan: ChainPlan, keyed: Mapping[tuple[str, int], Keyed], curve: CurveSamples, keys: ChannelKeys) -> ChannelKeys:
    """The keys of a curve, with those beside the range that the settings ask for; `keyed` has the present keys by channel."""
    outside = held_outside(
        keyed[curve.path, curve.index],
        settings=plan.settings,
        within=plan.within,
        present=(float(curve.present[0]), float(curve.present[-1])),
    )
    if outside is None:
        return keys
    if isinstance(keys, StraightKeys):  # Pyright checks the fields of one record, not of either.
        return replace(keys, outside=outside)
    return replace(keys, outside=outside)


def full_rate_keys(plan: ChainPlan, curves: Sequence[CurveSamples]) -> list[ChannelKeys]:
    """Keys of each curve at all report frames of the plan."""
    rows = plan.report_rows
    frames, interpolation = plan.report_frames, plan.settings.interpolation
    if interpolation != "BEZIER":
        straight = "LINEAR" if interpolation == "LINEAR" else "CONSTANT"
        return [
            StraightKeys(curve.path, curve.index, curve.group, frames, curve.values[rows], straight, held=plan.held)
            for curve in curves
        ]
    slopes = [np.gradient(curve.values, plan.frames)[rows] if len(plan.frames) > 1 else np.zeros(1) for curve in curves]
    ends = loop_slopes(plan, curves)
    if ends is not None:
        for own, start, end in zip(slopes, *ends, strict=True):
            own[0], own[-1] = start, end
    keys: list[ChannelKeys] = []
    for curve, own in zip(curves, slopes, strict=True):
        values = curve.values[rows]
        keys.append(SmoothKeys(curve.path, curve.index, curve.group, frames, values, *_handles(frames, values, own)))
    return keys


def _handles(frames: KeyFrames, values: Array, slopes: Array) -> tuple[Array, Array]:
    """Left and right handles `(K, 2)` a third of the way to the neighbouring keys, along the slopes of the motion.

    Those of a single key are a third of a frame long.
    """
    thirds = np.pad(np.diff(frames) / 3.0, 1, mode="edge") if len(frames) > 1 else np.full(2, 1.0 / 3.0)
    before, after = thirds[:-1], thirds[1:]
    left = np.stack([frames - before, values - slopes * before], axis=-1)
    right = np.stack([frames + after, values + slopes * after], axis=-1)
    return left, right
