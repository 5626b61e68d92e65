"""Edit Mode for a moment: bones can be removed and rolled only there."""

import bpy

from .blender_types import Object

NAME = "TWOBONE_OT_edit_quietly"

QUIETLY = type(
    NAME,
    (bpy.types.Macro,),
    {
        "__doc__": "Toggle Edit Mode of the active armature",
        "bl_idname": "twobone.edit_quietly",
        "bl_label": "Toggle Edit Mode",
        "bl_options": {"INTERNAL"},
    },
)
"""A part of a macro leaves no line in the Info editor, which lists what the user did."""


def switch_edit_mode(armature: Object, *, on: bool) -> None:
    """Put the context's active object, this armature, into Edit Mode, or out of it."""
    if (armature.mode == "EDIT") != on and bpy.ops.object.editmode_toggle.poll():
        quietly = hasattr(bpy.types, NAME)
        (bpy.ops.twobone.edit_quietly if quietly else bpy.ops.object.editmode_toggle)()


def register() -> None:
    """Register the macro."""
    bpy.utils.register_class(QUIETLY)
    QUIETLY.define("OBJECT_OT_editmode_toggle")


def unregister() -> None:
    """Unregister the macro."""
    bpy.utils.unregister_class(QUIETLY)
