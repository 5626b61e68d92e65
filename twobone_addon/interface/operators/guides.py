"""Operators that add targets and poles."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.translations import pgettext_rpt

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature
from ...scene.writer import assign
from ...settings.options import POLE_SHAPE, TARGET_SHAPE
from ..refusing import MayRefuse
from ..stored.selecting import chain_meant, keep_active
from ..stored.where import NeedsArmature

if TYPE_CHECKING:
    from ...scene.bones import ChainNames
    from ...tasks.give.guides import Guide

SHAPES = (
    ("SPHERE", "Sphere", "Three circles"),
    ("CUBE", "Cube", "A cube"),
    ("CIRCLE", "Circle", "A circle in its XZ plane"),
    ("PLAIN_AXES", "Plain Axes", "Three lines"),
    ("ARROWS", "Arrows", "Three arrows with their letters"),
    ("CONE", "Cone", "A cone along its Y axis"),
)


def shape_property(default: str) -> Any:
    """Return the property for the display shape of the empty."""
    return bpy.props.EnumProperty(name="Shape", description="Display shape of the empty", items=SHAPES, default=default)


class AddsGuide(MayRefuse, NeedsArmature):
    """Mixin for operators that add an empty for the named chain, or for that of `chain_meant`."""

    size: bpy.props.FloatProperty(
        name="Size",
        description="Size of the empty (0 = in proportion to the chain)",
        min=0.0,
        subtype="DISTANCE",
        options={"SKIP_SAVE"},
    )
    stored: bpy.props.StringProperty(
        name="Stored Chain",
        description="Stored chain to use, regardless of the selection",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Add the empty, assign it to the chain and give it the limb's motion; mode, selection and active object are kept."""
        from ...pipeline.plan.completing import names_of

        armature = active_armature(context)
        chain = armature.twobone.chains.get(self.stored) or chain_meant(context, armature)
        keep_active(context, chain)
        names = names_of(chain)
        self.assign(chain, self.make(context, chain, names, self.guide(armature, names, chain)))
        # Before it is evaluated the new empty is at the world's origin.
        context.view_layer.update()
        try:
            self.give(context.scene, chain)
        except TwoBoneError as error:  # Without the limb's motion the empty is still useful: it can be moved by hand.
            self.report({"INFO"}, error.sentence.text(pgettext_rpt))
        return {"FINISHED"}

    def make(self, context: bpy.types.Context, chain: StoredChain, names: "ChainNames", guide: "Guide") -> bpy.types.Object:
        """Add the empty to the armature's collection, and return it."""
        from ...tasks.give.guides import add_guide, guide_name

        armature = chain.id_data
        name = guide_name(self.role, armature, names, chain.name)
        self.size = self.size or guide.size  # Show the automatic size in the redo panel.
        return add_guide(context.scene, armature, guide, name=name, size=self.size, shape=self.shape)


class TWOBONE_OT_add_target(AddsGuide, bpy.types.Operator):
    """Add an empty at the tip as the chain's target, with the limb's motion; a limb that is not listed gets a chain"""

    bl_idname = "twobone.add_target"
    bl_label = "Add Target"
    bl_options = {"REGISTER", "UNDO"}

    shape: shape_property(TARGET_SHAPE)
    role = "Target"

    def guide(self, armature: bpy.types.Object, names: "ChainNames", _chain: StoredChain) -> "Guide":
        """Return location and size of the target."""
        from ...tasks.give.guides import seen_target_guide

        return seen_target_guide(armature, names)

    def give(self, scene: bpy.types.Scene, chain: StoredChain) -> None:
        """Give the target the motion of the limb's tip."""
        from ...tasks.give.task import give_motion

        give_motion(scene, chain)

    def assign(self, chain: StoredChain, empty: bpy.types.Object) -> None:
        """Set the empty as the chain's target."""
        assign(chain, "target", empty)
        assign(chain, "target_bone", "")


class TWOBONE_OT_add_pole(AddsGuide, bpy.types.Operator):
    """Add an empty beyond the middle joint as the chain's pole, with the limb's motion, and let the chain bend towards it"""

    bl_idname = "twobone.add_pole"
    bl_label = "Add Pole"
    bl_options = {"REGISTER", "UNDO"}

    shape: shape_property(POLE_SHAPE)
    role = "Pole"

    def guide(self, armature: bpy.types.Object, names: "ChainNames", chain: StoredChain) -> "Guide":
        """Return location and size of the pole."""
        from ...scene.restoring import as_evaluated
        from ...tasks.give.guides import pole_guide

        return pole_guide(as_evaluated(armature), names, chain.plane, chain.bend)

    def give(self, scene: bpy.types.Scene, chain: StoredChain) -> None:
        """Give the pole a motion that follows the limb's bend."""
        from ...tasks.give.task import give_pole_motion

        give_pole_motion(scene, chain)

    def assign(self, chain: StoredChain, empty: bpy.types.Object) -> None:
        """Set the empty as the chain's pole, and bend the chain towards it; the limb keeps its twist."""
        assign(chain, "pole", empty)
        assign(chain, "pole_bone", "")
        if chain.plane != "POLE":
            assign(chain, "reference", "POSE")
        assign(chain, "plane", "POLE")
        assign(chain, "bend", "POSITIVE")


CLASSES = (TWOBONE_OT_add_target, TWOBONE_OT_add_pole)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
