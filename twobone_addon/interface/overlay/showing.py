"""Where the overlay is drawn, and when; what draws it is imported with the first chain that is seen."""

import sys
from typing import Any

import bpy

from ...pipeline.plan.stored import active_armature, active_chain
from ..stored.where import MODES

handles: list[Any] = []
"""Draw handlers registered with Blender."""


def draw() -> None:
    """Draw handler: draw the active chain's overlay in the current viewport."""
    context = bpy.context
    armature = active_armature(context)
    if _is_wanted(context, armature):
        from . import drawing

        drawing.draw(context, armature)


def draw_labels() -> None:
    """Draw handler: draw the frame labels of the footprints in the current viewport."""
    context = bpy.context
    armature = active_armature(context)
    if _is_wanted(context, armature) and armature.twobone.show_footprints:
        from . import drawing

        drawing.draw_labels(context, armature)


def _is_wanted(context: bpy.types.Context, armature: bpy.types.Object | None) -> bool:
    """Whether the armature has an overlay to draw in the current viewport."""
    return (
        context.mode in MODES
        and context.space_data is not None
        and context.space_data.overlay.show_overlays
        and active_chain(armature) is not None
        and armature.twobone.show_overlay
        and armature.visible_get(viewport=context.space_data)
    )


def register() -> None:
    """Add the draw handlers to every 3D viewport."""
    handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))
    handles.append(bpy.types.SpaceView3D.draw_handler_add(draw_labels, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Remove the draw handlers, and release what was kept for drawing, if anything was: panels ask for it as well."""
    while handles:
        bpy.types.SpaceView3D.draw_handler_remove(handles.pop(), "WINDOW")
    if f"{__package__}.data" in sys.modules:
        from . import drawing

        drawing.forget()
