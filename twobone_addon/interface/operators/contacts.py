"""Find the contacts of feet, and go from one to the next."""

import bpy

from ...baking.contacts.finding import find_contacts_steps
from ...baking.contacts.stepping import contact_frame
from ...settings.contacts import CONTACT_OPTIONS, ContactSettings
from ..refusing import MayRefuse
from ..running.own_options import GROUND_VELOCITY, StandsOnGround, draw_with_ground, given_options
from ..running.progress import Begun
from ..stored.option_properties import properties_of, with_properties
from ..stored.where import NeedsArmature, NeedsMode, active_armature


@with_properties(properties_of(CONTACT_OPTIONS) | GROUND_VELOCITY)
class TWOBONE_OT_find_contacts(StandsOnGround, NeedsMode, bpy.types.Operator):
    """Detect when heel and ball of each foot are on the ground, and key it on the leg chains"""

    bl_idname = "twobone.find_contacts"
    bl_label = "Find Contacts"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context: bpy.types.Context) -> Begun:
        """The search in the motion of one armature."""
        settings = ContactSettings(**given_options(self, context, CONTACT_OPTIONS))
        return Begun([], find_contacts_steps(context.scene, settings, active_armature(context)))

    def draw_correction(self) -> None:
        """All settings."""
        draw_with_ground(self, CONTACT_OPTIONS)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel."""
        if not self.draws_refusal(context):
            self.draw_correction()


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
