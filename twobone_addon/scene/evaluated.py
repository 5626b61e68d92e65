"""What Blender makes of an object now."""

from __future__ import annotations

import bpy

from .blender_types import Object


def as_evaluated(thing: Object) -> Object:
    """The object with its constraints, drivers and parents evaluated, at the present frame."""
    bpy.context.view_layer.update()
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
