"""IK constraints turned into keys, and keys turned into the motion of targets."""

import bpy

from ..baking.completing import completed
from ..baking.conversion_plans import SETTINGS, Conversion
from ..baking.converting import convert_steps
from ..baking.target_baking import bake_targets_steps
from ..options import Group
from ..settings import BakeSettings
from .option_properties import given_settings, operator_properties, show_settings, with_properties
from .progress import Begun, ShowsProgress
from .rows import draw_options
from .where import NeedsMode, active_armature

SWITCHES = (
    ("MUTE", "Mute", "Mute the constraint"),
    ("INFLUENCE", "Key Influence", "Key the constraint's influence to 0 over the range, and leave it as it is elsewhere"),
)


@with_properties({name: made for name, made in operator_properties().items() if name in SETTINGS})
class TWOBONE_OT_convert_ik(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the bones as their IK constraints pose them, and mute the constraints; nothing in the viewport moves"""

    bl_idname = "twobone.convert_ik"
    bl_label = "Convert IK to Keys"
    bl_options = {"REGISTER", "UNDO"}

    bone: bpy.props.StringProperty(
        name="Bone",
        description="Bone that carries the IK constraint; empty for every one of the armature",
        options={"SKIP_SAVE"},
    )
    switch_off: bpy.props.EnumProperty(
        name="Switch Off", description="How the constraint ends", items=SWITCHES, default="MUTE", options={"SKIP_SAVE"}
    )
    rigify: bpy.props.BoolProperty(
        name="Rigify",
        description="Key the FK controls of a Rigify rig, and its switches from IK to FK over the range",
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The conversion of all constraints that are meant."""
        keys = BakeSettings(**{name: getattr(self, name) for name in SETTINGS})
        wanted = Conversion(keys, self.bone, self.switch_off, self.rigify)
        return Begun([], convert_steps(context.scene, wanted, active_armature(context)))

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
        settings = completed(given_settings(self), armature)
        show_settings(self, settings)
        return Begun([], bake_targets_steps(context.scene, [settings], armature))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for group in (Group.PLANE, Group.KEYS):
            draw_options(self.layout.column(), self, group)


CLASSES = (TWOBONE_OT_convert_ik, TWOBONE_OT_bake_target)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
