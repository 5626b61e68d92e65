"""Motion as arrays: where things are at every frame, without touching the user's scene.

A temporary scene holds one probe empty per thing, which copies its transform. Setting that scene's frame evaluates
the probes and what they hang from, nothing else: not the user's scene, not its meshes, not unkeyed edits. Where
something reads the scene itself (a driver, a simulation), the probes are put into the user's scene for the walk, and
everything the walk disturbs there is put back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ..array_types import Array
from .blender_types import Object, Scene
from .restoring import frame_and_edits_kept

PROBE_NAME = ".twobone_probe"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing to know at every frame."""

    kind: str
    """`WORLD`: world matrix of an object or bone, `(F, 4, 4)`. `POSE`: a bone's posed matrix, armature space,
    `(F, 4, 4)`. `CHANNELS`: a bone's own location (3), rotation (4: quaternion, axis-angle, or Euler and 0) and
    scale (3), `(F, 10)`."""
    object: str
    bone: str = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled, and how."""

    values: dict[Quantity, Array]
    evaluation: str
    """`PROBES` in a temporary scene, or `SCENE`, the user's own."""

    def __getitem__(self, quantity: Quantity) -> Array:
        """The values of a quantity, first axis frames."""
        return self.values[quantity]


def sample(scene: Scene, quantities: list[Quantity], frames: Array, *, in_scene: bool) -> Samples:
    """Evaluate `quantities` at `frames` `(F,)` (which may be fractional), in one walk over time."""
    unique = list(dict.fromkeys(quantities))
    rows: list[list[float]] = [[] for _ in unique]
    with _walk(scene, unique, in_scene=in_scene) as visit:
        for frame in frames.tolist():
            for row, read in zip(rows, visit(frame), strict=True):
                row.extend(read)
    values = {
        quantity: np.array(row).reshape(len(frames), *_shape(quantity))
        for quantity, row in zip(unique, rows, strict=True)
    }
    return Samples(values, "SCENE" if in_scene else "PROBES")


def _shape(quantity: Quantity) -> tuple[int, ...]:
    return (10,) if quantity.kind == "CHANNELS" else (4, 4)


@contextmanager
def _walk(
    scene: Scene, quantities: list[Quantity], *, in_scene: bool
) -> Iterator[Callable[[float], Iterator[list[float]]]]:
    """Yield a function that moves to a frame and reads all quantities there as flat lists."""
    with _probed_scene(scene, quantities, in_scene=in_scene) as (stage, probes):
        layer = stage.view_layers[0]

        def visit(frame: float) -> Iterator[list[float]]:
            whole = math.floor(frame)
            stage.frame_set(whole, subframe=frame - whole)
            depsgraph = layer.depsgraph
            return (_read(quantity, probe.evaluated_get(depsgraph), depsgraph) for quantity, probe in probes)

        yield visit


def _read(quantity: Quantity, probe: Object, depsgraph: object) -> list[float]:
    if quantity.kind == "WORLD":
        return _flat(probe.matrix_world)
    armature = bpy.data.objects[quantity.object].evaluated_get(depsgraph)
    bone = armature.pose.bones[quantity.bone]
    if quantity.kind == "POSE":
        return _flat(bone.matrix)
    if bone.rotation_mode == "QUATERNION":
        rotation = bone.rotation_quaternion
    elif bone.rotation_mode == "AXIS_ANGLE":
        rotation = bone.rotation_axis_angle
    else:
        rotation = (*bone.rotation_euler, 0.0)
    return [*bone.location, *rotation, *bone.scale]


def _flat(matrix: object) -> list[float]:
    return [*matrix[0], *matrix[1], *matrix[2], *matrix[3]]


@contextmanager
def _probed_scene(
    scene: Scene, quantities: list[Quantity], *, in_scene: bool
) -> Iterator[tuple[Scene, list[tuple[Quantity, Object]]]]:
    """A scene to walk in, with a probe per object and bone; everything is removed again at the end."""
    probes: dict[tuple[str, str], Object] = {}
    stage = scene if in_scene else _empty_copy(scene)
    try:
        for quantity in quantities:
            place = (quantity.object, quantity.bone)
            if place not in probes:
                probes[place] = _probe(*place)
                stage.collection.objects.link(probes[place])
        paired = [(quantity, probes[quantity.object, quantity.bone]) for quantity in quantities]
        if in_scene:
            with frame_and_edits_kept(scene):
                yield stage, paired
        else:
            yield stage, paired
    finally:
        if not in_scene:
            bpy.data.scenes.remove(stage)
        for probe in probes.values():
            bpy.data.objects.remove(probe)


def _empty_copy(scene: Scene) -> Scene:
    """A new scene in which time runs as in `scene`."""
    stage = bpy.data.scenes.new(PROBE_NAME)
    for setting in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
        setattr(stage.render, setting, getattr(scene.render, setting))
    return stage


def _probe(name: str, bone: str) -> Object:
    probe = bpy.data.objects.new(PROBE_NAME, None)
    constraint = probe.constraints.new("COPY_TRANSFORMS")
    constraint.target = bpy.data.objects[name]
    constraint.subtarget = bone
    return probe
