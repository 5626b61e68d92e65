"""New empties."""

from __future__ import annotations

import bpy
from mathutils import Matrix

from ..array_types import Array
from .blender_types import Object, Scene


def add_empty(
    scene: Scene, beside: Object, *, name: str, location: Array, size: float, shape: str, rotation: Array | None = None
) -> Object:
    """An empty in the collection of the object `beside`, or in the scene's own where none of its collections will take it.

    They will not where they are not shown, or come from another file, overridden or not.

    location : (3,), rotation : (3, 3) or none, world space
    """
    empty = bpy.data.objects.new(name, None)
    empty.location = location
    if rotation is not None:
        empty.rotation_euler = Matrix(rotation.tolist()).to_euler()
    empty.empty_display_type = shape
    empty.empty_display_size = size
    empty.show_in_front = True
    shown = {collection.name for collection in scene.collection.children_recursive}
    own = [collection for collection in beside.users_collection if not (collection.library or collection.override_library)]
    homes = [collection for collection in own if collection.name in shown]
    (homes[0] if homes else scene.collection).objects.link(empty)
    return empty


def remove_object(thing: Object) -> None:
    """Take an object out of the file."""
    bpy.data.objects.remove(thing)
