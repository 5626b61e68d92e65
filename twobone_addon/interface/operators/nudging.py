"""The operator Nudge: interactive in a viewport, or run directly with a given offset."""

from typing import Any

import bpy

from ...desk.meant import Meant
from ...errors import TwoBoneError
from ...pipeline.plan.stored import active_armature
from ...said import Sentence
from ...settings.tasks import TABLES
from ..live.drag import CANCEL, CONFIRM, WHEEL, draw_icons
from ..live.mouse import is_navigation, viewports_of
from ..live.posing import is_there
from ..refusing import refuse
from ..running.from_table import FromTable, operator_for
from ..running.progress import SwitchesFirst
from ..stored.selecting import follow_selection, unlisted_limb
from ..stored.where import NeedsMode
from .results import whole_and_subframe

WIDER, NARROWER = {"WHEELUPMOUSE", "PAGE_UP"}, {"WHEELDOWNMOUSE", "PAGE_DOWN"}

ANY_OFFSET = (1.0, 0.0, 0.0)
"""Placeholder offset for planning a nudge before the mouse has moved, since an offset of 0 would be refused."""

HELP = ("Confirm", "Cancel", "Axis", "Plane", "Range", "Precision Mode", "0-9: Type")
ICONS = (
    ("MOUSE_LMB", "EVENT_RETURN"),
    ("MOUSE_RMB", "EVENT_ESC"),
    ("EVENT_X", "EVENT_Y", "EVENT_Z"),
    ("EVENT_SHIFT", "EVENT_X", "EVENT_Y", "EVENT_Z"),
    (WHEEL, "EVENT_PAGEUP"),
    ("EVENT_SHIFT",),
    (),
)
"""Actions shown in the status bar, and the icons of their keys."""


def draw_keys_of_nudging(header: Any, _context: bpy.types.Context) -> None:
    """Draw the keys of a nudge in the status bar."""
    draw_icons(header.layout, HELP, ICONS)


