"""Where things are now, in a scene that Blender has evaluated already. Nothing is evaluated for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..array_types import Array
from .quantities import Quantity, Samples


def present_samples(depsgraph: Any, quantities: Iterable[Quantity]) -> Samples:
    """One row of each quantity, as the depsgraph has it."""
    values = {quantity: np.array([_read(depsgraph, quantity)], dtype=float) for quantity in dict.fromkeys(quantities)}
    return Samples(values, "PRESENT")


def rotation_values(bone: Any) -> tuple[float, ...]:
    """The four numbers of a pose bone's rotation channel: quaternion, axis-angle, or Euler angles and 0."""
    if bone.rotation_mode == "QUATERNION":
        return tuple(bone.rotation_quaternion)
    if bone.rotation_mode == "AXIS_ANGLE":
        return tuple(bone.rotation_axis_angle)
    return (*bone.rotation_euler, 0.0)


def _read(depsgraph: Any, quantity: Quantity) -> Array:
    thing = bpy.data.objects[quantity.object].evaluated_get(depsgraph)
    if quantity.kind == "WORLD":
        world = np.array(thing.matrix_world)
        return world @ np.array(thing.pose.bones[quantity.bone].matrix) if quantity.bone else world
    if quantity.kind == "POSE":
        return np.array(thing.pose.bones[quantity.bone].matrix)
    if quantity.kind == "VALUE":
        return np.array(_number(thing, quantity.path))
    bone = thing.pose.bones[quantity.bone]
    return np.array([*bone.location, *rotation_values(bone), *bone.scale])


def _number(thing: Any, path: str) -> float:
    value = thing.path_resolve(path)
    if isinstance(value, str):
        owner, _, name = path.rpartition(".")
        return thing.path_resolve(owner).bl_rna.properties[name].enum_items[value].value
    return float(value)
