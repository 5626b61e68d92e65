"""The bake operators: they collect settings, run the bake and report the result."""

import bpy

from ...desk.meant import Meant, chains_in_scope, meant
from ...settings import LIMITS, OPTIONS
from ...settings.options import Group, options_of
from ...settings.tasks import TABLES, BakeAllSettings
from ..rows import draw_options
from ..running.progress import ShowsProgress, SwitchesFirst
from ..running.repeating import RepeatsChain
from ..stored.option_properties import LISTED, properties_of, with_properties
from ..stored.where import NeedsMode

NOT_TRIED_OUT = {
    "armature", "upper", "lower", "tip", "tip_end", "target", "target_bone", "target_offset", "joints", "method",
    "min_distance", "max_distance", "use_limits", *LIMITS,
    "interpolation", "key_before", "key_after", "destination", "verify", "evaluation",
}  # fmt: skip
"""Settings left out of the redo panel: properties of the rig and habits of the animator, not tried out after a bake."""


@with_properties(properties_of(OPTIONS))
class TWOBONE_OT_bake(SwitchesFirst, RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the rotations of the chain so that its tip follows the target. Clear Baked Keys brings back what it replaces"""

    bl_idname = "twobone.bake"
    bl_label = "Bake Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}
    table = TABLES["bake"]

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the named chain or all selected ones; show a single one's settings in the redo panel."""
        chains = self.wanted_chains(context)
        self.show(chains)
        return meant(context, self.table, {}, chains)

    def draw_settings(self) -> None:
        """Draw the settings of a single chain that users try out after a bake."""
        without = NOT_TRIED_OUT | self.keyed_settings()
        for group in (Group.PLANE, Group.ADVANCED, Group.CHAIN, Group.REACH, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=without)


@with_properties(properties_of(options_of(BakeAllSettings)))
class TWOBONE_OT_bake_all(SwitchesFirst, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake all enabled chains in one pass, each with its own settings. Chains that never had a target are left out"""

    bl_idname = "twobone.bake_all"
    bl_label = "Bake All Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}
    table = TABLES["bake"]

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return all enabled chains in the scope."""
        own = {"scope": self.scope, "last_wins": self.last_wins, "actions": self.actions}
        return meant(context, self.table, own, chains_in_scope(context, self.table, self.scope, {}))

    def draw_correction(self) -> None:
        """Draw the scope, the choice for chains that key the same bones, and the actions."""
        self.layout.prop(self, "scope")
        self.layout.prop(self, "last_wins")
        self.layout.prop(self, LISTED["actions"])

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the redo panel, or the dialog after a refusal."""
        if not self.draws_refusal(context):
            self.layout.use_property_split = True
            self.draw_correction()


CLASSES = (TWOBONE_OT_bake, TWOBONE_OT_bake_all)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
