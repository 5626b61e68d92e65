"""What came of the last bake, and the way to the frames that a person should look at."""

from typing import Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.completing import StoredChain, stored_settings
from ...pipeline.report.freshness import settings_digest
from ...pipeline.report.reports import statement_of
from ...pipeline.report.units import units_of
from ...said import INFO, Sentence
from ..operators.results import TWOBONE_OT_jump_to_frame, TWOBONE_OT_make_markers, parsed_report
from ..rows import draw_sentence
from ..stored.option_properties import CONTEXT
from ..stored.where import MODES, active_armature, chain_in
from .panels import ChainPanel, Sidebar
from .remembering import present_digest
from .sight_rows import draw_switch_to_fk, is_seen_elsewhere

MOST_RANGES = 8
"""Ranges of frames listed for one reason; more would push everything else out of sight."""

SWITCHED = {"NOT_SHOWN", "OVERRIDDEN"}
"""What Switch to FK puts right, also where the panel above has no button for it at this frame."""


class TWOBONE_PT_result(ChainPanel, bpy.types.Panel):
    """What is on target, what is not, and why"""

    bl_label = "Last Bake"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only after a bake."""
        return super().poll(context) and bool(chain_in(context).report)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what is out of date, the statements, the notes and the figures."""
        layout, chain = self.layout, chain_in(context)
        report = parsed_report(chain.report)
        old = outdated(report, chain, context.scene)
        if old:
            draw_sentence(layout, Sentence(old), context, icon="FILE_REFRESH")
        column = layout.column()
        column.active = not old
        statements = [statement_of(entry) for entry in report.get("statements", ())]
        for statement in statements:
            _draw_statement(column, statement, chain, context)
        # Reports of earlier versions have only the English.
        kept = (
            [Sentence.from_dict(data) for data in report["said"]] if "said" in report else map(Sentence, report.get("notes", ()))
        )
        for said in kept:
            draw_sentence(column, said, context)
        for label, text in figures(report):
            _draw_figure(column, label, text)
        if report.get("out_of_reach"):
            column.operator(TWOBONE_OT_make_markers.bl_idname, icon="MARKER_HLT")


class TWOBONE_PT_planting(ChainPanel, bpy.types.Panel):
    """What became of planted feet"""

    bl_label = "Last Planting"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only after Plant Feet."""
        return super().poll(context) and bool(active_armature(context).twobone.planted)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the whole sentence, then the contacts that slide most, each with the way to its first frame."""
        told = parsed_report(active_armature(context).twobone.planted)
        units = units_of(context.scene)
        draw_sentence(self.layout, Sentence(told["sentence"]), context)
        column = self.layout.column(align=True)
        for chain, first, last, slide in told["contacts"][:MOST_RANGES]:
            text = f"{chain}  {first:g} \u2013 {last:g}   {units.said(slide, told.get('leg', 0.0))}"
            column.operator(TWOBONE_OT_jump_to_frame.bl_idname, text=text, translate=False).frame = first
        if len(told["contacts"]) > MOST_RANGES:
            column.label(text=f"+ {len(told['contacts']) - MOST_RANGES}", translate=False)


class TWOBONE_PT_said(Sidebar, bpy.types.Panel):
    """What a task has said that has no panel of its own"""

    bl_label = "Last Result"
    bl_parent_id = "TWOBONE_PT_chains"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only where it was too long for the status bar, or is to be looked at."""
        armature = active_armature(context)
        return context.mode in MODES and armature is not None and bool(armature.twobone.said)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the whole sentence."""
        draw_sentence(self.layout, Sentence(active_armature(context).twobone.said), context)


def _draw_statement(layout: bpy.types.UILayout, statement: Sentence, chain: StoredChain, context: bpy.types.Context) -> None:
    column = layout.column(align=True)
    draw_sentence(column, statement, context, icon="INFO" if statement.level == INFO else "ERROR")
    for first, last in statement.frames[:MOST_RANGES]:
        text = f"{first:g}" if first == last else f"{first:g} \u2013 {last:g}"
        column.operator(TWOBONE_OT_jump_to_frame.bl_idname, text=text, translate=False).frame = first
    if len(statement.frames) > MOST_RANGES:
        column.label(text=f"+ {len(statement.frames) - MOST_RANGES}", translate=False)
    if statement.kind in SWITCHED and not is_seen_elsewhere(chain):
        draw_switch_to_fk(column, chain)
    if statement.kind == "BESIDE_LETTER_PLANE":
        column.prop_enum(chain, "plane", "POSE", text_ctxt=CONTEXT)


def outdated(report: dict[str, Any], chain: StoredChain, scene: bpy.types.Scene) -> str:
    """Why a report does not tell any more what is there; empty where it does, or where nobody knows."""
    told = report.get("fingerprint")
    if told is None:
        return ""
    try:
        settings = stored_settings(chain.id_data, chain, {})
        changed = settings_digest(scene, settings) != told["settings"]
        moved = present_digest(settings) != told["animation"]
    except TwoBoneError:
        return "The chain has changed since this bake"
    if changed:
        return "Settings have changed since this bake"
    return "The animation has changed since this bake" if moved else ""


FIGURES = ("Keys", "Frames")
"""Labels of the plain numbers that a person wants to know of a bake."""


def figures(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Label and text of each of `FIGURES`."""
    texts = (f"{report['keys']}", f"{report['frame_start']:g} \u2013 {report['frame_end']:g}")
    return list(zip(FIGURES, texts, strict=True))


def _draw_figure(layout: bpy.types.UILayout, label: str, text: str) -> None:
    split = layout.split(factor=0.4)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=label, text_ctxt=CONTEXT)
    split.label(text=text, translate=False)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_PT_result, TWOBONE_PT_planting, TWOBONE_PT_said))
