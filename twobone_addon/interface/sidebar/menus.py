"""Entries in Blender's Object and Pose menus, where Menu Search looks, and the link from operators to the documentation."""

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
from ..operators.contacts import TWOBONE_OT_find_contacts
from ..operators.convert import TWOBONE_OT_bake_target, TWOBONE_OT_convert_ik
from ..operators.fk_switch import TWOBONE_OT_switch
from ..operators.guides import TWOBONE_OT_add_pole, TWOBONE_OT_add_target
from ..operators.keys import TWOBONE_OT_align_hinge, TWOBONE_OT_clear_baked
from ..operators.limbs import TWOBONE_OT_find_limbs
from ..operators.limits import TWOBONE_OT_read_limits
from ..operators.planting import TWOBONE_OT_fit_root, TWOBONE_OT_plant
from ..operators.results import TWOBONE_OT_make_markers
from ..operators.switches import TWOBONE_OT_fit_plane, TWOBONE_OT_flip

DOCUMENTATION = "https://extensions.blender.org/add-ons/twobone/"
"""Where the extension is published; the page links to everything else."""


class TWOBONE_MT_list(bpy.types.Menu):
    """What can be done with the list of chains"""

    bl_label = "Chains"

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


class TWOBONE_MT_pose(bpy.types.Menu):
    """Two-bone IK for the selected bones"""

    bl_label = "Two-Bone IK"

    GROUPS = (
        (TWOBONE_OT_bake, TWOBONE_OT_bake_all, TWOBONE_OT_clear_baked),
        (TWOBONE_OT_find_limbs, TWOBONE_OT_add_target, TWOBONE_OT_add_pole),
        (TWOBONE_OT_live, TWOBONE_OT_drag, TWOBONE_OT_fit_plane, TWOBONE_OT_flip),
        (TWOBONE_OT_switch, TWOBONE_OT_convert_ik, TWOBONE_OT_bake_target),
        (TWOBONE_OT_find_contacts, TWOBONE_OT_plant, TWOBONE_OT_fit_root),
        (TWOBONE_OT_align_hinge, TWOBONE_OT_read_limits, TWOBONE_OT_make_markers),
    )
    """Everything that works without a panel, in the order of the work."""

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.menu("TWOBONE_MT_list")
        for group in self.GROUPS:
            layout.separator()
            for operator in group:
                if operator is TWOBONE_OT_switch:
                    layout.operator(operator.bl_idname, text="Switch to FK").to = "FK"
                    layout.operator(operator.bl_idname, text="Switch to IK").to = "IK"
                else:
                    layout.operator(operator.bl_idname)
        layout.separator()
        layout.operator("wm.url_open", text="Documentation", icon="HELP").url = DOCUMENTATION


def draw_submenu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Append to a menu of objects or of the pose."""
    menu.layout.separator()
    menu.layout.menu("TWOBONE_MT_pose", icon="CON_KINEMATIC")


def manual() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What "Online Manual" opens for our operators and properties."""
    return DOCUMENTATION, (("bpy.ops.twobone.*", ""), ("bpy.types.twobone*", ""))


MENUS = ("VIEW3D_MT_object", "VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def register() -> None:
    """Add the entries."""
    bpy.utils.register_class(TWOBONE_MT_list)
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
    bpy.utils.unregister_class(TWOBONE_MT_list)
