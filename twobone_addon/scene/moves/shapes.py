"""Whether a mesh changes its shape over time, as far as that can be told without evaluating it at every frame."""

from __future__ import annotations

from collections.abc import Iterator

from ..blender_types import Object
from .animation_reading import Animation, is_flat, read_animation

TIMED = {
    "CLOTH", "SOFT_BODY", "OCEAN", "WAVE", "FLUID", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "DYNAMIC_PAINT", "BUILD", "EXPLODE",
}  # fmt: skip
"""Modifiers that do something else at each frame, without any keys."""


def changes_shape(thing: Object) -> bool:
    """Whether keys, drivers or modifiers give a mesh other shapes at other frames; where it is as a whole does not count.

    Strips of the object itself, which as a rule move it, are not looked into.
    """
    own = read_animation(thing)
    if not own.mixed and own.touches("modifiers"):
        return True
    if any(modifier.show_viewport and modifier.type in TIMED for modifier in thing.modifiers):
        return True
    return any(_moves(read_animation(owner)) for owner in _shaping(thing))


def _shaping(thing: Object) -> Iterator[Object]:
    """What has keys of its own that shape the mesh: its data, its shape keys, and the objects that its modifiers follow."""
    keys = getattr(thing.data, "shape_keys", None)
    yield from (owner for owner in (thing.data, keys) if owner is not None)
    for modifier in thing.modifiers:
        pointers = [entry.identifier for entry in modifier.bl_rna.properties if entry.type == "POINTER"]
        followed = (getattr(modifier, name) for name in pointers if modifier.show_viewport)
        yield from (each for each in followed if each is not None and hasattr(each, "animation_data"))


def _moves(animation: Animation) -> bool:
    curves = (curve for components in animation.curves.values() for curve in components.values())
    return animation.mixed or bool(animation.doubtful) or not all(map(is_flat, curves))
