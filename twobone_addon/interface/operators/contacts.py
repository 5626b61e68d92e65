"""Find the contacts of feet, and go from one to the next."""

import bpy

from ...baking.contacts.finding import find_contacts_steps
from ...baking.contacts.stepping import contact_frame
from ...baking.plan.frame_choice import with_custom_range
from ...settings.contacts import CONTACT_OPTIONS, ContactSettings
from ..refusing import MayRefuse
from ..rows import draw_own_options
from ..running.progress import Begun, ShowsProgress
from ..stored.option_properties import properties_of, with_properties
from ..stored.where import NeedsArmature, NeedsMode, active_armature


@with_properties(properties_of(CONTACT_OPTIONS))
class TWOBONE_OT_find_contacts(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Detect when heel and ball of each foot are on the ground, and key it on the leg chains"""

    bl_idname = "twobone.find_contacts"
    bl_label = "Find Contacts"
    bl_options = {"REGISTER", "UNDO"}

    ground_velocity: bpy.props.FloatVectorProperty(
        name="Ground Velocity",
        description="Velocity of the ground if Ground Moves is Given, in units per second along the world axes",
        size=3,
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The search in the motion of one armature."""
        given = {name: getattr(self, name) for name in self._given()}
        settings = ContactSettings(**with_custom_range(context.scene, given))
        return Begun([], find_contacts_steps(context.scene, settings, active_armature(context)))

    def _given(self) -> list[str]:
        names = [*(option.name for option in CONTACT_OPTIONS), "ground_velocity"]
        return [name for name in names if self.properties.is_property_set(name)]

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        draw_own_options(self.layout, self, CONTACT_OPTIONS)
        if self.ground_moves == "GIVEN":
            self.layout.column().prop(self, "ground_velocity")


class TWOBONE_OT_contact_jump(MayRefuse, NeedsArmature, bpy.types.Operator):
    """Go to the frame at which a contact of a foot begins or ends"""

    bl_idname = "twobone.contact_jump"
    bl_label = "Go to Contact"
    bl_options = {"REGISTER", "UNDO"}

    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Where to look for the contact",
        items=(("PREVIOUS", "Previous", "Before the current frame"), ("NEXT", "Next", "After the current frame")),
        default="NEXT",
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Go there; without a contact on that side nothing happens."""
        scene = context.scene
        frame = contact_frame(active_armature(context), scene.frame_current_final, forward=self.direction == "NEXT")
        if frame is None:
            return {"CANCELLED"}
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        return {"FINISHED"}


CLASSES = (TWOBONE_OT_find_contacts, TWOBONE_OT_contact_jump)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
