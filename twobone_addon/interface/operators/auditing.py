"""Operators to audit clips, and to go to a clip's worst frame."""

from typing import Any

import bpy

from ...errors import ObjectError
from ...settings.tasks import TABLES
from ..refusing import MayRefuse
from ..running.from_table import FromTable, operator_for
from ..stored.where import NeedsMode, active_armature
from .results import whole_and_subframe


@operator_for(TABLES["audit"])
class TWOBONE_OT_audit(FromTable, NeedsMode, bpy.types.Operator):
    """Audit, which keeps its report for the panel."""

    def settle(self, report: Any, _said: str) -> None:
        """Store the report for the panel in a property of its own, since the next bake replaces the usual one."""
        bpy.context.window_manager.twobone_audit = report.to_json()


class TWOBONE_OT_audit_show(MayRefuse, bpy.types.Operator):
    """Assign this clip to the armature, and go to its worst frame"""

    bl_idname = "twobone.audit_show"
    bl_label = "Show Clip"
    bl_options = {"REGISTER", "UNDO"}

    armature: bpy.props.StringProperty(name="Armature", description="Armature that plays the clip", options={"SKIP_SAVE"})
    action: bpy.props.StringProperty(
        name="Action", description="Action to play. Leave empty for the current one", options={"SKIP_SAVE"}
    )
    frame: bpy.props.FloatProperty(name="Frame", description="Frame to go to", default=1.0, options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context) -> set[str]:
        """Assign the action to the armature, and set the frame."""
        from ...scene.actions import action_named, own_action
        from ...scene.versions import assign_slot

        armature = bpy.data.objects.get(self.armature) or active_armature(context)
        whole, subframe = whole_and_subframe(self.frame)
        if self.action:
            action = action_named(self.action)
            own = own_action(armature, action, sure=True) if armature is not None and action is not None else None
            if own is None:
                raise ObjectError('Action "{action}" moves no bone of that armature. Audit again.', action=self.action)
            data = armature.animation_data or armature.animation_data_create()
            data.action = own.action
            assign_slot(data, own.slot)
        context.scene.frame_set(whole, subframe=subframe)
        return {"FINISHED"}


CLASSES = (TWOBONE_OT_audit_show,)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
