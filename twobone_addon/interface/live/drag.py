"""Pose a chain with the mouse: the tip moves as with G, from where it is, and the chain follows."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface
from mathutils import Vector

from ...errors import SelectionError, TwoBoneError
from ...pipeline.plan.completing import StoredChain, stored_settings
from ...pipeline.pose.pictures import chain_picture
from ...pipeline.pose.present import ChannelValue, PresentPlan, dragging_plan, present_channels, present_motion
from ...settings import LIMB_PLANES
from ...tasks.give.guides import target_guide
from ..refusing import refuse
from ..stored.selecting import follow_selection
from ..stored.storing import key_if_keyed
from ..stored.where import NeedsChain, active_armature, chain_in
from .following import is_live
from .mouse import Pointer, is_navigation, viewport_at
from .posing import Channels, key_if_automatic, read_channels, set_values, write_channels

CONFIRM = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
CANCEL = {"RIGHTMOUSE", "ESC"}
FLIP = {"WHEELUPMOUSE", "WHEELDOWNMOUSE", "F"}

HELP = ("Confirm", "Cancel", "Flip Bend", "Precision Mode", "Navigate")
"""What the status bar says can be done, in the order of `ICONS`."""

WHEEL = "MOUSE_MMB_SCROLL"
"""Icon of the wheel, which 4.2 does not have."""

ICONS = (
    ("MOUSE_LMB", "EVENT_RETURN"),
    ("MOUSE_RMB", "EVENT_ESC"),
    ("EVENT_F", WHEEL),
    ("EVENT_SHIFT",),
    ("MOUSE_MMB", "EVENT_ALT"),
)
"""Keys that do it."""

BEHIND_ICON = 0.7
"""Room behind the icons."""

WIDE_ICONS = {"EVENT_ESC": 1.7, "EVENT_ALT": 1.7}
"""Room behind those that are drawn wider than they are laid out, since they hold a word."""


def draw_keys(header: Any, _context: bpy.types.Context) -> None:
    """Draw each key as its icon, with what it does, in place of the status bar's own."""
    row = header.layout.row(align=True)
    known = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    for text, icons in zip(HELP, ICONS, strict=True):
        for icon in filter(known.__contains__, icons):
            row.label(text="", icon=icon)
        row.separator(factor=WIDE_ICONS.get(icons[-1], BEHIND_ICON))
        row.label(text=pgettext_iface(text), translate=False)
        row.separator(factor=2.0)


class TWOBONE_OT_drag(NeedsChain, bpy.types.Operator):
    """Move the tip of the active chain with the mouse. The chain follows in its plane; F or the wheel flips the bend"""

    bl_idname = "twobone.drag"
    bl_label = "Drag Chain"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    present: PresentPlan
    before: Channels
    values: list[ChannelValue]
    pointer: Pointer
    side: float
    is_flipped: bool
    holds_button: bool
    """Whether it began with a button that is still pressed, as on a gizmo: then letting go confirms."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way: something else that pulls at the chain."""
        hindrance = super().hindrance(context)
        if hindrance or not is_live(chain_in(context)):
            return hindrance
        return "The chain is live: move its target instead, or switch Live off"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begin to follow the mouse."""
        follow_selection(context.view_layer)
        try:
            self._take_hold(context, event)
        except TwoBoneError as error:
            return refuse(self, error.sentence)
        self.is_flipped, self.holds_button = False, (event.type, event.value) == ("LEFTMOUSE", "PRESS")
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(draw_keys)
        return {"RUNNING_MODAL"}

    def _take_hold(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        viewport = viewport_at(context.area, event)
        if viewport is None:
            raise SelectionError("Dragging only works in a 3D Viewport. Run it from there.")
        armature, depsgraph = active_armature(context), context.evaluated_depsgraph_get()
        settings = stored_settings(armature, chain_in(context), {})
        self.present = dragging_plan(context.scene, settings)
        tip = target_guide(armature.evaluated_get(depsgraph), self.present.plan.names).location_world
        picture = chain_picture(self.present, context.scene, depsgraph, tip)
        normal = np.cross(*picture.axes.T)
        kept = settings.bend == "KEEP" and settings.plane != "POSE"
        bend = np.cross(*np.diff(picture.joints, axis=0)[:2]) @ normal if kept else 1.0
        self.side = -1.0 if settings.bend == "NEGATIVE" or bend < 0.0 else 1.0
        # Where the plane turns with the target, the tip goes wherever the mouse does, as with G.
        self.pointer = Pointer(viewport, Vector(tip), None if settings.plane in LIMB_PLANES else Vector(normal), event)
        self.before = read_channels(armature, [bone.name for bone in self.present.plan.rest.bones])
        self.values = []

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow, flip, confirm or put everything back; whatever turns the view goes on to Blender."""
        armature = bpy.data.objects.get(self.present.plan.names.armature)
        if armature is None:
            return self._end(context, {"CANCELLED"})
        if is_navigation(event):
            self.pointer.let_go()
            return {"PASS_THROUGH"}
        if event.type in CANCEL and event.value == "PRESS":
            write_channels(armature, self.before)
            return self._end(context, {"CANCELLED"})
        if self._confirms(event):
            self._keep(context, armature)
            return self._end(context, {"FINISHED"} if self.values else {"CANCELLED"})
        return self._follow(context, armature, event)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it, as when a file is loaded."""
        self._end(context, set())

    def _confirms(self, event: bpy.types.Event) -> bool:
        if self.holds_button and (event.type, event.value) == ("LEFTMOUSE", "RELEASE"):
            return True
        return event.type in CONFIRM and event.value == "PRESS"

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
        depsgraph, place = context.evaluated_depsgraph_get(), np.array(self.pointer.place)
        plan, motion = present_motion(self.present, context.scene, depsgraph, self.before, place_world=place)
        self.values = present_channels(plan, replace(motion, bend=np.array([self.side])))
        set_values(armature, self.values)

    def _keep(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        """Key what moved if auto-keying is on; a side that was flipped is the chain's from now on."""
        key_if_automatic(context, armature, self.values)
        wanted = self.present.wanted
        chain: StoredChain | None = armature.twobone.chains.get(wanted.stored)
        # In the plane of the pose the side is that of the pose, which has been flipped itself.
        if chain is not None and self.is_flipped and wanted.bend != "KEEP" and wanted.plane != "POSE":
            chain.bend = "NEGATIVE" if wanted.bend == "POSITIVE" else "POSITIVE"
            key_if_keyed(context, chain, "bend")

    def _end(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return result


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_drag,))
