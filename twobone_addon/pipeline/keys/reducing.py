"""Reduce keys to a few instead of one per frame, measuring the drift of the chain's joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Indices, KeyFrames
from ...core.arrays import magnitude, path_length
from ...core.curves.cuts import cuts
from ...core.curves.drift import portions
from ...core.curves.frames import turning_points
from ...core.curves.reduction import Reduction, reduce_keys
from ...records import replace
from ...scene.keys.tables import SmoothKeys
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


def reduced(solved: SolvedChain, values: Array, lever: float = 0.0) -> tuple[list[SmoothKeys], KeyDrift]:
    """The fewest keys that keep all joints within the tolerance, on the same frames for all channels, and their drift.

    values : (F, K), of the chain's curves
    lever : distance at which points beside the bones stay within the tolerance as well; by default twists are no drift
    """
    plan = solved.plan
    posed = PosedByCurves.of(solved, lever)
    parts = portions(len(values))
    full_rate = np.concatenate([posed.points(values[part], np.arange(part.start, part.stop)) for part in parts])

    def drift(tried: Array, indices: Indices) -> Array:
        return magnitude(posed.points(tried, indices) - full_rate[indices])

    # Frames at which a coordinate of the goal along the plane's axes has an extreme.
    extremes = plan.report_frames[turning_points(solved.pose.on_targets.goals[plan.report_rows])]
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
    worst, middle = found.worst_drifts, len(plan.rest.turning) - 1
    return reduced_keys(solved.curves, found), KeyDrift(float(worst[middle:].max()), float(worst[:middle].max(initial=0.0)))


SWEEP = 0.05
"""Change of a unit axis from one sample to the next, in radians, from which its direction sweeps: slower ones are fitted."""

AXIS_ANGLE = ".rotation_axis_angle"


def with_calm_axes(curves: Sequence[CurveSamples], values: Array) -> Array:
    """Values `(F, K)` of the curves, in which no axis of an axis and angle sweeps; all rotations stay the same.

    Near no rotation the axis turns by half a turn within a fraction of a frame, although the bone hardly moves. Blender takes the
    axis' direction alone, so where it sweeps it is made as long as its angle is large: that vector passes zero smoothly.
    """
    calm = values
    for path in dict.fromkeys(curve.path for curve in curves if curve.path.endswith(AXIS_ANGLE)):
        columns = {curve.index: number for number, curve in enumerate(curves) if curve.path == path}
        if len(columns) < 4:  # noqa: PLR2004 - an angle and an axis
            continue
        places = [columns[index] for index in (1, 2, 3)]
        angles, axes = np.abs(values[:, columns[0]]), values[:, places]
        if len(axes) > 1 and angles.min() > 0.0 and magnitude(np.diff(axes, axis=0)).max() > SWEEP:
            calm = calm.copy() if calm is values else calm
            calm[:, places] = axes * (angles / angles.max())[:, None]
    return calm


def ended_at_cuts(plan: ChainPlan, joints_world: Array) -> ChainPlan:
    """The plan with keys kept on both sides of every cut, see `cuts`, so that no reduced span and no loop leads across one.

    joints_world : `(K, p, 3)` all joints of the limb, the root joint first, at the plan's report frames
    """
    frames = plan.report_frames
    if np.any(np.diff(frames) != 1.0):  # A step between keys farther apart may be motion.
        return plan
    begun = cuts(joints_world, float(path_length(joints_world).max()))
    if not len(begun):
        return plan
    kept = np.union1d(plan.kept_frames, frames[np.concatenate([begun - 1, begun])])
    return replace(plan, is_cut=True, kept_frames=kept)


def kept_frames(plan: ChainPlan, extremes: Array) -> Array:
    """Frames that keep their keys according to the settings; `extremes` are included if the settings ask for them."""
    return np.concatenate([plan.kept_frames, extremes if plan.settings.keep_keys in {"EXTREMES", "BOTH"} else []])


def reduced_keys(curves: Sequence[CurveSamples], found: Reduction) -> list[SmoothKeys]:
    """The keys of a reduction with one column per curve."""
    return [reduced_channel(found, column, curve.path, curve.index, curve.group) for column, curve in enumerate(curves)]


def reduced_channel(found: Reduction, column: int, path: str, index: int, group: str) -> SmoothKeys:
    """One column of a reduction as the keys of a channel."""
    left, right = found.left[:, column], found.right[:, column]
    frames, smooth = KeyFrames(found.frames), found.smooth[:, column]
    return SmoothKeys(path, index, group, frames, found.values[:, column], left, right, smooth)
