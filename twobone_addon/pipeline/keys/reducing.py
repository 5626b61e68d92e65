"""Reduce keys to a few instead of one per frame, measuring the drift of the chain's joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import magnitude
from ...core.curves.drift import portions
from ...core.curves.frames import turning_points
from ...core.curves.reduction import Reduction, reduce_keys
from ...scene.keys.tables import ChannelKeys
from ..plan.chain_plan import ChainPlan
from ..pose.solving import CurveSamples, SolvedChain
from .holding import loop_slopes
from .posed_points import PosedByCurves


@dataclass(frozen=True, slots=True)
class KeyDrift:
    """Largest drift of joints from the full-rate motion, world units; 0 without reduction."""

    tip: float = 0.0
    """Of the tip, and of the tail of the bone at the tip if that is keyed."""
    middle: float = 0.0
    """Of the joints between root and tip."""


NO_DRIFT = KeyDrift()


def reduced(solved: SolvedChain, values: Array) -> tuple[list[ChannelKeys], KeyDrift]:
    """The fewest keys that keep all joints within the tolerance, on the same frames for all channels, and their drift.

    values : (F, K), of the chain's curves
    """
    plan = solved.plan
    posed = PosedByCurves.of(solved)
    parts = portions(len(values))
    full_rate = np.concatenate([posed.points(values[part], np.arange(part.start, part.stop)) for part in parts])

    def drift(tried: Array, indices: Indices) -> Array:
        return magnitude(posed.points(tried, indices) - full_rate[indices])

    extremes = extreme_frames(solved)
    found = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=kept_frames(plan, extremes),
        preferred=extremes,
        ends=loop_slopes(plan, solved.curves),
    )
    return reduced_keys(solved.curves, found), key_drift(plan, found.worst_drifts)


def key_drift(plan: ChainPlan, worst: Array) -> KeyDrift:
    """The largest drifts `worst` `(p,)` of the points of `PosedByCurves`, split into tip and middle joints."""
    middle = len(plan.rest.turning) - 1
    return KeyDrift(float(worst[middle:].max()), float(worst[:middle].max(initial=0.0)))


def extreme_frames(solved: SolvedChain) -> Array:
    """Frames `(E,)` at which a coordinate of the goal along the plane's axes has an extreme."""
    plan = solved.plan
    return plan.report_frames[turning_points(solved.pose.on_targets.goals[plan.report_rows])]


def kept_frames(plan: ChainPlan, extremes: Array) -> Array:
    """Frames that keep their keys according to the settings; `extremes` are included if the settings ask for them."""
    return np.concatenate([plan.kept_frames, extremes if plan.settings.keep_keys in {"EXTREMES", "BOTH"} else []])


def reduced_keys(curves: Sequence[CurveSamples], found: Reduction) -> list[ChannelKeys]:
    """The keys of a reduction with one column per curve."""
    return [reduced_channel(found, column, curve.path, curve.index, curve.group) for column, curve in enumerate(curves)]


def reduced_channel(found: Reduction, column: int, path: str, index: int, group: str) -> ChannelKeys:
    """One column of a reduction as the keys of a channel."""
    left, right = found.left[:, column], found.right[:, column]
    return ChannelKeys(path, index, group, found.frames, found.values[:, column], "BEZIER", left, right, found.smooth[:, column])
