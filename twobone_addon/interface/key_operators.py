"""What an animator does about keys besides baking: take a bake back, and make joints single curves."""

import bpy
from bpy.app.translations import pgettext_rpt

from ..baking.aligning import align_hinges
from ..baking.clearing import clear_baked
from ..baking.completing import completed
from .option_properties import given_settings, operator_properties, with_properties
from .refusing import MayRefuse
from .where import NeedsMode, active_armature


@with_properties(operator_properties())
class TWOBONE_OT_clear_baked(MayRefuse, NeedsMode, bpy.types.Operator):
    """Remove the keys that a bake wrote on the chain, in its range; keys that people made stay"""

    bl_idname = "twobone.clear_baked"
    bl_label = "Clear Baked Keys"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Remove them and say how many."""
        armature = active_armature(context)
        removed = clear_baked(context.scene, [completed(given_settings(self), armature)], armature)
        if removed:
            self.report({"INFO"}, pgettext_rpt("{count} baked keys removed").format(count=removed))
        else:
            self.report({"INFO"}, pgettext_rpt("No baked keys in the range"))
        return {"FINISHED"} if removed else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: nothing to change after the fact."""


@with_properties(operator_properties())
class TWOBONE_OT_align_hinge(MayRefuse, NeedsMode, bpy.types.Operator):
    """Set rotation modes so that each joint of the chain turns by one channel and a bake writes one curve for it"""

    bl_idname = "twobone.align_hinge"
    bl_label = "Align Hinges"
    bl_options = {"REGISTER", "UNDO"}

    roll: bpy.props.BoolProperty(
        name="Change Roll",
        description="Roll bones whose hinge is not one of their own axes; pose and motion stay as they are",
        default=False,
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Align what can be aligned, and say what cannot."""
        armature = active_armature(context)
        aligned = align_hinges(context.scene, completed(given_settings(self), armature), armature, roll=self.roll)
        if aligned.changed:
            done = pgettext_rpt("Hinges aligned: {bones}.").format(bones=", ".join(aligned.changed))
        else:
            done = pgettext_rpt("All hinges are aligned already.")
        self.report({"WARNING" if aligned.left else "INFO"}, " ".join([done, *aligned.left]))
        return {"FINISHED"} if aligned.changed else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: whether rolls may change."""
        self.layout.use_property_split = True
        self.layout.prop(self, "roll")


CLASSES = (TWOBONE_OT_clear_baked, TWOBONE_OT_align_hinge)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
