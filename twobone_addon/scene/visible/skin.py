"""What shows a limb, read once for all that ask: deformed meshes, deforming bones beside a link, followers, and the rig graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import bpy
import numpy as np
from mathutils import Vector

from ...core.array_types import Array, Mask
from ...core.arrays import magnitude
from ..blender_types import Object
from ..graph.rig_graph import TARGETS, RigGraph
from ..lookup import read_once

BESIDE = 0.05
"""Distance from a link at rest, relative to its length, within which a bone with both ends lies on it."""


Table = TypeVar("Table")


class Skins:
    """What shows the limbs of a file: deformed meshes, followers of armatures, and who reads whom; read once for many limbs.

    Made anew after anything but keys and values is written: it has no influence and no pose, only what these are of.
    """

    def __init__(self) -> None:
        self.graph = RigGraph()
        """Drivers and IK of all rigs."""
        self._tables: dict[tuple[Hashable, ...], Any] = {}
        self._meshes = [
            (mesh, modifier)
            for mesh in bpy.data.objects
            if mesh.type == "MESH"
            for modifier in mesh.modifiers
            if modifier.type == "ARMATURE"
        ]
        self._followers: dict[Object, list[Object]] = {}
        self._moved = set[Object]()
        """Armatures with constraints or drivers on their bones."""
        for armature in bpy.data.objects:
            if armature.type == "ARMATURE":
                for read in {read for read in self._read_by(armature) if read is not None}:
                    self._followers.setdefault(read, []).append(armature)

    def table(self, reader: Callable[[Any], Table], thing: Any) -> Table:
        """What a function reads of an armature, kept."""
        key = (reader, thing)
        if key not in self._tables:
            self._tables[key] = read_once(reader, thing)
        return self._tables[key]

    def hidden(self, armature: Object) -> list[tuple[str, str]]:
        """Armature modifiers hidden in the viewport, each with its mesh, of the armature and of its followers."""
        rigs = [armature, *self.followers(armature)]
        return [
            (modifier.name, mesh.name)
            for mesh, modifier in self._meshes
            if not modifier.show_viewport and modifier.object in rigs
        ]

    def followers(self, armature: Object) -> list[Object]:
        """Other armatures whose bones follow this one by constraints or drivers, such as the deforming one of a control rig."""
        # An evaluated copy stands for its original.
        original = armature.original
        return [other for other in self._followers.get(original, []) if other not in {armature, original}]

    def moves_by_parents_alone(self, armature: Object) -> bool:
        """Whether no constraint and no driver moves its bones, nor those of another armature after it."""
        return armature.original not in self._moved and not self.followers(armature)

    def deforms_a_mesh(self, armature: Object, bone: str = "") -> bool:
        """Whether a mesh has weights for a bone; without a bone, whether the armature deforms any mesh."""
        meshes = (mesh for mesh, modifier in self._meshes if modifier.object == armature.original)
        return any(not bone or bone in mesh.vertex_groups for mesh in meshes)

    def _read_by(self, armature: Object) -> Iterator[Object]:
        """Objects that constraints and drivers of an armature's bones read; before its first evaluation it has no pose."""
        for bone in armature.pose.bones if armature.pose else ():
            for constraint in bone.constraints:
                self._moved.add(armature)
                yield from (getattr(constraint, name, None) for name, _ in TARGETS)
                if constraint.type == "ARMATURE":
                    yield from (entry.target for entry in constraint.targets)
        for owner, drivers in self.graph.drivers_of(armature).items():
            for fcurve in drivers if owner else ():
                self._moved.add(armature)
                yield from (target.id for variable in fcurve.driver.variables for target in variable.targets)


def deforming_beside(armature: Object, start: Vector, end: Vector, skins: Skins | None = None) -> list[str]:
    """Names of the deforming bones between two points at rest, armature space, the one nearest to the end first."""
    bones = skins.table(_deforming_bones, armature) if skins else read_once(_deforming_bones, armature)
    along = np.array(end - start, dtype=float)
    length = float(magnitude(along))
    if length == 0.0:
        return []
    away = bones.ends - np.array(start, dtype=float)
    parts = np.clip(away @ along / (length * length), 0.0, 1.0)
    on_link = np.all(magnitude(away - along * parts[..., None]) <= BESIDE * length, axis=-1)
    # A shorter bone may lie across the link with both ends this near.
    rows = np.flatnonzero(on_link & (magnitude(np.diff(bones.ends, axis=1)[:, 0]) >= BESIDE * length))
    distances = magnitude(bones.ends[rows] - np.array(end, dtype=float)).min(axis=-1)
    return [bones.names[number] for number in rows[np.argsort(distances, kind="stable")]]


@dataclass(frozen=True, slots=True)
class _DeformingBones:
    """The deforming bones of an armature at rest."""

    names: list[str]
    ends: Array
    """`(B, 2, 3)` heads and tails, armature space."""


def _deforming_bones(armature: Object) -> _DeformingBones:
    bones = armature.data.bones
    deforms: Mask = np.empty(len(bones), dtype=bool)
    bones.foreach_get("use_deform", deforms)
    ends = np.empty((2, len(bones), 3), dtype=np.float32)
    for points, name in zip(ends, ("head_local", "tail_local"), strict=True):
        bones.foreach_get(name, points.ravel())
    names = [bone.name for bone, does_deform in zip(bones, deforms.tolist(), strict=True) if does_deform]
    return _DeformingBones(names, ends[:, deforms].swapaxes(0, 1).astype(float))


def seen_from(armature: Object, other: Object, bone: str, point: Sequence[float]) -> Vector:
    """A point of an armature at rest, in the space of a bone of this or another armature that carries it along."""
    rest = armature.matrix_world.inverted_safe() @ other.matrix_world @ other.data.bones[bone].matrix_local
    return rest.inverted_safe() @ Vector(point)
