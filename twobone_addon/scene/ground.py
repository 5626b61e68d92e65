"""The ground as a mesh: its height below points, wherever the object has moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ..core.array_types import Array
from ..core.arrays import every_row
from ..errors import ObjectError
from ..settings.feet import SURFACES
from .blender_types import NodeTree, Object, Scene
from .graph.animation_reading import Animation, is_flat, read_animation
from .lookup import find_object
from .versions import node_inputs

TIMED = {
    "CLOTH", "SOFT_BODY", "OCEAN", "WAVE", "FLUID", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "DYNAMIC_PAINT", "BUILD", "EXPLODE",
}  # fmt: skip
"""Modifiers whose result changes over time without any keys."""

TIMED_NODES = {"INPUT_SCENE_TIME", "SIMULATION_OUTPUT"}
"""Types of geometry nodes whose result changes over time without any keys."""


def changes_shape(thing: Object) -> bool:
    """Whether keys, drivers or modifiers change a mesh's shape over time; motion of the whole object does not count.

    Strips of the object itself, which usually move it, are ignored.
    """
    animation = read_animation(thing)
    if not animation.mixed and animation.touches("modifiers"):
        return True
    if any(modifier.show_viewport and modifier.type in TIMED for modifier in thing.modifiers):
        return True
    if any(node.type in TIMED_NODES and not node.mute for tree in _trees(thing) for node in tree.nodes):
        return True
    return any(_moves(read_animation(owner)) for owner in _shaping(thing))


def _shaping(thing: Object) -> Iterator[Object]:
    """Datablocks whose animation may shape a mesh: its data, its shape keys, and what its modifiers and their nodes read."""
    keys = getattr(thing.data, "shape_keys", None)
    yield from (owner for owner in (thing.data, keys) if owner is not None)
    for modifier in thing.modifiers:
        pointers = [entry.identifier for entry in modifier.bl_rna.properties if entry.type == "POINTER"]
        read = (getattr(modifier, name) for name in pointers if modifier.show_viewport)
        yield from (value for value in read if value is not None and hasattr(value, "animation_data"))
        yield from _objects_in(node_inputs(modifier) if modifier.type == "NODES" and modifier.show_viewport else ())
    for tree in _trees(thing):
        yield tree
        sockets = (socket for node in tree.nodes for socket in node.inputs if socket.type in {"OBJECT", "COLLECTION"})
        yield from _objects_in(socket.default_value for socket in sockets)


def _objects_in(values: Iterable[Any]) -> Iterator[Object]:
    """The objects among the values, and in the collections among them."""
    for value in values:
        if isinstance(value, bpy.types.Collection):
            yield from value.all_objects
        elif isinstance(value, bpy.types.Object):
            yield value


def _trees(thing: Object) -> list[NodeTree]:
    """The geometry node trees of an object's visible modifiers, with the groups in them, each once."""
    shown = (modifier.node_group for modifier in thing.modifiers if modifier.type == "NODES" and modifier.show_viewport)
    trees = list(dict.fromkeys(tree for tree in shown if tree is not None))
    for tree in trees:
        inner = (node.node_tree for node in tree.nodes if node.type == "GROUP" and node.node_tree is not None)
        trees += [other for other in dict.fromkeys(inner) if other not in trees]
    return trees


def _moves(animation: Animation) -> bool:
    curves = (curve for components in animation.curves.values() for curve in components.values())
    return animation.mixed or bool(animation.doubtful) or not all(map(is_flat, curves))


DOWN = np.array([0.0, 0.0, -1.0])
_FAR = 4.0
"""Height from which rays start above the whole mesh, relative to its farthest point from its origin, for feet around it."""


