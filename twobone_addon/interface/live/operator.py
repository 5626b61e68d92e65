"""The operator that switches Live on and off."""

import bpy

from ...errors import TwoBoneError
from ..refusing import MayRefuse
from ..stored.storing import keep_names_apart, name_back
from ..stored.where import NeedsChain, active_armature, chain_in
from .following import is_live, start, stop


class TWOBONE_OT_live(MayRefuse, NeedsChain, bpy.types.Operator):
    """Make the chain follow its target interactively, without keying. Click again to stop"""

    bl_idname = "twobone.live"
    bl_label = "Live"
    bl_options = {"REGISTER", "UNDO"}

    state: bpy.props.EnumProperty(
        name="State",
        description="Turn live following on or off",
        items=(
            ("TOGGLE", "Toggle", "Switch between on and off"),
            ("ON", "On", "Follow the target"),
            ("OFF", "Off", "Stop following"),
        ),
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Start or stop following live."""
        renamed = keep_names_apart(active_armature(context))
        chain = chain_in(context)
        if self.state == "OFF" or (self.state == "TOGGLE" and is_live(chain)):
            stop(chain)
            return {"FINISHED"}
        try:
            start(context, chain)
        except TwoBoneError:
            name_back(renamed)
            raise
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_live,))
