"""From the last bake's unreachable frames to the timeline."""

import json
import math
from functools import lru_cache
from typing import Any

import bpy
from bpy.app.translations import pgettext_rpt

from ...baking.plan.frame_choice import LAST_FRAME
from ...errors import RangeError
from ..refusing import MayRefuse
from ..stored.where import NeedsChain, chain_in

MOST_MARKERS = 1000
"""More ranges than this are no help in a timeline."""


@lru_cache(maxsize=8)
def parsed_report(report: str) -> dict[str, Any]:
    """A stored report as an object; empty where there is none. Panels ask for it with every redraw."""
    return json.loads(report) if report else {}


class TWOBONE_OT_jump_to_frame(MayRefuse, bpy.types.Operator):
    """Go to this frame"""

    bl_idname = "twobone.jump_to_frame"
    bl_label = "Jump to Frame"
    bl_options = {"REGISTER", "UNDO_GROUPED"}

    frame: bpy.props.FloatProperty(name="Frame", description="Frame to go to", default=1.0, options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the scene's frame."""
        if not abs(self.frame) <= LAST_FRAME:
            raise RangeError(
                f"Frame {self.frame:g} is outside Blender's time. Use a frame from -{LAST_FRAME:,} to {LAST_FRAME:,}."
            )
        whole = math.floor(self.frame)
        context.scene.frame_set(whole, subframe=self.frame - whole)
        return {"FINISHED"}


class TWOBONE_OT_make_markers(MayRefuse, NeedsChain, bpy.types.Operator):
    """Put a timeline marker at the first frame of each range that was out of reach in the last bake"""

    bl_idname = "twobone.make_markers"
    bl_label = "Make Markers"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way: a bake that missed its target nowhere."""
        hindrance = super().hindrance(context)
        if hindrance or parsed_report(chain_in(context).report).get("out_of_reach"):
            return hindrance
        return "Every frame of the last bake was in reach"

    def act(self, context: bpy.types.Context) -> set[str]:
        """Add markers; those that are there already are not added again."""
        chain = chain_in(context)
        ranges = parsed_report(chain.report)["out_of_reach"][:MOST_MARKERS]
        markers = context.scene.timeline_markers
        present = {(marker.name, marker.frame) for marker in markers}
        wanted = {(f"{chain.name} out of reach", math.floor(first)) for first, _ in ranges}
        for name, frame in sorted(wanted - present, key=lambda marker: marker[1]):
            markers.new(name, frame=frame)
        count = len(wanted - present)
        done = pgettext_rpt("1 marker made") if count == 1 else pgettext_rpt("{count} markers made").format(count=count)
        self.report({"INFO"}, done)
        return {"FINISHED"}


CLASSES = (TWOBONE_OT_jump_to_frame, TWOBONE_OT_make_markers)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
