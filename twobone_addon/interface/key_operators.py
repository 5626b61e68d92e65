"""What an animator does about keys besides baking: take a bake back, and make joints single curves."""

import bpy

from ..baking.aligning import align_hinges
from ..baking.clearing import clear_baked
from ..baking.completing import completed
from ..errors import TwoBoneError
from ..settings import OPTIONS, BakeSettings
from .option_properties import operator_properties, with_properties
from .where import NeedsMode, active_armature


class MeansChain:
    """Operators that take their chain as `twobone.bake` does: what is not given comes from the stored chain or the selection."""

    def settings(self, context: bpy.types.Context) -> BakeSettings:
        """What is meant; raises a `TwoBoneError`."""
        given = {option.name: getattr(self, option.name) for option in OPTIONS if self.properties.is_property_set(option.name)}
        return completed(given, active_armature(context))


@with_properties(operator_properties())
class TWOBONE_OT_clear_baked(MeansChain, NeedsMode, bpy.types.Operator):
    """Remove the keys that a bake wrote on the chain, in its range; keys that people made stay"""

    bl_idname = "twobone.clear_baked"
    bl_label = "Clear Baked Keys"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove them and say how many."""
        try:
            removed = clear_baked(context.scene, [self.settings(context)], active_armature(context))
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{removed} baked keys removed" if removed else "No baked keys in the range")
        return {"FINISHED"} if removed else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: nothing to change after the fact."""


@with_properties(operator_properties())
class TWOBONE_OT_align_hinge(MeansChain, NeedsMode, bpy.types.Operator):
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

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Align what can be aligned, and say what cannot."""
        try:
            aligned = align_hinges(context.scene, self.settings(context), active_armature(context), roll=self.roll)
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        done = f"Hinge aligned: {', '.join(aligned.changed)}" if aligned.changed else "All hinges are aligned already"
        self.report({"WARNING" if aligned.left else "INFO"}, " ".join([f"{done}.", *aligned.left]))
        return {"FINISHED"} if aligned.changed else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: whether rolls may change."""
        self.layout.use_property_split = True
        self.layout.prop(self, "roll")


CLASSES = (TWOBONE_OT_clear_baked, TWOBONE_OT_align_hinge)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
