"""New targets and poles, in one click."""

import bpy

from ..baking.completing import StoredChain
from ..baking.guides import POLE_SHAPE, TARGET_SHAPE, Guide, guide_name, pole_guide, target_guide
from ..errors import TwoBoneError
from ..scene.chain_finding import ChainNames, chain_from_names
from ..scene.empties import add_empty
from .storing import add_selected_chain
from .where import NeedsArmature, active_armature, chain_in

SHAPES = (
    ("SPHERE", "Sphere", "Three circles"),
    ("CUBE", "Cube", "A cube"),
    ("CIRCLE", "Circle", "A circle in its XZ plane"),
    ("PLAIN_AXES", "Plain Axes", "Three lines"),
    ("ARROWS", "Arrows", "Three arrows with their letters"),
    ("CONE", "Cone", "A cone along its Y axis"),
)


class AddsGuide(NeedsArmature):
    """Operators that make an empty for the active chain, or for a chain made from the selection."""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the empty; mode, selection and active object stay as they are."""
        armature = active_armature(context)
        try:
            chain = chain_in(context) or add_selected_chain(armature)
            names = chain_from_names(armature, chain.upper, chain.lower, chain.tip, chain.tip_end)
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.view_layer.update()
        evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
        self.assign(chain, self.make(context, armature, names, self.guide(evaluated, names, chain)))
        return {"FINISHED"}

    def make(self, context: bpy.types.Context, armature: bpy.types.Object, names: ChainNames, guide: Guide) -> bpy.types.Object:
        """The empty, in the armature's collection."""
        name = guide_name(self.role, armature, names)
        size = self.size or guide.size
        return add_empty(context.scene, armature, name=name, location=guide.location_world, size=size, shape=self.shape)


class TWOBONE_OT_add_target(AddsGuide, bpy.types.Operator):
    """Add an empty at the tip as the chain's target; makes the chain from the selected bones if there is none"""

    bl_idname = "twobone.add_target"
    bl_label = "Add Target"
    bl_options = {"REGISTER", "UNDO"}

    shape: bpy.props.EnumProperty(name="Shape", description="What the empty looks like", items=SHAPES, default=TARGET_SHAPE)
    size: bpy.props.FloatProperty(
        name="Size", description="Size of the empty; 0 takes it from the chain", min=0.0, subtype="DISTANCE"
    )
    role = "Target"

    def guide(self, armature: bpy.types.Object, names: ChainNames, _chain: StoredChain) -> Guide:
        """Where it goes."""
        return target_guide(armature, names)

    def assign(self, chain: StoredChain, empty: bpy.types.Object) -> None:
        """Make it the chain's target."""
        chain.target = empty
        chain.target_bone = ""


class TWOBONE_OT_add_pole(AddsGuide, bpy.types.Operator):
    """Add an empty beyond the middle joint as the chain's pole, and let the chain bend towards it"""

    bl_idname = "twobone.add_pole"
    bl_label = "Add Pole"
    bl_options = {"REGISTER", "UNDO"}

    shape: bpy.props.EnumProperty(name="Shape", description="What the empty looks like", items=SHAPES, default=POLE_SHAPE)
    size: bpy.props.FloatProperty(
        name="Size", description="Size of the empty; 0 takes it from the chain", min=0.0, subtype="DISTANCE"
    )
    role = "Pole"

    def guide(self, armature: bpy.types.Object, names: ChainNames, chain: StoredChain) -> Guide:
        """Where it goes."""
        return pole_guide(armature, names, chain.plane, chain.bend)

    def assign(self, chain: StoredChain, empty: bpy.types.Object) -> None:
        """Make it the chain's pole, and the pole's side the chain's."""
        chain.pole = empty
        chain.pole_bone = ""
        chain.plane = "POLE"
        chain.bend = "POSITIVE"


CLASSES = (TWOBONE_OT_add_target, TWOBONE_OT_add_pole)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
