"""Entries in Blender's Object and Pose menus, which Menu Search covers, and links from operators to the documentation."""

import bpy

from ..live.drag import TWOBONE_OT_drag
from ..live.operator import TWOBONE_OT_live
from ..operators.bake import TWOBONE_OT_bake, TWOBONE_OT_bake_all
from ..operators.chain_list import (
    TWOBONE_OT_chain_add,
    TWOBONE_OT_chain_duplicate,
    TWOBONE_OT_chain_mirror,
    TWOBONE_OT_chain_move,
    TWOBONE_OT_chain_remove,
)
from ..operators.guides import TWOBONE_OT_add_pole, TWOBONE_OT_add_target
from ..operators.of_tasks import OPERATORS
from ..operators.results import TWOBONE_OT_make_markers
from ..operators.switches import TWOBONE_OT_fit_plane, TWOBONE_OT_flip, TWOBONE_OT_read_limits

DOCUMENTATION = "https://extensions.blender.org/add-ons/twobone/"
"""Page where the extension is published; it links to everything else."""


class TWOBONE_MT_list(bpy.types.Menu):
    """What can be done with the list of chains"""

    bl_label = "Chains"

    GROUPS = (
        (OPERATORS["find_limbs"], TWOBONE_OT_add_target, TWOBONE_OT_add_pole),
        (TWOBONE_OT_fit_plane, TWOBONE_OT_flip, OPERATORS["align_hinge"], TWOBONE_OT_read_limits, TWOBONE_OT_make_markers),
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.operator(TWOBONE_OT_chain_add.bl_idname, icon="ADD")
        layout.operator(TWOBONE_OT_chain_duplicate.bl_idname, icon="DUPLICATE")
        layout.operator(TWOBONE_OT_chain_mirror.bl_idname, icon="MOD_MIRROR")
        layout.operator(TWOBONE_OT_chain_remove.bl_idname, icon="REMOVE")
        layout.separator()
        layout.operator(TWOBONE_OT_chain_move.bl_idname, text="Move Chain Up", icon="TRIA_UP").direction = "UP"
        layout.operator(TWOBONE_OT_chain_move.bl_idname, text="Move Chain Down", icon="TRIA_DOWN").direction = "DOWN"
        _draw_groups(layout, self.GROUPS)


class TWOBONE_MT_contacts(bpy.types.Menu):
    """When feet are on the ground"""

    bl_label = "Contacts"

    GROUPS = ((OPERATORS["find_contacts"], OPERATORS["import_contacts"], OPERATORS["export_contacts"]),)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        _draw_groups(self.layout, self.GROUPS)


class TWOBONE_MT_pose(bpy.types.Menu):
    """Two-bone IK for the selected bones"""

    bl_label = "Two-Bone IK"

    GROUPS = (
        (TWOBONE_OT_bake, TWOBONE_OT_bake_all, OPERATORS["clear_baked"]),
        (TWOBONE_OT_live, TWOBONE_OT_drag, OPERATORS["nudge"]),
        (OPERATORS["switch"], OPERATORS["convert_ik"], OPERATORS["bake_target"]),
        (OPERATORS["plant"], OPERATORS["fit_root"], OPERATORS["audit"]),
    )
    """Operators that key motion, in order of use; those that make chains are in a submenu, so that both fit small screens."""

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.menu("TWOBONE_MT_list")
        layout.menu("TWOBONE_MT_contacts")
        _draw_groups(layout, self.GROUPS)
        layout.separator()
        layout.operator("wm.url_open", text="Documentation", icon="HELP").url = DOCUMENTATION


def _draw_groups(layout: bpy.types.UILayout, groups: tuple[tuple[type, ...], ...]) -> None:
    for group in groups:
        layout.separator()
        for operator in group:
            if operator is OPERATORS["switch"]:
                layout.operator(operator.bl_idname, text="Switch to FK").to = "FK"
                layout.operator(operator.bl_idname, text="Switch to IK").to = "IK"
                for to, text in (("FK", "Switch All to FK"), ("IK", "Switch All to IK")):
                    button = layout.operator(operator.bl_idname, text=text)
                    button.to, button.scope = to, "ACTIVE"
            else:
                layout.operator(operator.bl_idname)


def draw_submenu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Append our menu to a menu of objects or poses."""
    menu.layout.separator()
    menu.layout.menu("TWOBONE_MT_pose", icon="CON_KINEMATIC")


def manual() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the mapping that "Online Manual" uses for our operators and properties."""
    return DOCUMENTATION, (("bpy.ops.twobone.*", ""), ("bpy.types.twobone*", ""))


MENUS = ("VIEW3D_MT_object", "VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def register() -> None:
    """Register the menus, and add the entries to Blender's."""
    bpy.utils.register_class(TWOBONE_MT_list)
    bpy.utils.register_class(TWOBONE_MT_contacts)
    bpy.utils.register_class(TWOBONE_MT_pose)
    for name in MENUS:
        getattr(bpy.types, name).append(draw_submenu)
    bpy.utils.register_manual_map(manual)


def unregister() -> None:
    """Remove the entries, and unregister the menus."""
    bpy.utils.unregister_manual_map(manual)
    for name in MENUS:
        getattr(bpy.types, name).remove(draw_submenu)
    bpy.utils.unregister_class(TWOBONE_MT_pose)
    bpy.utils.unregister_class(TWOBONE_MT_contacts)
    bpy.utils.unregister_class(TWOBONE_MT_list)
