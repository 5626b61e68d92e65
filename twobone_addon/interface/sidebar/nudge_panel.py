"""The panel with the nudges of the active limb: go to their frames, change or remove them."""

import math
from typing import TYPE_CHECKING

import bpy

from ...pipeline.plan.stored import active_armature
from ..operators.nudging import TWOBONE_OT_nudge
from ..operators.results import TWOBONE_OT_jump_to_frame
from ..stored.where import MODES, chain_in
from .panels import Sidebar

if TYPE_CHECKING:
    from ...core.nudges import Nudge


class TWOBONE_PT_nudges(Sidebar, bpy.types.Panel):
    """Changes of a wrist or ankle at a frame, which fade out beside it"""

    bl_label = "Nudges"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the active limb has nudges."""
        return context.mode in MODES and bool(_nudges(context))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw a row for each nudge: go to its frame, change it, remove it."""
        from ...pipeline.report.units import units_of

        armature, chain = active_armature(context), chain_in(context)
        units, column = units_of(context.scene), self.layout.column(align=True)
        for nudge in _nudges(context):
            row = column.row(align=True)
            text = f"{nudge.frame:g}: {units.text(math.hypot(*nudge.offset))}, -{nudge.before:g} +{nudge.after:g}"
            row.operator(TWOBONE_OT_jump_to_frame.bl_idname, text=text, translate=False).frame = nudge.frame
            change = row.operator(TWOBONE_OT_nudge.bl_idname, text="", icon="GREASEPENCIL")
            remove = row.operator(TWOBONE_OT_nudge.bl_idname, text="", icon="X")
            remove.remove = True
            for button in (change, remove):
                button.armature, button.chain, button.frame = armature.name, chain.name, nudge.frame


def _nudges(context: bpy.types.Context) -> "list[Nudge]":
    from ...scene.keys.nudges import nudges_of
    from ...scene.versions import curve_bag

    chain = chain_in(context)
    return [] if chain is None else nudges_of(curve_bag(active_armature(context)), chain.upper)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_PT_nudges,))
