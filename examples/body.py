"""A body for the examples' human: one mesh deformed by the rig's bones.

Nothing here is needed to bake. Your own character already has a mesh.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import bpy
import numpy as np
import stage
from mathutils import Vector

FINENESS = 0.014
"""Distance between the vertices of the skin, in metres."""
SOFTNESS = 0.02
"""Distance over which weights fade from one bone to the next, in metres."""
LEAST_WEIGHT = 0.05


class Part(NamedTuple):
    """The body around one bone: radii at head and tail, colour, ratio of depth to width, and distance kept from both ends."""

    radii: tuple[float, float]
    colour: bpy.types.Material
    flatness: float = 1.0
    inset: float = 0.0


def grow(armature: bpy.types.Object, parts: Mapping[str, Part]) -> bpy.types.Object:
    """Make a skin around the given bones of an armature in its rest pose, weighted by distance to the bones."""
    made = stage.add("Body", smooth_skin(armature, parts))
    places = np.empty((len(made.data.vertices), 3), np.float32)
    made.data.vertices.foreach_get("co", places.ravel())
    weights = weigh(places, armature, parts)
    for bone, weight in zip(parts, weights.T, strict=True):
        group = made.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(weight):
            group.add([int(vertex)], float(weight[vertex]), "REPLACE")
    paint(made.data, [part.colour for part in parts.values()], weights)
    bend = made.modifiers.new("Armature", "ARMATURE")
    bend.object, bend.use_deform_preserve_volume = armature, True
    made.parent = armature
    return made


def smooth_skin(armature: bpy.types.Object, parts: Mapping[str, Part]) -> bpy.types.Mesh:
    """One closed surface around all parts."""
    points, faces = [], []
    for bone, part in parts.items():
        rest = armature.data.bones[bone]
        rod = stage.capsule(bone, rest.length - 2.0 * part.inset, *part.radii, part.flatness)
        faces += [[index + len(points) for index in face.vertices] for face in rod.polygons]
        points += [rest.matrix_local @ (vertex.co + Vector((0.0, part.inset, 0.0))) for vertex in rod.vertices]
        bpy.data.meshes.remove(rod)
    rough = bpy.data.meshes.new("Rods")
    rough.from_pydata(points, [], faces)
    mould = stage.add("Mould", rough)
    join = mould.modifiers.new("Join", "REMESH")
    join.mode, join.voxel_size, join.use_smooth_shade = "VOXEL", FINENESS, True
    smooth = mould.modifiers.new("Smooth", "SMOOTH")
    smooth.iterations = 8
    skin = bpy.data.meshes.new_from_object(mould.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(mould)
    bpy.data.meshes.remove(rough)
    skin.name = "Body"
    return skin


def weigh(places: np.ndarray, armature: bpy.types.Object, parts: Mapping[str, Part]) -> np.ndarray:
    """Weights `(V, bones)` of points `places` `(V, 3)`, by distance to the surface around each bone."""
    distances = np.empty((len(places), len(parts)))
    for number, (bone, part) in enumerate(parts.items()):
        head, tail = (np.array(end) for end in (armature.data.bones[bone].head_local, armature.data.bones[bone].tail_local))
        along = np.clip((places - head) @ (tail - head) / np.sum((tail - head) ** 2), 0.0, 1.0)
        away = np.linalg.norm(places - head - along[:, None] * (tail - head), axis=1)
        distances[:, number] = away - part.radii[0] - along * (part.radii[1] - part.radii[0])
    weights = np.exp((distances.min(axis=1, keepdims=True) - distances) / SOFTNESS)
    weights /= weights.sum(axis=1, keepdims=True)
    weights[weights < LEAST_WEIGHT] = 0.0
    return weights / weights.sum(axis=1, keepdims=True)


def paint(skin: bpy.types.Mesh, colours: list[bpy.types.Material], weights: np.ndarray) -> None:
    """Give each face the colour with the largest total weight; weights : (V, bones)."""
    skin.materials.clear()
    slots = list(dict.fromkeys(colours))
    for colour in slots:
        skin.materials.append(colour)
    of_slot = np.array([[colour is slot for slot in slots] for colour in colours], float)
    shares = weights @ of_slot
    most = [shares[list(face.vertices)].sum(axis=0).argmax() for face in skin.polygons]
    skin.polygons.foreach_set("material_index", np.array(most, np.int32))


def repaint(body: bpy.types.Object, colour: bpy.types.Material, *, but: Iterable[str] = ()) -> None:
    """Give a body one colour, except for the parts whose materials are named in `but`."""
    for number, present in enumerate(body.data.materials):
        if present.name not in but:
            body.data.materials[number] = colour


def leave_poses(body: bpy.types.Object, frames: Iterable[int], *, across: float = 0.0) -> list[bpy.types.Object]:
    """Leave a copy of the posed body for each frame, as in a multiple exposure, moved by `across` metres along X."""
    copies = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        copy = stage.add(f"{body.name} at {frame}", bpy.data.meshes.new_from_object(shown))
        copy.matrix_world = shown.matrix_world
        copy.location.x += across
        copies.append(copy)
    return copies
