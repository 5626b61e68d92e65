"""IK constraints turned into keys, and keys turned into the motion of targets."""

import bpy

from ...baking.fk_to_target.baking import bake_targets_steps
from ...baking.ik_to_fk.converting import convert_steps
from ...baking.ik_to_fk.plans import SETTINGS, Conversion
from ...baking.plan.choosing import bones_of_selected_limbs
from ...options import Group
from ...settings import BakeSettings
from ..rows import draw_options
from ..stored.option_properties import given_settings, operator_properties, show_settings, with_properties
from ..stored.selecting import meant_settings
from ..stored.where import NeedsMode, active_armature
from .progress import Begun, ShowsProgress

SWITCHES = (
    ("MUTE", "Mute", "Mute the constraint"),
    ("INFLUENCE", "Key Influence", "Key the constraint's influence to 0 over the range, and leave it as it is elsewhere"),
)


@with_properties({name: made for name, made in operator_properties().items() if name in SETTINGS})
class TWOBONE_OT_convert_ik(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the bones as their IK constraints pose them, and mute the constraints; nothing in the viewport moves"""

    bl_idname = "twobone.convert_ik"
    bl_label = "Convert IK to FK Keys"
    bl_options = {"REGISTER", "UNDO"}

    bone: bpy.props.StringProperty(
        name="Bone",
        description="Bone that carries the IK constraint. Leave empty for the selected limbs, or for all if none is selected",
        options={"SKIP_SAVE"},
    )
    switch_off: bpy.props.EnumProperty(
        name="Switch Off", description="How to turn the IK constraint off", items=SWITCHES, default="MUTE", options={"SKIP_SAVE"}
    )
    rigify: bpy.props.BoolProperty(
        name="Rigify",
        description="Key the FK controls of a Rigify rig, and its switches from IK to FK over the range",
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The conversion of all constraints that are meant."""
        keys = BakeSettings(**{name: getattr(self, name) for name in SETTINGS})
        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        poses = context.mode == "POSE" and armature is not None and armature.mode == "POSE"
        selected = bones_of_selected_limbs(armature) if poses and not named and not self.bone else frozenset()
        wanted = Conversion(keys, self.bone, self.switch_off, self.rigify, selected)
        return Begun([], convert_steps(context.scene, wanted, armature))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        column = self.layout.column()
        column.prop(self, "bone")
        column.prop(self, "rigify")
        if not self.rigify:
            column.prop(self, "switch_off")
        draw_options(self.layout.column(), self, Group.KEYS)


@with_properties(operator_properties())
class TWOBONE_OT_bake_target(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the target where the chain's tip is now, and the pole where the chain bends to: the reverse of Bake"""

    bl_idname = "twobone.bake_target"
    bl_label = "Bake Target from Chain"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context: bpy.types.Context) -> Begun:
        """The motion of one chain, given to its target; the redo panel shows which."""
        armature = active_armature(context)
        wanted = meant_settings(context, given_settings(self))
        if len(wanted) == 1:
            show_settings(self, wanted[0])
        return Begun([], bake_targets_steps(context.scene, wanted, armature))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for group in (Group.PLANE, Group.KEYS):
            draw_options(self.layout.column(), self, group)


CLASSES = (TWOBONE_OT_convert_ik, TWOBONE_OT_bake_target)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
