"""Location and rotation keys that bring an object to world-space placements."""

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
"""Channel group in which Blender itself puts an object's F-Curves."""

FLAT_TO_BLENDER = 1e-6
"""Volume spanned by a space's axes, relative to their lengths, that is 0 within the single precision of Blender's matrices."""


def location_space(thing: Object, parent_world: Array) -> Array:
    """Transforms `(F, 4, 4)` from an object's location channels to world space.

    parent_world : (F, 4, 4), the object's world matrix without its own location, rotation and scale
    """
    space = parent_world.copy()
    space[:, :3, 3] += parent_world[:, :3, :3] @ np.array(thing.delta_location)
    return space


def refuse_flat(thing: Object, frames: Array, space: Array) -> None:
    """Raise `WriteError` where an object's location cannot move it freely, because its parent is scaled to 0.

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
    """Keys of an object's location that bring it to `places_world` `(F, 3)`, and the drift from reducing them, world units.

    space : (F, 4, 4), see `location_space`
    """
    values = location_values(space, places_world)
    present = np.array(thing.location)
    curves = [CurveSamples(LOCATION, axis, GROUP, values[:, axis], np.full(len(values), present[axis])) for axis in range(3)]
    return chosen_keys(plan, thing, curves, location_drift(values, space[:, :3, :3]))


def location_drift(values: Array, linear: Array) -> Drift:
    """Function measuring the world-space distance of locations from `values` `(F, 3)`; `linear` `(F, 3, 3)` maps to the world."""
    linear = np.broadcast_to(linear, (len(values), 3, 3))
    return lambda tried, indices: magnitude((linear[indices] @ (tried - values[indices])[..., None])[..., 0])


def rotation_space(thing: Object, parent_world: Array) -> Array:
    """Rotations `(F, 3, 3)` that come before an object's own rotation: its parent's times its delta rotation."""
    mode = thing.rotation_mode
    delta = thing.delta_rotation_quaternion if mode == "QUATERNION" else (*thing.delta_rotation_euler, 0.0)
    turn = np.eye(3)[None] if mode == "AXIS_ANGLE" else channel_rotations(mode, np.array([delta]))
    return nearest_rotation(parent_world[:, :3, :3]) @ turn


def rotation_keys(
    plan: ChainPlan, thing: Object, space: Array, turns_world: Array, *, lever: float
) -> tuple[list[ChannelKeys], float]:
    """Keys that give an object the rotations `turns_world` `(F, 3, 3)`, and the drift from reducing them, world units.

    space : (F, 3, 3), see `rotation_space`; lever : distance at which a drift of the rotation is measured
    """
    rotation = np.swapaxes(space, -1, -2) @ turns_world
    path = rotation_channel(thing.rotation_mode)
    curves = rotation_samples(plan, thing, path, GROUP, rotation, mode=thing.rotation_mode, present=rotation_values(thing))
    return chosen_keys(plan, thing, curves, rotation_drift(thing.rotation_mode, rotation, lever))


def rotation_samples(
    plan: ChainPlan, thing: Object, path: str, group: str, rotation: Array, *, mode: str, present: Sequence[float]
) -> list[CurveSamples]:
    """Continuous curves for all channels of a rotation property of an object or one of its bones.

    rotation : (F, 3, 3); present : the channels' present values
    """
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    keyed = [read_keyed(thing, path, index, start, end) for index in range(4)]
    sides = []
    for side in (0, 1):
        outer = [channel.beside[side] for channel in keyed]
        values = [now if value is None else value for value, now in zip(outer, present, strict=True)]
        sides.append(np.array(values[: 3 if path.endswith("euler") else 4]) if any(each is not None for each in outer) else None)
    now = np.broadcast_to(np.array(present), (len(rotation), 4))
    # All channels of an Euler rotation are keyed, since an unkeyed one may have any value at other frames.
    all_axes = frozenset(range(3))
    curves = rotation_curves(mode, rotation=Matrices(rotation), present=now, outside=Surroundings(*sides), baked=all_axes)
    return [
        CurveSamples(path, index, group, curves.values[:, column], now[:, index]) for column, index in enumerate(curves.indices)
    ]


def rotation_drift(mode: str, rotation: Array, lever: float) -> Drift:
    """Function measuring how far rotations other than `rotation` `(F, 3, 3)` move points at the distance `lever`."""

    def drift(tried: Array, indices: Indices) -> Array:
        padded = np.concatenate([tried, np.zeros((*tried.shape[:-1], 4 - tried.shape[-1]))], axis=-1)
        difference = channel_rotations(mode, padded) - rotation[indices]
        # A rotation by angle a differs from the identity by 2 sqrt(2) sin(a/2) (Frobenius norm); the chord is that / sqrt(2).
        return np.sqrt(0.5 * np.sum(difference**2, axis=(-1, -2))) * lever

    return drift


def chosen_keys(plan: ChainPlan, thing: Object, curves: list[CurveSamples], drift: Drift) -> tuple[list[ChannelKeys], float]:
    """Full-rate or reduced keys, by the settings, of channels keyed together, and the drift from reducing them, world units."""
    if plan.settings.keys == "REDUCE":
        keys, worst_drift = _reduced(plan, curves, drift)
    else:
        keys, worst_drift = full_rate_keys(plan, curves), 0.0
    within = float(plan.frames[0]), float(plan.frames[-1])
    keyed = {(curve.path, curve.index): read_keyed(thing, curve.path, curve.index, *within) for curve in curves}
    return [with_held(plan, keyed, *pair) for pair in zip(curves, keys, strict=True)], worst_drift


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
