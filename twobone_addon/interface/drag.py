"""Pose a chain with the mouse, in its plane."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface
from bpy_extras import view3d_utils
from mathutils import Vector
from mathutils.geometry import intersect_line_plane

from ..baking.completing import stored_settings
from ..baking.guides import target_guide
from ..baking.live import ChannelValue, PresentPlan, aimed, dragging_plan, present_channels, present_motion
from ..baking.preview import chain_picture
from ..errors import SelectionError, TwoBoneError
from .live import is_live
from .posing import Channels, key_if_automatic, read_channels, set_values, write_channels
from .refusing import refuse
from .where import NeedsChain, active_armature, chain_in

CONFIRM = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
CANCEL = {"RIGHTMOUSE", "ESC"}
FLIP = {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}
HELP = ("Move: Drag the tip", "Wheel: Bend to the other side", "Click, Enter: Confirm", "Right click, Esc: Cancel")


class TWOBONE_OT_drag(NeedsChain, bpy.types.Operator):
    """Drag the tip of the active chain in its plane with the mouse; the wheel bends it to the other side"""

    bl_idname = "twobone.drag"
    bl_label = "Drag Chain"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    present: PresentPlan
    before: Channels
    values: list[ChannelValue]
    root: Vector
    normal: Vector
    side: float

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way: something else that pulls at the chain."""
        hindrance = super().hindrance(context)
        if hindrance or not is_live(chain_in(context)):
            return hindrance
        return "The chain is live: move its target instead, or switch Live off"

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Begin to follow the mouse."""
        try:
            self._take_hold(context)
        except TwoBoneError as error:
            return refuse(self, str(error))
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set("   |   ".join(pgettext_iface(part) for part in HELP))
        return {"RUNNING_MODAL"}

    def _take_hold(self, context: bpy.types.Context) -> None:
        if context.area is None or context.area.type != "VIEW_3D":
            raise SelectionError("The mouse can drag in a 3D viewport only. Start it there.")
        armature, depsgraph = active_armature(context), context.evaluated_depsgraph_get()
        settings = stored_settings(armature, chain_in(context), {})
        self.present = dragging_plan(context.scene, settings)
        tip = target_guide(armature.evaluated_get(depsgraph), self.present.plan.names).location_world
        picture = chain_picture(self.present, context.scene, depsgraph, tip)
        normal = np.cross(*picture.axes.T)
        bend = np.cross(*np.diff(picture.joints, axis=0)[:2]) @ normal if settings.bend == "KEEP" else 1.0
        self.side = -1.0 if settings.bend == "NEGATIVE" or bend < 0.0 else 1.0
        self.root, self.normal = Vector(picture.root), Vector(normal)
        self.before = read_channels(armature, [bone.name for bone in self.present.plan.rest.bones])
        self.values = []

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow, flip, confirm or put everything back."""
        armature = bpy.data.objects.get(self.present.plan.names.armature)
        if armature is None:
            return self._end(context, {"CANCELLED"})
        if event.type in CANCEL:
            write_channels(armature, self.before)
            return self._end(context, {"CANCELLED"})
        if event.type in CONFIRM and event.value == "PRESS":
            key_if_automatic(context, armature, self.values)
            return self._end(context, {"FINISHED"})
        if event.type in FLIP and event.value == "PRESS":
            self.side = -self.side
        if event.type not in FLIP | {"MOUSEMOVE"}:
            return {"RUNNING_MODAL"}
        try:
            self._follow(context, armature, event)
        except TwoBoneError as error:
            write_channels(armature, self.before)
            return self._end(context, refuse(self, str(error)))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it, as when a file is loaded."""
        self._end(context, set())

    def _follow(self, context: bpy.types.Context, armature: bpy.types.Object, event: bpy.types.Event) -> None:
        place = mouse_on_plane(context, event, self.root, self.normal)
        if place is None:
            return
        plan, motion = present_motion(self.present, context.scene, context.evaluated_depsgraph_get(), self.before)
        self.values = present_channels(plan, replace(aimed(motion, np.array(place)), bend=np.array([self.side])))
        set_values(armature, self.values)

    def _end(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return result


def mouse_on_plane(context: bpy.types.Context, event: Any, root: Vector, normal: Vector) -> Vector | None:
    """Where the line of sight through the mouse meets a plane; `None` where the plane is seen from its edge."""
    mouse = (event.mouse_region_x, event.mouse_region_y)
    start = view3d_utils.region_2d_to_origin_3d(context.region, context.region_data, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(context.region, context.region_data, mouse)
    return intersect_line_plane(start, start + direction, root, normal)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_drag,))
