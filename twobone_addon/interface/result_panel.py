"""What came of the last bake, and the way to the frames that were out of reach."""

from typing import Any

import bpy

from .option_properties import CONTEXT
from .panels import ChainPanel
from .result_operators import TWOBONE_OT_jump_to_frame, TWOBONE_OT_make_markers, parsed_report
from .rows import draw_sentence
from .where import chain_in

MOST_RANGES = 8
"""Ranges of frames listed; more would push everything else out of sight."""

SHOWN_DISTANCE = 1e-4
"""Below this, a length with a unit is rounded to zero."""


class TWOBONE_PT_result(ChainPanel, bpy.types.Panel):
    """Keys, measured distance and frames out of reach"""

    bl_label = "Last Bake"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only after a bake."""
        return super().poll(context) and bool(chain_in(context).report)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the figures, the notes and the ranges."""
        layout = self.layout
        report = parsed_report(chain_in(context).report)
        for label, text in figures(report, context.scene.unit_settings):
            _draw_figure(layout, label, text)
        for note in report.get("notes", ()):
            draw_sentence(layout, note, context)
        missed = report.get("out_of_reach", ())
        if missed:
            self._draw_ranges(missed)

    def _draw_ranges(self, missed: list[list[float]]) -> None:
        column = self.layout.column(align=True)
        column.label(text="Out of reach", icon="ERROR")
        for first, last in missed[:MOST_RANGES]:
            text = f"{first:g}" if first == last else f"{first:g} \u2013 {last:g}"
            column.operator(TWOBONE_OT_jump_to_frame.bl_idname, text=text, translate=False).frame = first
        if len(missed) > MOST_RANGES:
            column.label(text=f"+ {len(missed) - MOST_RANGES}", translate=False)
        self.layout.operator(TWOBONE_OT_make_markers.bl_idname, icon="MARKER_HLT")


FIGURES = ("Keys", "Frames", "Farthest Off", "Missed")
"""Labels of what a person wants to know of a bake."""


def figures(report: dict[str, Any], units: Any) -> list[tuple[str, str]]:
    """Label and text of each of `FIGURES` that there is something to say about."""
    error, missed = report.get("max_error"), report["too_far"] + report["too_near"]
    texts = (
        f"{report['keys']}",
        f"{report['frame_start']:g} \u2013 {report['frame_end']:g}",
        "" if error is None else _distance(error, units),
        f"{missed} / {report['frames']}" if missed else "",
    )
    return [(label, text) for label, text in zip(FIGURES, texts, strict=True) if text]


def _distance(value: float, units: Any) -> str:
    """In scene units, or as a plain number where those would say nothing but zero."""
    if value < SHOWN_DISTANCE or units.system == "NONE":
        return f"{value:.1e}" if value < SHOWN_DISTANCE else f"{value:.3g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", value * units.scale_length, precision=4)


def _draw_figure(layout: bpy.types.UILayout, label: str, text: str) -> None:
    split = layout.split(factor=0.4)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=label, text_ctxt=CONTEXT)
    split.label(text=text, translate=False)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_PT_result,))
