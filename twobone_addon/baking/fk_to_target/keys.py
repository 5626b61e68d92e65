"""Keys that bring an object to places in the world: its location in its parent's space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...array_types import Array, Indices
from ...arrays import magnitude
from ...curves.frames import turning_points
from ...curves.reduction import reduce_keys
from ...rig.rotations import before
from ...scene.blender_types import Object
from ...scene.keys.reading import read_keyed
from ...scene.keys.writing import ChannelKeys
from ..keys.holding import held_outside
from ..keys.keying import full_rate_keys
from ..keys.looping import loop_slopes
from ..keys.reducing import kept_frames
from ..plan.planning import ChainPlan
from ..pose.solving import CurveSamples

LOCATION = "location"
GROUP = "Object Transforms"
"""Where Blender itself puts an object's curves."""


def location_space(thing: Object, parent_world: Array) -> Array:
    """From an object's location to where that brings it in the world, `(F, 4, 4)`.

    parent_world : (F, 4, 4), where the object would be without location, rotation and scale
    """
    space = parent_world.copy()
    space[:, :3, 3] += parent_world[:, :3, :3] @ np.array(thing.delta_location)
    return space


def location_values(space: Array, places_world: Array) -> Array:
    """Locations `(F, 3)` that bring an object to `places_world` `(F, 3)`; `space` as `location_space` returns it."""
    return before(space[:, :3, :3], places_world - space[:, :3, 3])


def location_keys(plan: ChainPlan, thing: Object, space: Array, places_world: Array) -> tuple[list[ChannelKeys], float]:
    """Keys of an object's location that bring it to `places_world` `(F, 3)`, and what reducing them costs, world units.

    space : (F, 4, 4), see `location_space`
    """
    values = location_values(space, places_world)
    present = np.array(thing.location)
    curves = [CurveSamples(LOCATION, axis, GROUP, values[:, axis], np.full(len(values), present[axis])) for axis in range(3)]
    if plan.settings.keys == "REDUCE":
        keys, drift = _reduced(plan, curves, values, space[:, :3, :3])
    else:
        keys, drift = full_rate_keys(plan, curves), 0.0
    return [_held(plan, thing, curve, key) for curve, key in zip(curves, keys, strict=True)], drift


def _reduced(plan: ChainPlan, curves: list[CurveSamples], values: Array, linear: Array) -> tuple[list[ChannelKeys], float]:
    linear = np.broadcast_to(linear, (len(values), 3, 3))

    def drift(tried: Array, indices: Indices) -> Array:
        away = (linear[indices] @ (tried - values[indices])[..., None])[..., 0]
        return magnitude(away)

    extremes = plan.report_frames[turning_points(values[plan.report_rows])]
    found = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=kept_frames(plan, extremes),
        ends=loop_slopes(plan, curves),
    )
    keys = [
        ChannelKeys(
            LOCATION, axis, GROUP, found.frames, found.values[:, axis], "BEZIER", found.left[:, axis], found.right[:, axis]
        )
        for axis in range(3)
    ]
    return keys, found.worst_drift


def _held(plan: ChainPlan, thing: Object, curve: CurveSamples, keys: ChannelKeys) -> ChannelKeys:
    within = float(plan.frames[0]), float(plan.frames[-1])
    present = float(curve.present[0]), float(curve.present[-1])
    keyed = read_keyed(thing, curve.path, curve.index, *within)
    outside = held_outside(keyed, settings=plan.settings, within=within, present=present)
    return keys if outside is None else replace(keys, outside=outside)
