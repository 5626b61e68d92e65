"""Probe empties: what makes Blender evaluate an object or a bone in any scene, and how it is read fast.

A probe copies a transform by a constraint, so its scene must evaluate whatever the transform hangs from, even if that
is hidden or in no scene at all. Reading is most of what Python does in a walk over time: where it can, one call fetches
all matrices of a frame into a row of an array.
"""

from __future__ import annotations

from typing import Any, Self

import bpy
import numpy as np

from ..array_types import Array
from .blender_types import Object, Scene
from .quantities import Quantity

PROBE_NAME = ".twobone_probe"

FEW_BONES = 4
"""Up to this many bones per wanted one, fetching all bones of an armature at once is cheaper than one by one."""


class Probes:
    """Probes for some quantities in a scene, and arrays for what is read from them, `count` rows."""

    def __init__(self, stage: Scene, quantities: list[Quantity], count: int) -> None:
        self._stage = stage
        self._made: list[Object] = []
        bones: dict[str, dict[str, None]] = {}
        worlds: dict[str, None] = {}
        for quantity in quantities:
            if quantity.bone:
                bones.setdefault(quantity.object, {})[quantity.bone] = None
            if quantity.kind in {"WORLD", "VALUE"}:
                worlds[quantity.object] = None
        self._worlds = WorldReader(list(worlds), count)
        self._poses = {name: PoseReader(name, list(names), count) for name, names in bones.items()}
        kinds = {"CHANNELS": ChannelReader, "VALUE": ValueReader}
        self._others = {q: kinds[q.kind](q, count) for q in quantities if q.kind in kinds}

    def __enter__(self) -> Self:
        """Put the probes into the scene."""
        for name in self._worlds.names:
            self._worlds.probes.append(self._probe(name, [""]))
        for name, reader in self._poses.items():
            self._probe(name, outermost(bpy.data.objects[name], reader.names))
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them again."""
        for probe in self._made:
            bpy.data.objects.remove(probe)

    def read(self, depsgraph: Any, row: int) -> None:
        """Take everything at the scene's present frame into a row."""
        self._worlds.read(depsgraph, row)
        for reader in self._poses.values():
            reader.read(depsgraph, row)
        for reader in self._others.values():
            reader.read(depsgraph, row)

    def values(self, quantity: Quantity) -> Array:
        """All rows of a quantity."""
        if quantity in self._others:
            return self._others[quantity].values
        if quantity.kind == "POSE":
            return self._poses[quantity.object].values(quantity.bone)
        world = self._worlds.values(quantity.object)
        return world @ self._poses[quantity.object].values(quantity.bone) if quantity.bone else world

    def _probe(self, name: str, bones: list[str]) -> Object:
        probe = bpy.data.objects.new(PROBE_NAME, None)
        self._made.append(probe)
        for bone in bones:
            constraint = probe.constraints.new("COPY_TRANSFORMS")
            constraint.target = bpy.data.objects[name]
            constraint.subtarget = bone
        self._stage.collection.objects.link(probe)
        return probe


def outermost(armature: Object, names: list[str]) -> list[str]:
    """Those of the bones that carry none of the others; evaluating them evaluates all."""
    above = {bone.name for name in names for bone in armature.pose.bones[name].parent_recursive}
    return [name for name in names if name not in above]


class WorldReader:
    """World matrices of objects."""

    def __init__(self, names: list[str], count: int) -> None:
        self.names = names
        self.probes: list[Object] = []
        self._rows = np.empty((count, len(names), 4, 4), dtype=np.float32)

    def read(self, depsgraph: Any, row: int) -> None:
        """Fetch one frame."""
        for place, probe in zip(self._rows[row], self.probes, strict=True):
            place[:] = probe.evaluated_get(depsgraph).matrix_world

    def values(self, name: str) -> Array:
        """Matrices `(F, 4, 4)`."""
        return self._rows[:, self.names.index(name)].astype(float)


class PoseReader:
    """Posed matrices of some bones of an armature."""

    def __init__(self, armature: str, names: list[str], count: int) -> None:
        self.names = names
        self._armature = bpy.data.objects[armature]
        bones = self._armature.pose.bones
        self._whole = len(bones) <= FEW_BONES * len(names)
        self._columns = bones.keys() if self._whole else names
        self._rows = np.empty((count, len(self._columns), 4, 4), dtype=np.float32)

    def read(self, depsgraph: Any, row: int) -> None:
        """Fetch one frame."""
        bones = self._armature.evaluated_get(depsgraph).pose.bones
        if self._whole:
            bones.foreach_get("matrix", self._rows[row].reshape(-1))
            return
        for place, name in zip(self._rows[row], self.names, strict=True):
            place[:] = bones[name].matrix

    def values(self, name: str) -> Array:
        """Matrices `(F, 4, 4)`."""
        matrices = self._rows[:, self._columns.index(name)].astype(float)
        return matrices.swapaxes(-1, -2) if self._whole else matrices  # Blender keeps matrices by columns.


class ChannelReader:
    """Channels of one bone, `(F, 10)`."""

    def __init__(self, quantity: Quantity, count: int) -> None:
        self._armature = bpy.data.objects[quantity.object]
        self._bone = quantity.bone
        self.values: Array = np.zeros((count, 10))

    def read(self, depsgraph: Any, row: int) -> None:
        """Fetch one frame."""
        bone = self._armature.evaluated_get(depsgraph).pose.bones[self._bone]
        if bone.rotation_mode == "QUATERNION":
            rotation = bone.rotation_quaternion
        elif bone.rotation_mode == "AXIS_ANGLE":
            rotation = bone.rotation_axis_angle
        else:
            rotation = (*bone.rotation_euler, 0.0)
        self.values[row] = (*bone.location, *rotation, *bone.scale)


class ValueReader:
    """The number at a data path of an object, `(F,)`."""

    def __init__(self, quantity: Quantity, count: int) -> None:
        self._object = bpy.data.objects[quantity.object]
        self._path = quantity.path
        self.values: Array = np.zeros(count)

    def read(self, depsgraph: Any, row: int) -> None:
        """Fetch one frame."""
        self.values[row] = self._object.evaluated_get(depsgraph).path_resolve(self._path)
