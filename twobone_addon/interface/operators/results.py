"""Operators that go to or mark frames: those out of reach in the last bake, ends of contacts, the worst of an audited clip."""

import json
import math
from functools import lru_cache
from typing import Any

import bpy
from bpy.app.translations import pgettext_rpt

from ...errors import ObjectError, RangeError
from ...pipeline.plan.stored import active_armature
from ..refusing import MayRefuse
from ..stored.where import NeedsArmature, NeedsChain, chain_in

MOST_MARKERS = 1000
"""Maximum number of markers made; more would clutter the timeline."""


@lru_cache(maxsize=8)
def parsed_report(report: str) -> dict[str, Any]:
    """Return a stored report as a JSON object; empty if there is none. Cached, since panels need it at every redraw."""
    return json.loads(report) if report else {}


def whole_and_subframe(frame: float) -> tuple[int, float]:
    """Split a frame into the whole frame and subframe of `frame_set`; raises `RangeError` outside Blender's range."""
    from ...pipeline.plan.frame_choice import LAST_FRAME

    if not abs(frame) <= LAST_FRAME:
        raise RangeError(
            "Frame {frame:g} is outside Blender's frame range. Use a frame from -{last:,} to {last:,}.",
            frame=frame,
            last=LAST_FRAME,
        )
    return math.floor(frame), frame - math.floor(frame)


class TWOBONE_OT_jump_to_frame(MayRefuse, bpy.types.Operator):
    """Go to this frame"""

    bl_idname = "twobone.jump_to_frame"
    bl_label = "Jump to Frame"
    bl_options = {"REGISTER", "UNDO_GROUPED"}

    frame: bpy.props.FloatProperty(name="Frame", description="Frame to go to", default=1.0, options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the scene's frame."""
        whole, subframe = whole_and_subframe(self.frame)
        context.scene.frame_set(whole, subframe=subframe)
        return {"FINISHED"}


class TWOBONE_OT_make_markers(MayRefuse, NeedsChain, bpy.types.Operator):
    """Put a timeline marker at the first frame of each range that was out of reach in the last bake"""

    bl_idname = "twobone.make_markers"
    bl_label = "Make Markers"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, such as a last bake without misses; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance or parsed_report(chain_in(context).report).get("out_of_reach"):
            return hindrance
        return "Every frame of the last bake was in reach"

    def act(self, context: bpy.types.Context) -> set[str]:
        """Add the markers that do not exist yet."""
        chain = chain_in(context)
        ranges = parsed_report(chain.report)["out_of_reach"][:MOST_MARKERS]
        markers = context.scene.timeline_markers
        present = {(marker.name, marker.frame) for marker in markers}
        # Markers stand at whole frames.
        named = {(f"{chain.name} out of reach", math.floor(first)) for first, _ in ranges}
        for name, frame in sorted(named - present, key=lambda marker: marker[1]):
            markers.new(name, frame=frame)
        count = len(named - present)
        done = pgettext_rpt("1 marker made") if count == 1 else pgettext_rpt("{count} markers made").format(count=count)
        self.report({"INFO"}, done)
        return {"FINISHED"}


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
        """Go to the contact's frame; cancelled if there is none in that direction."""
        from ...tasks.find_contacts.plan import contact_frame

        scene = context.scene
        frame = contact_frame(active_armature(context), scene.frame_current_final, forward=self.direction == "NEXT")
        if frame is None:
            return {"CANCELLED"}
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        return {"FINISHED"}


class TWOBONE_OT_contact_tick(MayRefuse, NeedsArmature, bpy.types.Operator):
    """Whether Plant Feet plants this contact. Off keys the foot in the air at its frames, on keys it as found"""

    bl_idname = "twobone.contact_tick"
    bl_label = "Plant This Contact"
    bl_options = {"REGISTER", "UNDO"}

    chain: bpy.props.StringProperty(name="Chain", description="Stored chain of the foot", options={"HIDDEN", "SKIP_SAVE"})
    first: bpy.props.FloatProperty(name="First", description="First frame of the contact", options={"HIDDEN", "SKIP_SAVE"})
    last: bpy.props.FloatProperty(name="Last", description="Last frame of the contact", options={"HIDDEN", "SKIP_SAVE"})
    stands: bpy.props.BoolProperty(
        name="Plant", description="Whether Plant Feet plants the contact", default=True, options={"SKIP_SAVE"}
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Key the contact."""
        from ...tasks.find_contacts.plan import take_contact

        armature = active_armature(context)
        chain = armature.twobone.chains.get(self.chain)
        if chain is None or not self.first <= self.last:
            return {"CANCELLED"}
        take_contact(armature, chain, (self.first, self.last), stands=self.stands)
        return {"FINISHED"}


class TWOBONE_OT_audit_show(MayRefuse, bpy.types.Operator):
    """Assign this clip to the armature, and go to its worst frame"""

    bl_idname = "twobone.audit_show"
    bl_label = "Show Clip"
    bl_options = {"REGISTER", "UNDO"}

    armature: bpy.props.StringProperty(name="Armature", description="Armature that plays the clip", options={"SKIP_SAVE"})
    action: bpy.props.StringProperty(
        name="Action", description="Action to play. Leave empty for the current one", options={"SKIP_SAVE"}
    )
    frame: bpy.props.FloatProperty(name="Frame", description="Frame to go to", default=1.0, options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context) -> set[str]:
        """Assign the action to the armature, and set the frame."""
        from ...scene.actions import action_named, own_action
        from ...scene.versions import assign_slot

        armature = bpy.data.objects.get(self.armature) or active_armature(context)
        whole, subframe = whole_and_subframe(self.frame)
        if self.action:
            action = action_named(self.action)
            playable = own_action(armature, action, sure=True) if armature is not None and action is not None else None
            if playable is None:
                raise ObjectError('Action "{action}" moves no bone of that armature. Audit again.', action=self.action)
            data = armature.animation_data or armature.animation_data_create()
            data.action = playable.action
            assign_slot(data, playable.slot)
        context.scene.frame_set(whole, subframe=subframe)
        return {"FINISHED"}


class TWOBONE_OT_select_limb(MayRefuse, NeedsArmature, bpy.types.Operator):
    """Select this bone, so that Add Target or Add Chain stores its limb"""

    bl_idname = "twobone.select_limb"
    bl_label = "Select Limb"
    bl_options = {"REGISTER", "UNDO"}

    bone: bpy.props.StringProperty(name="Bone", description="Upper bone of the limb", options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context) -> set[str]:
        """Select the bone in Pose Mode, and nothing else."""
        from ...scene.versions import selection_flags

        armature = active_armature(context)
        bone = armature.data.bones.get(self.bone)
        if bone is None:
            raise ObjectError('Armature "{armature}" has no bone "{bone}".', armature=armature.name, bone=self.bone)
        if armature.mode != "POSE":
            bpy.ops.object.mode_set(mode="POSE")
        holders, flags = selection_flags(armature)
        flags[:] = [other.name == self.bone for other in armature.data.bones]
        holders.foreach_set("select", flags)
        armature.data.bones.active = bone
        return {"FINISHED"}


CLASSES = (
    TWOBONE_OT_select_limb,
    TWOBONE_OT_jump_to_frame,
    TWOBONE_OT_make_markers,
    TWOBONE_OT_contact_jump,
    TWOBONE_OT_contact_tick,
    TWOBONE_OT_audit_show,
)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
