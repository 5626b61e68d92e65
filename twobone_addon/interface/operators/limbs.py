"""The limbs of a character, found and listed in one click."""

import bpy
from bpy.app.translations import pgettext_rpt

from ...baking.limbs.finding import find_and_store
from ..refusing import MayRefuse
from ..stored.selecting import keep_active
from ..stored.where import NeedsMode, active_armature


class TWOBONE_OT_find_limbs(MayRefuse, NeedsMode, bpy.types.Operator):
    """Add a chain for every arm and leg of the armature, whatever its bones are called"""

    bl_idname = "twobone.find_limbs"
    bl_label = "Find Limbs"
    bl_options = {"REGISTER", "UNDO"}

    armature: bpy.props.StringProperty(
        name="Armature", description="Armature to search. Leave empty to use the active object", options={"SKIP_SAVE"}
    )
    targets: bpy.props.BoolProperty(
        name="Add Targets", description="Also add an empty at the tip of every limb as its target", options={"SKIP_SAVE"}
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Find them, and say what was found, what was left out and why."""
        report = find_and_store(context.scene, self.armature, active_armature(context), targets=self.targets)
        context.window_manager.twobone_report = report.to_json()
        added = [limb.chain for limb in report.limbs if limb.added]
        if added:
            keep_active(context, bpy.data.objects[report.armature].twobone.chains[added[0]])
        self.report({"INFO"} if report.limbs else {"WARNING"}, report.sentence(pgettext_rpt))
        return {"FINISHED"} if report.limbs else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        self.layout.use_property_split = True
        self.layout.prop(self, "targets")


CLASSES = (TWOBONE_OT_find_limbs,)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
