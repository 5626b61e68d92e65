"""The switch that lets a chain follow its target live."""

import bpy

from .live import is_live, start, stop
from .refusing import MayRefuse
from .storing import keep_names_apart
from .where import NeedsChain, active_armature, chain_in


class TWOBONE_OT_live(MayRefuse, NeedsChain, bpy.types.Operator):
    """Let the active chain follow its target at once, without keys, just as a bake would pose it; press again to stop"""

    bl_idname = "twobone.live"
    bl_label = "Live"
    bl_options = {"REGISTER", "UNDO"}

    state: bpy.props.EnumProperty(
        name="State",
        description="Whether the chain follows afterwards",
        items=(
            ("TOGGLE", "Toggle", "The other way round than now"),
            ("ON", "On", "It follows"),
            ("OFF", "Off", "It does not follow"),
        ),
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Start or stop."""
        keep_names_apart(active_armature(context))
        chain = chain_in(context)
        if self.state == "OFF" or (self.state == "TOGGLE" and is_live(chain)):
            stop(chain)
            return {"FINISHED"}
        start(context, chain)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_live,))
