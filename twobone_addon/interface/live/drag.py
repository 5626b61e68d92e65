"""The operator that drags a chain's tip with the mouse, as with G, while the chain follows."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface
from mathutils import Vector

from ...errors import SelectionError, TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature, stored_settings
from ...records import replace
from ...settings import LIMB_PLANES
from ..refusing import refuse
from ..stored.live_limbs import is_live
from ..stored.selecting import follow_selection
from ..stored.storing import key_if_keyed
from ..stored.where import NeedsChain, chain_in
from .mouse import Pointer, is_navigation, viewports_of
from .posing import Channels, is_there, key_if_automatic, put_values, read_channels, write_channels

CONFIRM = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
CANCEL = {"RIGHTMOUSE", "ESC"}
FLIP = {"WHEELUPMOUSE", "WHEELDOWNMOUSE", "F"}

HELP = ("Confirm", "Cancel", "Flip Bend", "Precision Mode", "Navigate")
"""Actions shown in the status bar, in the order of `ICONS`."""

WHEEL = "MOUSE_MMB_SCROLL"
"""Icon of the mouse wheel, which Blender 4.2 lacks."""

ICONS = (
    ("MOUSE_LMB", "EVENT_RETURN"),
    ("MOUSE_RMB", "EVENT_ESC"),
    ("EVENT_F", WHEEL),
    ("EVENT_SHIFT",),
    ("MOUSE_MMB", "EVENT_ALT"),
)
"""Icons of the keys for each action in `HELP`."""

BEHIND_ICON = 0.7
"""Separator factor after an icon."""

WIDE_ICONS = {"EVENT_ESC": 1.7, "EVENT_ALT": 1.7, "EVENT_PAGEUP": 2.6}
"""Separator factors after icons that are drawn wider than their layout, since they contain a word."""


def draw_keys_of_dragging(header: Any, _context: bpy.types.Context) -> None:
    """Draw the keys of a drag in the status bar."""
    draw_icons(header.layout, HELP, ICONS)


def draw_icons(layout: bpy.types.UILayout, texts: Sequence[str], icons_of: Sequence[Sequence[str]]) -> None:
    """Draw actions, each behind the icons of its keys, as Blender's own modal operators do."""
    row = layout.row(align=True)
    existing = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    for text, icons in zip(texts, icons_of, strict=True):
        for icon in filter(existing.__contains__, icons):
            row.label(text="", icon=icon)
        if icons:
            row.separator(factor=WIDE_ICONS.get(icons[-1], BEHIND_ICON))
        row.label(text=pgettext_iface(text), translate=False)
        row.separator(factor=2.0)


