"""Motion from F-Curves: quantities composed in NumPy, with Blender evaluating nothing but the curves."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.rig.inheritance import ChannelValues, carried_matrices, placed_object, posed_bone
from ...scene.blender_types import Object
from ...scene.graph.lineage_reading import LineageReader
from ...scene.sampling.quantities import Quantity


class CurveMotion:
    """Computes quantities at the same times; what several of them depend on is computed once and cached."""

    def __init__(self, reader: LineageReader) -> None:
        self._reader = reader
        self._worlds: dict[str, Array | None] = {}
        self._poses: dict[tuple[str, str], Array | None] = {}

    def find(self, quantity: Quantity) -> Array | None:
        """The quantity's values, one row if it does not move; `None` if curves alone do not determine it."""
        lineage = self._reader.parents(quantity.object)
        thing = lineage[-1]
        if quantity.kind == "VALUE":
            return self._reader.value(thing, quantity.path)
        if quantity.kind == "CHANNELS":
            channels = self._reader.channels(thing, thing.pose.bones[quantity.bone])
            return None if channels is None else joined(channels)
        if quantity.kind == "POSE":
            return self._pose(thing, quantity.bone)
        world = self._world(lineage)
        if world is None or not quantity.bone:
            return world
        pose = self._pose(thing, quantity.bone)
        return None if pose is None else world @ pose

    def _world(self, lineage: list[Object]) -> Array | None:
        world = None
        for thing in lineage:
            if thing.name not in self._worlds:
                self._worlds[thing.name] = self._placed(thing, world)
            world = self._worlds[thing.name]
            if world is None:
                return None
        return world

    def _placed(self, thing: Object, parent_world: Array | None) -> Array | None:
        """World matrices of an object, from those of its parent; `None` if curves alone do not determine them."""
        link = self._reader.object_link(thing)
        if link is None:
            return None
        if parent_world is not None and thing.parent_type == "BONE":
            carrier = self._reader.carrier(thing)
            pose = self._pose(thing.parent, thing.parent_bone)
            if carrier is None or pose is None:
                return None
            parent_world = carried_matrices(carrier, parent_world, pose)
        return placed_object(link, parent_world)

    def _pose(self, armature: Object, name: str) -> Array | None:
        bone = armature.pose.bones[name]
        path = [bone, *bone.parent_recursive]
        pose = None
        for step in reversed(path):
            place = (armature.name, step.name)
            if place not in self._poses:
                link = self._reader.bone_link(armature, step.name)
                self._poses[place] = None if link is None else posed_bone(link, pose)
            pose = self._poses[place]
            if pose is None:
                return None
        return pose


def joined(channels: ChannelValues) -> Array:
    """Location, rotation and scale side by side, `(F, 10)`."""
    parts = (channels.location, channels.rotation, channels.scale)
    rows = max(len(part) for part in parts)
    return np.concatenate([np.broadcast_to(part, (rows, part.shape[-1])) for part in parts], axis=-1)
