"""The entry in Blender's Pose menu."""

import bpy

from .operators import TWOBONE_OT_bake


def draw_pose_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Append to the Pose menu."""
    menu.layout.separator()
    menu.layout.operator(TWOBONE_OT_bake.bl_idname)


def register() -> None:
    """Add the entries."""
    bpy.types.VIEW3D_MT_pose.append(draw_pose_menu)


def unregister() -> None:
    """Take them away again."""
    bpy.types.VIEW3D_MT_pose.remove(draw_pose_menu)