class GroundSurface:
    """A mesh with its modifiers at the present frame; the object's transform is given with every query."""

    def __init__(self, scene: Scene, name: str) -> None:
        """Read the mesh; raises `ObjectError` where the object is none, or has no faces."""
        if not name:
            raise ObjectError("No ground object is chosen. Choose the mesh that the feet stand on.")
        thing = find_object("Ground object", name)
        mesh = _evaluated_mesh(scene, thing)
        self.name = thing.name
        self._tree = BVHTree.FromPolygons(*mesh)
        self._size = _FAR * max(vertex.length for vertex in mesh[0]) + 1.0

    def below(self, points_world: Array, world_from_ground: Array, above: float) -> tuple[Array, Array]:
        """First hits on the ground of vertical rays from `above` over each of `points_world` `(P, F, 3)` downwards.

        `world_from_ground` `(F, 4, 4)`, or one for all frames. Returns heights `(P, F)`, minus infinity where there is no
        ground, and upward unit normals `(P, F, 3)`, both in world space. A ray that starts below the ground, or inside a
        solid, starts above all of it instead.
        """
        count = points_world.shape[1]
        ground_from_world = np.linalg.inv(world_from_ground)
        starts = every_row(ground_from_world, count), points_world + np.array([0.0, 0.0, above])
        local = np.einsum("fij,pfj->pfi", starts[0][:, :3, :3], starts[1]) + starts[0][:, :3, 3]
        directions = every_row(ground_from_world[:, :3, :3] @ DOWN, count)
        hits = np.full((*local.shape[:2], 3), np.nan)
        normals = np.zeros_like(hits)
        for point, frame in np.ndindex(*local.shape[:2]):
            hit, normal = self._first_hit(Vector(local[point, frame]), Vector(directions[frame]).normalized())
            if hit is not None:
                hits[point, frame], normals[point, frame] = hit, normal
        matrices = every_row(world_from_ground, count)
        heights = np.einsum("fj,pfj->pf", matrices[:, 2, :3], hits) + matrices[:, 2, 3]
        # Normals transform as covectors.
        turned = np.einsum("fji,pfj->pfi", every_row(ground_from_world, count)[:, :3, :3], normals)
        upward = np.where(turned[..., 2:] < 0.0, -turned, turned)
        lengths = np.linalg.norm(upward, axis=-1, keepdims=True)
        unit = np.divide(upward, lengths, out=np.broadcast_to(-DOWN, upward.shape).copy(), where=lengths > 0.0)
        return np.where(np.isnan(heights), -np.inf, heights), unit

    def _first_hit(self, start: Vector, direction: Vector) -> tuple[Vector | None, Vector | None]:
        """First hit of a ray on the mesh, with the normal; from above all of it if the ray starts inside a solid.

        That is so if it leaves the solid at its first hit, whichever way the faces point.
        """
        hit, normal, _, _ = self._tree.ray_cast(start, direction)
        top, top_normal, _, _ = self._tree.ray_cast(start - direction * self._size, direction)
        if hit is None or (top is not None and normal.dot(direction) * top_normal.dot(direction) < 0.0):
            return top, top_normal
        return hit, normal


def _evaluated_mesh(scene: Scene, thing: Object) -> tuple[list[Vector], list[tuple[int, ...]]]:
    """Vertices and faces of an object in its own space, with its modifiers, at the present frame."""
    if thing.type not in SURFACES:
        raise ObjectError('Ground object "{object}" has no surface. Choose a mesh.', object=thing.name)
    layer = next((layer for layer in scene.view_layers if thing.name in layer.objects), None)
    if layer is None:
        raise ObjectError(
            'Ground object "{object}" is not in scene "{scene}". Choose an object of this scene.',
            object=thing.name,
            scene=scene.name,
        )
    layer.update()
    evaluated = thing.evaluated_get(layer.depsgraph)
    mesh = evaluated.to_mesh()
    # Copies, as `to_mesh_clear` frees what the vertices point to.
    vertices = [vertex.co.copy() for vertex in mesh.vertices] if mesh else []
    faces = [tuple(polygon.vertices) for polygon in mesh.polygons] if mesh else []
    evaluated.to_mesh_clear()
    if not faces:
        raise ObjectError('Ground object "{object}" has no faces. Choose a mesh with faces.', object=thing.name)
    return vertices, faces
