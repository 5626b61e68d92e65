"""Probe empties, which make Blender evaluate an object or a bone in any scene, and fast reading of their values.

A probe copies a transform by a constraint, so its scene must evaluate whatever the transform depends on, even if that
is hidden or in no scene at all. An object that is surely visible and has no geometry (an empty, an armature) is its own
probe in a temporary scene: it is linked there for the pass over the frames, which spares Blender the copying.
An armature is not linked where a probe spares Blender most of its bones: those that nothing reads are not posed.

Reading is most of what Python does in a pass: where it can, one call fetches all matrices of a frame into a row of an
array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Self

import bpy
import numpy as np

from ...core.array_types import Array
from ..blender_types import Object, Scene
from ..graph.animation_reading import may_be_animated
from ..lookup import rotation_values
from .quantities import Quantity
from .stage import unkeyed_kept

PROBE_NAME = ".twobone_probe"

MATRIX_SIZE = 16

Read = Callable[[int], None]
"""Reads the scene's present frame into the row of that number."""

SPARED_BONES = 8
"""Number of bones that take Blender about as long to pose as a probe takes to copy some."""

FEW_BONES = 32
"""Bones of an armature per requested one up to which fetching all at once is cheaper than one by one."""


class Probes:
    """Probes for some quantities in a scene, and arrays of `count` rows for the values read from them."""

    def __init__(
        self, stage: Scene, quantities: list[Quantity], count: int, *, alone: bool, things: Mapping[str, Object]
    ) -> None:
        """Plan the probes; `alone`: the scene holds nothing else; `things`: by name, the objects or their stand-ins."""
        self.stage = stage
        """The scene that they are put into."""
        self._things = things
        self._alone = alone
        self._made: list[Object] = []
        bones: dict[str, dict[str, None]] = {}
        worlds: dict[str, None] = {}
        for quantity in quantities:
            if quantity.bone:
                bones.setdefault(quantity.object, {})[quantity.bone] = None
            if quantity.kind == "WORLD":
                worlds[quantity.object] = None
        self._worlds = (StageReader if alone else WorldReader)(list(worlds), count)
        self._poses = {name: PoseReader(self._things[name], list(names), count) for name, names in bones.items()}
        self._others: dict[Quantity, ChannelReader | ValueReader] = {
            quantity: ChannelReader(quantity, count) for quantity in quantities if quantity.kind == "CHANNELS"
        }
        self._numbers = [quantity for quantity in quantities if quantity.kind == "VALUE"]
        self._count = count

    def __enter__(self) -> Self:
        """Put the probes into the scene for a block."""
        self.put()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them again."""
        self.remove()

    def put(self) -> None:
        """Put the probes into the scene, until they are removed."""
        names = dict.fromkeys([*self._worlds.names, *self._poses])
        linked = {name: self._things[name] for name in names if self._alone and self._is_own_probe(name)}
        for thing in linked.values():
            self.stage.collection.objects.link(thing)
        for name in self._worlds.names:
            self._worlds.probes.append(self._things[name] if name in linked else self._probe(name, [""]))
        for name, reader in self._poses.items():
            if name not in linked:
                self._probe(name, outermost(self._things[name], reader.names))
        with unkeyed_kept() if self._numbers else nullcontext():
            for quantity in self._numbers:
                self._others[quantity] = ValueReader(self._probe("", []), quantity, self._count)

    def remove(self) -> None:
        """Remove the probes from the scene."""
        for probe in self._made:
            bpy.data.objects.remove(probe)
        for thing in list(self.stage.collection.objects) if self._alone else ():
            self.stage.collection.objects.unlink(thing)

    def readers(self, depsgraph: Any) -> list[Read]:
        """Functions that read all values of the scene's present frame, from a depsgraph, into a row.

        They hold on to evaluated copies, which stay valid from frame to frame as long as no other code runs.
        """
        worlds = [self._worlds] if self._worlds.names else []
        return [reader.reading(depsgraph) for reader in (*worlds, *self._poses.values(), *self._others.values())]

    def values(self, quantity: Quantity) -> Array:
        """All rows of a quantity."""
        if quantity in self._others:
            # The next pass reads into the same rows.
            return self._others[quantity].values.copy()
        if quantity.kind == "POSE":
            return self._poses[quantity.object].values(quantity.bone)
        world = self._worlds.values(quantity.object)
        return world @ self._poses[quantity.object].values(quantity.bone) if quantity.bone else world

    def _is_own_probe(self, name: str) -> bool:
        """Whether an object is linked into the scene itself; not an armature if a probe spares Blender many bones."""
        reader = self._poses.get(name)
        return is_bare(self._things[name]) and (reader is None or reader.left_out <= SPARED_BONES)

    def _probe(self, name: str, bones: list[str]) -> Object:
        probe = bpy.data.objects.new(PROBE_NAME, None)
        self._made.append(probe)
        for bone in bones:
            # A bone as target makes Blender pose it and those above it, even where the rig is hidden or in no scene. With
            # the object alone as target the pose would stay as it was last seen.
            constraint = probe.constraints.new("COPY_TRANSFORMS")
            constraint.target = self._things[name]
            constraint.subtarget = bone
        self.stage.collection.objects.link(probe)
        return probe


def is_bare(thing: Object) -> bool:
    """Whether an object may be linked into a temporary scene: only a transform or a pose, visible at all frames."""
    return (
        thing.type in {"EMPTY", "ARMATURE"}
        and thing.instance_type == "NONE"
        and thing.mode != "EDIT"
        and not thing.hide_viewport
        and not may_be_animated(thing, "hide_viewport")
    )


def outermost(armature: Object, names: list[str]) -> list[str]:
    """The bones that are no ancestors of the others; evaluating them evaluates all."""
    above = {bone.name for name in names for bone in armature.pose.bones[name].parent_recursive}
    return [name for name in names if name not in above]


class WorldReader:
    """World matrices of objects, read from their probes."""

    def __init__(self, names: list[str], count: int) -> None:
        self.names = names
        self.probes: list[Object] = []
        self._rows = np.empty((count, len(names), 4, 4), dtype=np.float32)

    def reading(self, depsgraph: Any) -> Read:
        """Function that reads a frame into a row."""
        evaluated, rows = [probe.evaluated_get(depsgraph) for probe in self.probes], self._rows

        def read(row: int) -> None:
            for matrix, probe in zip(rows[row], evaluated, strict=True):
                matrix[:] = probe.matrix_world

        return read

    def values(self, name: str) -> Array:
        """Matrices `(F, 4, 4)`."""
        return self._rows[:, self.names.index(name)].astype(float)


class StageReader(WorldReader):
    """World matrices in a scene that holds nothing but probes: all of its objects are fetched at once."""

    def __init__(self, names: list[str], count: int) -> None:
        super().__init__(names, count)
        self._columns: list[str] = []
        self._flat = np.empty((0, 0), dtype=np.float32)

    def reading(self, depsgraph: Any) -> Read:
        """Function that reads a frame into a row."""
        if not self._columns:
            # The order in which Blender has the objects is its own, not that in which they were linked.
            self._columns = [thing.name for thing in depsgraph.view_layer_eval.objects]
            self._flat = np.empty((len(self._rows), MATRIX_SIZE * len(self._columns)), dtype=np.float32)
        flat = self._flat
        # Takes a third of the time of `depsgraph.objects`, which looks for instances.
        fetch = depsgraph.view_layer_eval.objects.foreach_get
        return lambda row: fetch("matrix_world", flat[row])

    def values(self, name: str) -> Array:
        """Matrices `(F, 4, 4)`."""
        return by_rows(self._flat, self._columns.index(self.probes[self.names.index(name)].name))


def by_rows(flat: Array, number: int) -> Array:
    """Matrices `(F, 4, 4)` of one number in rows `(F, 16 n)` of matrices, which Blender stores column by column."""
    return flat.reshape(len(flat), -1, 4, 4)[:, number].swapaxes(-1, -2).astype(float, order="C")


class PoseReader:
    """Posed matrices of some bones of an armature."""

    def __init__(self, armature: Object, names: list[str], count: int) -> None:
        self.names = names
        self._armature = armature
        bones = armature.pose.bones
        self.left_out = len(bones) - len({*names, *(above.name for name in names for above in bones[name].parent_recursive)})
        """Number of bones that are neither these nor their ancestors."""
        self._fetches_all = len(bones) <= FEW_BONES * len(names)
        self._is_every_bone = bones.keys() == names
        self._columns = np.array([bones.find(name) for name in names])
        self._all_matrices = np.empty((len(bones), MATRIX_SIZE), dtype=np.float32)
        self._flat = np.empty((count, len(names), MATRIX_SIZE), dtype=np.float32)

    def reading(self, depsgraph: Any) -> Read:
        """Function that reads a frame into a row."""
        bones, flat = self._armature.evaluated_get(depsgraph).pose.bones, self._flat
        fetch, every, columns = bones.foreach_get, self._all_matrices, self._columns
        fetched = every.reshape(-1)
        rows = flat.reshape(len(flat), -1)

        def read_all(row: int) -> None:
            fetch("matrix", fetched)
            # Any other mode lets NumPy fill a buffer first, in case an index is out of range.
            every.take(columns, axis=0, out=flat[row], mode="clip")

        def read(row: int) -> None:
            for matrix, name in zip(flat[row].reshape(-1, 4, 4).swapaxes(-1, -2), self.names, strict=True):
                matrix[:] = bones[name].matrix

        if self._is_every_bone:
            return lambda row: fetch("matrix", rows[row])
        return read_all if self._fetches_all else read

    def values(self, name: str) -> Array:
        """Matrices `(F, 4, 4)`."""
        return by_rows(self._flat.reshape(len(self._flat), -1), self.names.index(name))


class ChannelReader:
    """Channels of one bone, `(F, 10)`."""

    def __init__(self, quantity: Quantity, count: int) -> None:
        self._armature = bpy.data.objects[quantity.object]
        self._bone = quantity.bone
        self.values: Array = np.zeros((count, 10))

    def reading(self, depsgraph: Any) -> Read:
        """Function that reads a frame into a row."""
        evaluated = self._armature.evaluated_get(depsgraph)
        return lambda row: self._fetch(evaluated, row)

    def _fetch(self, evaluated: Object, row: int) -> None:
        bone = evaluated.pose.bones[self._bone]
        self.values[row] = (*bone.location, *rotation_values(bone), *bone.scale)


class ValueReader:
    """The number at a data path of an object, `(F,)`.

    Blender evaluates the animation of a property that no transform depends on only if something reads it: here, a
    driver on a probe. The driver's own result is not used, for it does not tell numbers near zero from zero.
    """

    def __init__(self, probe: Object, quantity: Quantity, count: int) -> None:
        self._object = bpy.data.objects[quantity.object]
        self._path = quantity.path
        # The scene's evaluated copy may be from before a chain was added, removed or moved in its list.
        self._object.update_tag()
        driver = probe.driver_add("location", 0).driver
        driver.type = "AVERAGE"
        target = driver.variables.new().targets[0]
        target.id = self._object
        target.data_path = quantity.path
        self.values: Array = np.zeros(count)

    def reading(self, depsgraph: Any) -> Read:
        """Function that reads a frame into a row."""
        evaluated = self._object.evaluated_get(depsgraph)
        return lambda row: self._fetch(evaluated, row)

    def _fetch(self, thing: Object, row: int) -> None:
        value = thing.path_resolve(self._path)
        if isinstance(value, str):
            # Blender gives an enum item by name; its F-curve holds the item's number.
            owner, _, name = self._path.rpartition(".")
            items = thing.path_resolve(owner).bl_rna.properties[name].enum_items
            value = items[value].value if value in items else 0
        self.values[row] = value
