"""The bake operator: gather settings, call the use-case, say the result."""

import bpy

from ..baking.bake import bake
from ..baking.planning import fresh_choices, plan_chain
from ..errors import TwoBoneError
from ..settings import OPTIONS, Group
from .option_properties import operator_properties, operator_settings, with_properties
from .properties import active_chain, stored_values


@with_properties(operator_properties())
class TWOBONE_OT_bake(bpy.types.Operator):
    """Bake two-bone IK: key the rotations of a chain so that its tip follows the target in the chosen plane"""

    bl_idname = "twobone.bake"
    bl_label = "Bake Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only where nothing is being edited; without an armature a name must be given."""
        if context.mode not in {"OBJECT", "POSE"}:
            cls.poll_message_set("Leave the present mode first: baking works in Object Mode and in Pose Mode")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake, and leave the report on the window manager."""
        try:
            self._take_what_is_left_empty(context)
            report = bake(context.scene, [operator_settings(self)], active_object(context))
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.twobone_report = report.to_json()
        self.report({"WARNING" if report.chains[0].out_of_reach else "INFO"}, report.sentence())
        return {"FINISHED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: what makes sense to change after the fact."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for option in OPTIONS:
            if option.group is not Group.CHAIN and self._is_shown(option.name):
                layout.prop(self, option.name)

    def _is_shown(self, name: str) -> bool:
        if name in {"frame_start", "frame_end"}:
            return self.frame_range == "CUSTOM"
        return True

    def _take_what_is_left_empty(self, context: bpy.types.Context) -> None:
        """Fill from the stored chain where no bone is named, then plane and bend from the rig where nobody chose them."""
        armature = bpy.data.objects.get(self.armature) if self.armature else active_object(context)
        chain = active_chain(armature)
        if chain is not None and not (self.upper or self.lower):
            for name, value in stored_values(armature, chain).items():
                if not self.properties.is_property_set(name):
                    setattr(self, name, value)
        if not (self.properties.is_property_set("plane") or self.properties.is_property_set("bend")):
            plan = plan_chain(context.scene, operator_settings(self), armature)
            for name, value in fresh_choices(plan).items():
                if not self.properties.is_property_set(name):
                    setattr(self, name, value)


def active_object(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object, also where no window is in context."""
    return context.view_layer.objects.active if context.view_layer else None


CLASSES = (TWOBONE_OT_bake,)


def register() -> None:
    """Register the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take them away again."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
