"""Joint limits from the rig, in one click."""

from typing import Any

import bpy

from ...baking.plan.completing import StoredChain, stored_settings
from ...baking.plan.limits_of_rig import limits_of_rig
from ...settings import LIMITS, OPTION
from ..refusing import MayRefuse
from ..stored.storing import set_values
from ..stored.where import NeedsChain, chain_in


class TWOBONE_OT_read_limits(MayRefuse, NeedsChain, bpy.types.Operator):
    """Take the chain's joint limits from the Limit Rotation constraints or the IK limits of its bones"""

    bl_idname = "twobone.read_limits"
    bl_label = "Read Limits from Rig"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the limits of the active chain."""
        chain = chain_in(context)
        set_values(chain, read_limits(chain))
        return {"FINISHED"}


def read_limits(chain: StoredChain) -> dict[str, Any]:
    """Limits of a stored chain out of its rig, whatever it has now; raises a `TwoBoneError` where there are none."""
    unlimited = {**{name: OPTION[name].default for name in LIMITS}, "limits": ()}
    return limits_of_rig(stored_settings(chain.id_data, chain, unlimited), chain.id_data)


CLASSES = (TWOBONE_OT_read_limits,)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
