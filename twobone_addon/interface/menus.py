"""Entries in Blender's Pose menu and in its context menu, and the link from operators to the documentation."""

import bpy

from .convert_operators import TWOBONE_OT_bake_target, TWOBONE_OT_convert_ik
from .guide_operators import TWOBONE_OT_add_target
from .operators import TWOBONE_OT_bake, TWOBONE_OT_bake_all

DOCUMENTATION = "https://extensions.blender.org/add-ons/twobone/"
"""Where the extension is published; the page links to everything else."""


class TWOBONE_MT_pose(bpy.types.Menu):
    """Two-bone IK for the selected bones"""

    bl_label = "Two-Bone IK"

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.operator(TWOBONE_OT_bake.bl_idname)
        layout.operator(TWOBONE_OT_bake_all.bl_idname)
        layout.separator()
        layout.operator(TWOBONE_OT_add_target.bl_idname)
        layout.separator()
        layout.operator(TWOBONE_OT_convert_ik.bl_idname)
        layout.operator(TWOBONE_OT_bake_target.bl_idname)
        layout.separator()
        layout.operator("wm.url_open", text="Documentation", icon="HELP").url = DOCUMENTATION


def draw_submenu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Append to a menu of the pose."""
    menu.layout.separator()
    menu.layout.menu("TWOBONE_MT_pose", icon="CON_KINEMATIC")


def manual() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What "Online Manual" opens for our operators and properties."""
    return DOCUMENTATION, (("bpy.ops.twobone.*", ""), ("bpy.types.twobone*", ""))


MENUS = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def register() -> None:
    """Add the entries."""
    bpy.utils.register_class(TWOBONE_MT_pose)
    for name in MENUS:
        getattr(bpy.types, name).append(draw_submenu)
    bpy.utils.register_manual_map(manual)


def unregister() -> None:
    """Take them away again."""
    bpy.utils.unregister_manual_map(manual)
    for name in MENUS:
        getattr(bpy.types, name).remove(draw_submenu)
    bpy.utils.unregister_class(TWOBONE_MT_pose)