class WithMouse(FromTable):
    """Mixin that lets the mouse move the tip, unless an offset is given."""

    asks_more = True  # From a dialog no mouse moves the tip.
    drag: Any = None
    """State of the drag; `None` if there is none."""
    drawn: Any = None
    """Handle from `begin_drawing` during the drag."""
    is_dragged = False
    """Whether a drag was confirmed, and is being carried out."""
    frame_before: float = 0.0
    """Frame of the scene before the operator."""

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the nudge; if they name no limb and the selected one has no stored chain, take the selected bones."""
        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        if not (named or self.chain or self.upper or self.lower):
            for name, value in unlisted_limb(context, armature).items():
                if name in {"upper", "lower", "tip"}:
                    setattr(self, name, value)
        return FromTable.requested(self, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begin the drag; without a viewport, or if an offset or `remove` is given, run directly."""
        from ...tasks.nudge.task import plan_nudge
        from ..live.nudging import NudgeDrag
        from ..overlay.drawing import begin_drawing
        from ..overlay.lines import nudge_lines

        if not viewports_of(context.area) or self.remove or any(self.offset):
            return super().invoke(context, event)
        follow_selection(context.view_layer)
        scene = context.scene
        self.frame_before = scene.frame_current_final
        try:
            if self.properties.is_property_set("frame") and self.frame != self.frame_before:
                _go_to(scene, self.frame)
            self.offset = ANY_OFFSET
            request = self.requested(context)
            plan = plan_nudge(scene, request.settings, request.active)
            self.drag = NudgeDrag(context, plan, event)
        except TwoBoneError as error:
            self._end(context)
            return self.ask_to_correct(context, error.sentence)
        finally:
            self.properties.property_unset("offset")
        self.drawn = begin_drawing(nudge_lines, self.drag)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(draw_keys_of_nudging)
        context.area.header_text_set(self.drag.header())
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Handle mouse and keys, confirm or cancel; pass navigation events through to Blender."""
        if self.drag is None:
            return super().modal(context, event)
        ended = self._ended(context, event)
        return self._follow(context, event) if ended is None else ended

    def _ended(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str] | None:
        """Return the operator's result if the event confirms or cancels; `None` for other events."""
        if not is_there(context.scene, self.drag.limb) or (event.value == "PRESS" and event.type in CANCEL):
            return self._end(context)
        return self._confirm(context) if event.value == "PRESS" and event.type in CONFIRM else None

    def _follow(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        from ..live.nudging import AXES, TYPED

        drag, is_pressed = self.drag, event.value == "PRESS"
        is_typed = is_pressed and event.ascii != "" and event.ascii in TYPED
        # The keys of the numpad are numbers here, not views.
        if not is_typed and is_navigation(event):
            drag.pointer.let_go()
            return {"PASS_THROUGH"}
        if event.type == "MOUSEMOVE":
            drag.pointer.follow(event)
        elif is_typed or (is_pressed and event.type in {*AXES, "BACK_SPACE", "TAB", *WIDER, *NARROWER}):
            self._press(event, is_typed=is_typed)
        else:
            return {"RUNNING_MODAL"}
        try:
            drag.pose()
        except TwoBoneError as error:
            self._end(context)
            return refuse(self, error.sentence)
        if context.area is not None:
            context.area.header_text_set(drag.header())
            context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def _press(self, event: bpy.types.Event, *, is_typed: bool) -> None:
        from ..live.nudging import AXES

        drag = self.drag
        if is_typed:
            drag.type(event.ascii)
        elif event.type in AXES:
            drag.constrain(AXES.index(event.type), is_plane=event.shift)
        elif event.type == "BACK_SPACE":
            drag.take_back()
        elif event.type == "TAB":
            drag.next_field()
        else:
            drag.widen(1.0 if event.type in WIDER else -1.0)

    def _confirm(self, context: bpy.types.Context) -> set[str]:
        """Run the task with the offset of the drag; an existing nudge moved back to no offset is removed."""
        import numpy as np

        drag = self.drag
        offset, nudge, is_changed = drag.offset, drag.nudge, np.any(drag.moved) or drag.is_known
        # The task starts from the pose without the drag.
        self._end(context, stays=True)
        if not is_changed:
            return {"CANCELLED"}
        if not np.any(offset):
            self.remove = True
        else:
            self.offset = tuple(offset)
            self.before, self.after, self.falloff, self.loop = nudge.before, nudge.after, nudge.falloff, nudge.loop
        self.frame, self.is_dragged = nudge.frame, True
        return self.execute(context)

    def ask_again(self, sentence: Sentence) -> set[str]:
        """Also after a drag, which had this operator's events, open the dialog: that of another one, with what was dragged."""
        if not self.is_dragged:
            return super().ask_again(sentence)
        self.is_dragged = False
        return self.ask_late(bpy.context, sentence)

    def _end(self, context: bpy.types.Context, *, stays: bool = False) -> set[str]:
        """Restore the pose, and the frame unless the nudge `stays`; stop drawing."""
        from ..overlay.drawing import end_drawing

        if self.drag is not None:
            self.drag.give_back()
        if self.drawn is not None:
            end_drawing(self.drawn)
        self.drag = self.drawn = None
        if not stays and context.scene.frame_current_final != self.frame_before:
            _go_to(context.scene, self.frame_before)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if context.area is not None:
            context.area.header_text_set(None)
        return {"CANCELLED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Clean up when Blender cancels the operator, such as when a file is loaded."""
        from ..overlay.drawing import end_drawing

        if self.drawn is not None:
            end_drawing(self.drawn)
            self.drag = self.drawn = None
            return
        super().cancel(context)

    def settle(self, report: Any, _said: str) -> None:
        """Show the limb, the frame and the range of the nudge in the redo panel."""
        self.chain, self.frame = report.chain, report.frame
        self.upper, self.lower = ("", "") if report.chain else (report.upper, report.lower)
        new = next((nudge for nudge in report.nudges if nudge.frame == report.frame), None)
        if new is not None:
            self.before, self.after = new.before, new.after


@operator_for(TABLES["nudge"])
class TWOBONE_OT_nudge(SwitchesFirst, WithMouse, NeedsMode, bpy.types.Operator):
    """Nudge, with the mouse or from a script."""


def _go_to(scene: bpy.types.Scene, frame: float) -> None:
    whole, subframe = whole_and_subframe(frame)
    scene.frame_set(whole, subframe=subframe)
