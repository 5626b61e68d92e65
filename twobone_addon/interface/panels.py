"""The sidebar panel."""

import bpy

from .operators import TWOBONE_OT_bake


class TWOBONE_PT_bake(bpy.types.Panel):
    """Chain, target, plane, bend, range, Bake and what came of it"""

    bl_label = "Two-Bone IK"
    bl_category = "Two-Bone IK"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the whole panel."""
        self.layout.operator(TWOBONE_OT_bake.bl_idname, text="Bake")


def register() -> None:
    """Register the panel."""
    bpy.utils.register_class(TWOBONE_PT_bake)


def unregister() -> None:
    """Take it away again."""
    bpy.utils.unregister_class(TWOBONE_PT_bake)
