"""Keys that bring what a chain follows to places in the world: its location and rotation in its parent's space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import magnitude
from ...core.curves.drift import Drift
from ...core.curves.frames import turning_points
from ...core.curves.reduction import reduce_keys
from ...core.rig.channels import Matrices, channel_rotations
from ...core.rig.rotations import is_flat, nearest_rotation
from ...errors import WriteError
from ...pipeline.keys.holding import loop_slopes
from ...pipeline.keys.keying import full_rate_keys, with_held
from ...pipeline.keys.reducing import kept_frames, reduced_keys
from ...pipeline.plan.planning import ChainPlan
from ...pipeline.pose.curve_values import Surroundings, rotation_curves
from ...pipeline.pose.solving import CurveSamples
from ...scene.blender_types import Object
from ...scene.bones import rotation_channel
from ...scene.keys.reading import read_keyed
from ...scene.keys.writing import ChannelKeys
from ...scene.lookup import rotation_values
from .solve import location_values

LOCATION = "location"
GROUP = "Object Transforms"
"""Where Blender itself puts an object's curves."""

FLAT_TO_BLENDER = 1e-6
"""Volume of a space's axes, relative to their lengths, that Blender's matrices of single precision cannot tell from none."""


def location_space(thing: Object, parent_world: Array) -> Array:
    """From an object's location to where that brings it in the world, `(F, 4, 4)`.

    parent_world : (F, 4, 4), where the object would be without location, rotation and scale
    """
    space = parent_world.copy()
    space[:, :3, 3] += parent_world[:, :3, :3] @ np.array(thing.delta_location)
    return space


def refuse_flat(thing: Object, frames: Array, space: Array) -> None:
    """Raise `WriteError` where no location brings an object to any place: what it is parented to is scaled to nothing.

    space : (F, 4, 4), see `location_space`
    """
    flat = is_flat(space[:, :3, :3], FLAT_TO_BLENDER)
    if flat.any():
        raise WriteError(
            'Object "{object}" inherits a scale of 0 from its parent at frame {frame:g}, so keys would not place it where the '
            "limb is. Change the parent's scale, or clear the object's parent.",
            object=thing.name,
            frame=frames[np.argmax(flat)],
        )


def location_keys(plan: ChainPlan, thing: Object, space: Array, places_world: Array) -> tuple[list[ChannelKeys], float]:
    """Keys of an object's location that bring it to `places_world` `(F, 3)`, and what reducing them costs, world units.

    space : (F, 4, 4), see `location_space`
    """
    values = location_values(space, places_world)
    present = np.array(thing.location)
    curves = [CurveSamples(LOCATION, axis, GROUP, values[:, axis], np.full(len(values), present[axis])) for axis in range(3)]
    return chosen_keys(plan, thing, curves, location_drift(values, space[:, :3, :3]))


def location_drift(values: Array, linear: Array) -> Drift:
    """How far other locations than `values` `(F, 3)` are off, where `linear` `(F, 3, 3)` carries them into the world."""
    linear = np.broadcast_to(linear, (len(values), 3, 3))
    return lambda tried, indices: magnitude((linear[indices] @ (tried - values[indices])[..., None])[..., 0])


def rotation_space(thing: Object, parent_world: Array) -> Array:
    """What an object's own rotation is applied to, `(F, 3, 3)`: its parent's rotation and its delta rotation."""
    mode = thing.rotation_mode
    delta = thing.delta_rotation_quaternion if mode == "QUATERNION" else (*thing.delta_rotation_euler, 0.0)
    turn = np.eye(3)[None] if mode == "AXIS_ANGLE" else channel_rotations(mode, np.array([delta]))
    return nearest_rotation(parent_world[:, :3, :3]) @ turn


def rotation_keys(
    plan: ChainPlan, thing: Object, space: Array, turns_world: Array, *, lever: float
) -> tuple[list[ChannelKeys], float]:
    """Keys of an object's rotation that turn it as `turns_world` `(F, 3, 3)`, and what reducing them costs, world units.

    space : (F, 3, 3), see `rotation_space`; lever : distance at which a drift of the rotation is measured
    """
    rotation = np.swapaxes(space, -1, -2) @ turns_world
    path = rotation_channel(thing.rotation_mode)
    curves = rotation_samples(plan, thing, path, GROUP, rotation, mode=thing.rotation_mode, present=rotation_values(thing))
    return chosen_keys(plan, thing, curves, rotation_drift(thing.rotation_mode, rotation, lever))


def rotation_samples(
    plan: ChainPlan, thing: Object, path: str, group: str, rotation: Array, *, mode: str, present: Sequence[float]
) -> list[CurveSamples]:
    """Continuous curves of all channels of a rotation property, that of an object or of one of its bones.

    rotation : (F, 3, 3); present : what the channels hold now
    """
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    keyed = [read_keyed(thing, path, index, start, end) for index in range(4)]
    sides = []
    for side in (0, 1):
        found = [each.beside[side] for each in keyed]
        known = [now if value is None else value for value, now in zip(found, present, strict=True)]
        sides.append(np.array(known[: 3 if path.endswith("euler") else 4]) if any(each is not None for each in found) else None)
    now = np.broadcast_to(np.array(present), (len(rotation), 4))
    # Of an Euler rotation all channels are keyed: what one of them holds at other frames may be anything.
    every = frozenset(range(3))
    curves = rotation_curves(mode, rotation=Matrices(rotation), present=now, outside=Surroundings(*sides), baked=every)
    return [
        CurveSamples(path, index, group, curves.values[:, column], now[:, index]) for column, index in enumerate(curves.indices)
    ]


def rotation_drift(mode: str, rotation: Array, lever: float) -> Drift:
    """How far other rotations than `rotation` `(F, 3, 3)` move points at a distance `lever`."""

    def drift(tried: Array, indices: Indices) -> Array:
        filled = np.concatenate([tried, np.zeros((*tried.shape[:-1], 4 - tried.shape[-1]))], axis=-1)
        away = channel_rotations(mode, filled) - rotation[indices]
        # A turn by an angle a differs from none by 2 sqrt(2) sin(a/2): the chord is that over the root of two.
        return np.sqrt(0.5 * np.sum(away**2, axis=(-1, -2))) * lever

    return drift


def chosen_keys(plan: ChainPlan, thing: Object, curves: list[CurveSamples], drift: Drift) -> tuple[list[ChannelKeys], float]:
    """The keys of some channels that are keyed together, as the settings say, and what reducing them costs, world units."""
    if plan.settings.keys == "REDUCE":
        keys, cost = _reduced(plan, curves, drift)
    else:
        keys, cost = full_rate_keys(plan, curves), 0.0
    within = float(plan.frames[0]), float(plan.frames[-1])
    keyed = {(curve.path, curve.index): read_keyed(thing, curve.path, curve.index, *within) for curve in curves}
    return [with_held(plan, keyed, *pair) for pair in zip(curves, keys, strict=True)], cost


def _reduced(plan: ChainPlan, curves: list[CurveSamples], drift: Drift) -> tuple[list[ChannelKeys], float]:
    values = np.stack([curve.values for curve in curves], axis=-1)
    found = reduce_keys(
        plan.frames,
        values,
        drift,
        plan.settings.tolerance,
        key_frames=plan.report_frames,
        required=kept_frames(plan, plan.report_frames[turning_points(values[plan.report_rows])]),
        ends=loop_slopes(plan, curves),
    )
    return reduced_keys(curves, found), found.worst_drift
