"""What Blender makes of an object now."""

from __future__ import annotations

import bpy

from .blender_types import Object


def as_evaluated(thing: Object) -> Object:
    """The object with its constraints, drivers and parents evaluated, at the present frame."""
    bpy.context.view_layer.update()
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get())


def bring_up_to_date() -> None:
    """Let everything be where its own values say at the present frame, before anything is read from it.

    Blender does so itself before a script's operators and between events. Not before an operator runs again from the redo
    panel: it has gone back a step then and has evaluated nothing since, so that objects stand at the world's origin.
    """
    bpy.context.view_layer.update()


def write_animated_values() -> None:
    """Let new keys write their present values into what they animate, as the next redraw would.

    The undo step that Blender stores at the end of an operator then has them. Without them an object may be the same in the
    steps before and after; going back, Blender rereads only what differs, and would leave it at values that nothing animates.
    """
    bpy.context.view_layer.update()