class TWOBONE_OT_drag(NeedsChain, bpy.types.Operator):
    """Move the tip of the active chain with the mouse. The chain follows in its plane; keys are only made with Auto Keying"""

    bl_idname = "twobone.drag"
    bl_label = "Drag Chain"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    present: Any
    """The `PresentPlan` of the chain."""
    before: Channels
    """Channels of the chain's bones before the drag."""
    values: list[Any]
    """Channel values of the present pose; empty while nothing has moved."""
    pointer: Pointer
    side: float
    """Sign of the bend, 1 or -1."""
    is_flipped: bool
    holds_button: bool
    """Whether the drag began with a mouse button that is still pressed, as on a gizmo; releasing it confirms."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, such as a live chain; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance or not is_live(chain_in(context)):
            return hindrance
        return "The chain is live: move its target instead, or switch Live off"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begin the drag."""
        follow_selection(context.view_layer)
        try:
            self._begin(context, event)
        except TwoBoneError as error:
            return refuse(self, error.sentence)
        self.is_flipped, self.holds_button = False, (event.type, event.value) == ("LEFTMOUSE", "PRESS")
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(draw_keys_of_dragging)
        return {"RUNNING_MODAL"}

    def _begin(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Plan the drag from the present pose; raises a `TwoBoneError`."""
        import numpy as np

        from ...pipeline.gate import refuse_posed, who_poses
        from ...pipeline.pose.pictures import chain_picture
        from ...pipeline.pose.present import dragging_plan
        from ...tasks.give.guides import target_guide

        if not viewports_of(context.area):
            raise SelectionError("Dragging only works in a 3D Viewport. Run it from there.")
        armature, depsgraph = active_armature(context), context.evaluated_depsgraph_get()
        settings = stored_settings(armature, chain_in(context), {})
        self.present = dragging_plan(context.scene, settings)
        frame = context.scene.frame_current_final
        refuse_posed(who_poses(context.scene, armature, self.present.plan.names, (frame, frame)))
        tip = target_guide(armature.evaluated_get(depsgraph), self.present.plan.names).location_world
        picture = chain_picture(self.present, context.scene, depsgraph, tip)
        normal = np.cross(*picture.axes.T)
        # A bend that is kept is on the side where the joint lies now.
        kept = settings.bend == "KEEP" and settings.plane != "POSE"
        bend = np.cross(*np.diff(picture.joints, axis=0)[:2]) @ normal if kept else 1.0
        self.side = -1.0 if settings.bend == "NEGATIVE" or bend < 0.0 else 1.0
        # A plane that turns with the limb does not constrain the tip, so it moves in the view plane, as with G.
        self.pointer = Pointer(context.area, Vector(tip), None if settings.plane in LIMB_PLANES else Vector(normal), event)
        self.before = read_channels(armature, [bone.name for bone in self.present.plan.rest.bones])
        self.values, self.limb = [], None

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the mouse, flip, confirm or cancel; pass navigation events through to Blender."""
        armature = bpy.data.objects.get(self.present.plan.names.armature)
        if not is_there(context.scene, self.present.plan):
            if armature is not None:
                write_channels(armature, self.before)
            return self._end(context, {"CANCELLED"})
        if is_navigation(event):
            self.pointer.let_go()
            return {"PASS_THROUGH"}
        if event.type in CANCEL and event.value == "PRESS":
            write_channels(armature, self.before)
            return self._end(context, {"CANCELLED"})
        is_let_go = self.holds_button and (event.type, event.value) == ("LEFTMOUSE", "RELEASE")
        if is_let_go or (event.type in CONFIRM and event.value == "PRESS"):
            self._keep(context, armature)
            return self._end(context, {"FINISHED"} if self.values else {"CANCELLED"})
        return self._follow(context, armature, event)

    def cancel(self, context: bpy.types.Context) -> None:
        """Clean up when Blender cancels the operator, such as when a file is loaded."""
        self._end(context, set())

    def _follow(self, context: bpy.types.Context, armature: bpy.types.Object, event: bpy.types.Event) -> set[str]:
        if event.type in FLIP and event.value == "PRESS":
            self.side, self.is_flipped = -self.side, not self.is_flipped
        elif event.type == "MOUSEMOVE":
            self.pointer.follow(event)
        else:
            return {"RUNNING_MODAL"}
        try:
            self._pose(context, armature)
        except TwoBoneError as error:
            write_channels(armature, self.before)
            return self._end(context, refuse(self, error.sentence))
        return {"RUNNING_MODAL"}

    def _pose(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        import numpy as np

        from ...pipeline.pose.present import present_channels, present_inputs, present_limbs, present_motion

        depsgraph, tip = context.evaluated_depsgraph_get(), np.array(self.pointer.point)
        inputs = present_inputs(self.present, context.scene, depsgraph, self.before)
        (self.limb,) = present_limbs([inputs], [self.limb])
        motion = replace(present_motion(self.limb, tip), bend=np.array([self.side]))
        (self.values,) = present_channels([self.limb], [motion])
        put_values(armature, self.values)

    def _keep(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        """Key the pose if auto-keying is on, and store a flipped bend on the chain."""
        key_if_automatic(context, armature, self.values)
        settings = self.present.settings
        chain: StoredChain | None = armature.twobone.chains.get(settings.stored)
        # In the plane of the pose, the pose itself carries the bend, and it has been flipped.
        if chain is not None and self.is_flipped and settings.bend != "KEEP" and settings.plane != "POSE":
            chain.bend = "NEGATIVE" if settings.bend == "POSITIVE" else "POSITIVE"
            key_if_keyed(context, chain, "bend")

    def _end(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return result


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_drag,))
