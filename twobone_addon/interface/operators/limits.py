"""Joint limits from the rig, in one click."""

import bpy

from ...baking.plan.completing import stored_values
from ...baking.plan.limits_of_rig import limits_of_rig
from ..refusing import MayRefuse
from ..stored.storing import set_values
from ..stored.where import NeedsChain, active_armature, chain_in


class TWOBONE_OT_read_limits(MayRefuse, NeedsChain, bpy.types.Operator):
    """Take the chain's joint limits from the Limit Rotation constraints or the IK limits of its bones"""

    bl_idname = "twobone.read_limits"
    bl_label = "Read Limits from Rig"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the limits of the active chain."""
        armature, chain = active_armature(context), chain_in(context)
        set_values(chain, limits_of_rig(armature, stored_values(armature, chain)))
        return {"FINISHED"}


CLASSES = (TWOBONE_OT_read_limits,)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
