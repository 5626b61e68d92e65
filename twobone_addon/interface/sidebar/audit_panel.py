"""The panel with the clips of the last audit, worst first; clicking one plays it and goes to its worst frame."""

import bpy
from bpy.app.translations import pgettext_iface

from ...pipeline.plan.stored import active_armature
from ...said import note
from ..operators.of_tasks import OPERATORS
from ..operators.results import TWOBONE_OT_audit_show, parsed_report
from ..rows import draw_sentence
from ..stored.where import MODES
from .panels import Sidebar

MOST_CLIPS = 20
"""Maximum number of rows; a library has hundreds of clips, but the worst come first."""


class TWOBONE_PT_audit(Sidebar, bpy.types.Panel):
    """Clips that skate, float, pop or have a seam"""

    bl_label = "Audit"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active armature."""
        return context.mode in MODES and active_armature(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the button, then a row for each clip."""
        layout = self.layout
        row = layout.row(align=True)
        row.operator(OPERATORS["audit"].bl_idname, icon="VIEWZOOM")
        row.operator(OPERATORS["audit"].bl_idname, text="All Actions").actions = "ALL"
        report = parsed_report(context.window_manager.twobone_audit)
        clips = report.get("clips", [report] if report else [])
        column = layout.column(align=True)
        for clip in clips[:MOST_CLIPS]:
            name = clip.get("action") or pgettext_iface("Present Action")
            icon = "CHECKMARK" if clip["is_fine"] else "ERROR"
            show = column.operator(TWOBONE_OT_audit_show.bl_idname, text=name, icon=icon, translate=False)
            show.armature, show.action, show.frame = clip["armature"], clip.get("action", ""), clip["worst_frame"]
            for reason in clip["reasons"][:1]:
                draw_sentence(column, note("{reason}", reason=reason), context, icon="BLANK1")
        if len(clips) > MOST_CLIPS:
            column.label(text=f"+ {len(clips) - MOST_CLIPS}", translate=False)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_PT_audit,))
