"""Where things are now, in a scene that Blender has evaluated already. Nothing is evaluated for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...array_types import Array
from ..lookup import rotation_values
from .quantities import Quantity, Samples

ENTRY = re.compile(r"(?P<list>.+)\[(?P<index>\d+)\]\.")
"""Data path of an entry of a list, up to its own property."""


def present_samples(depsgraph: Any, quantities: Iterable[Quantity], frames: Array) -> Samples:
    """One row of each quantity, as the depsgraph has it; `frames` `(1,)` says when that is."""
    values = {quantity: np.array([_read(depsgraph, quantity)], dtype=float) for quantity in dict.fromkeys(quantities)}
    return Samples(values, frames, "PRESENT")


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


def _number(evaluated: Any, path: str) -> float:
    """A property's value; of an entry of a list that is newer than the evaluated copy, that of the original."""
    entry = ENTRY.match(path)
    is_new = entry is not None and int(entry["index"]) >= len(evaluated.path_resolve(entry["list"]))
    thing = evaluated.original if is_new else evaluated
    value = thing.path_resolve(path)
    if isinstance(value, str):
        owner, _, name = path.rpartition(".")
        return thing.path_resolve(owner).bl_rna.properties[name].enum_items[value].value
    return float(value)
