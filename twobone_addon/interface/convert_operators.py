"""IK constraints turned into keys, and keys turned into the motion of targets."""

import bpy

from ..baking.completing import completed
from ..baking.conversion_plans import Conversion
from ..baking.converting import convert
from ..baking.target_baking import bake_target
from ..errors import TwoBoneError
from ..options import Group
from ..settings import OPTIONS, BakeSettings
from .option_properties import operator_properties, with_properties
from .rows import draw_options
from .where import NeedsMode, active_armature

KEPT = ["armature", *(option.name for option in OPTIONS if option.group is Group.KEYS)]
"""Settings of a bake that a conversion has as well; the rest is read from the constraint."""

SWITCHES = (
    ("MUTE", "Mute", "Mute the constraint"),
    ("INFLUENCE", "Key Influence", "Key the constraint's influence to 0 over the range, and leave it as it is elsewhere"),
)


@with_properties({name: made for name, made in operator_properties().items() if name in KEPT})
class TWOBONE_OT_convert_ik(NeedsMode, bpy.types.Operator):
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

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Convert, and leave the report on the window manager."""
        try:
            keys = BakeSettings(**{name: getattr(self, name) for name in KEPT})
            wanted = Conversion(keys, self.bone, self.switch_off, self.rigify)
            report = convert(context.scene, wanted, active_armature(context))
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.twobone_report = report.to_json()
        self.report({"INFO"}, report.sentence())
        return {"FINISHED"}

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
class TWOBONE_OT_bake_target(NeedsMode, bpy.types.Operator):
    """Key the target where the chain's tip is now, and the pole where the chain bends to: the reverse of Bake"""

    bl_idname = "twobone.bake_target"
    bl_label = "Bake Target from Chain"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake, and leave the report on the window manager."""
        given = {option.name: getattr(self, option.name) for option in OPTIONS if self.properties.is_property_set(option.name)}
        try:
            armature = active_armature(context)
            settings = completed(given, armature)
            report = bake_target(context.scene, settings, armature)
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for option in OPTIONS:
            setattr(self, option.name, getattr(settings, option.name))
        context.window_manager.twobone_report = report.to_json()
        self.report({"INFO"}, report.sentence())
        return {"FINISHED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for group in (Group.PLANE, Group.KEYS):
            draw_options(self.layout.column(), self, group)


CLASSES = (TWOBONE_OT_convert_ik, TWOBONE_OT_bake_target)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
