"""The panels with the results of the last bake and of Plant Feet, and buttons that go to frames worth a look."""

from typing import Any

import bpy

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature, stored_settings
from ...pipeline.report.reports import statement_of
from ...said import INFO, Sentence, note
from ..operators.results import TWOBONE_OT_make_markers, parsed_report
from ..remembering import digests
from ..rows import draw_sentence, draw_span
from ..stored.option_properties import CONTEXT
from ..stored.where import MODES, chain_in
from .panels import ChainPanel, Sidebar
from .sight_rows import draw_switch, is_seen_elsewhere

MOST_RANGES = 8
"""Maximum number of frame ranges listed for one statement; more would push everything else out of sight."""

SWITCHED = {"NOT_SHOWN", "OVERRIDDEN"}
"""Kinds of statements that Switch to FK resolves; they get that button if the panel above does not show it at this frame."""


class TWOBONE_PT_result(ChainPanel, bpy.types.Panel):
    """What is on target, what is not, and why"""

    bl_label = "Last Bake"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the active chain has the report of a bake."""
        return super().poll(context) and bool(chain_in(context).report)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw why the report is out of date, then its statements, notes and figures."""
        layout, chain = self.layout, chain_in(context)
        report = parsed_report(chain.report)
        reason = outdated(report, chain, context.scene)
        if reason:
            draw_sentence(layout, Sentence(reason), context, icon="FILE_REFRESH")
        column = layout.column()
        # What is out of date is greyed out.
        column.active = not reason
        statements = [statement_of(entry) for entry in report.get("statements", ())]
        # That the limb does not follow is not said any longer once it does.
        is_switched = bool(reason) and not is_seen_elsewhere(chain)
        for statement in statements:
            if not (is_switched and statement.kind == "NOT_SHOWN"):
                _draw_statement(column, statement, chain, context)
        # Reports of earlier versions only contain the English texts.
        notes = (
            [Sentence.from_dict(data) for data in report["said"]] if "said" in report else map(Sentence, report.get("notes", ()))
        )
        for sentence in notes:
            draw_sentence(column, sentence, context)
        frames = f"{report['frame_start']:g} \u2013 {report['frame_end']:g}"
        for label, text in (("Keys", f"{report['keys']}"), ("Frames", frames)):
            split = column.split(factor=0.4)
            row = split.row()
            row.alignment = "RIGHT"
            row.label(text=label, text_ctxt=CONTEXT)
            split.label(text=text, translate=False)
        if report.get("out_of_reach"):
            column.operator(TWOBONE_OT_make_markers.bl_idname, icon="MARKER_HLT")


class TWOBONE_PT_planting(ChainPanel, bpy.types.Panel):
    """What became of planted feet"""

    bl_label = "Last Planting"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the active armature has a result of Plant Feet."""
        return super().poll(context) and bool(active_armature(context).twobone.planted)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the result's sentence, then the worst stances: a button that goes there, and what planting did to it."""
        from ...pipeline.report.units import units_of

        result = parsed_report(active_armature(context).twobone.planted)
        units = units_of(context.scene)
        said = result.get("said")  # Not stored by 4.0.0.
        draw_sentence(self.layout, Sentence.from_dict(said) if said else Sentence(result["sentence"]), context)
        column = self.layout.column(align=True)
        leg = result.get("leg", 0.0)
        for contact in result["contacts"][:MOST_RANGES]:
            if not isinstance(contact, dict):
                continue  # Stored by 3.0.0, which did not keep more than the slide.
            draw_span(column, contact["chain"], contact["first"], contact["last"])
            if contact.get("left"):
                sentence = note("left as it is: planting would move it by {moved}", moved=units.said(contact["moved"], leg))
                draw_sentence(column, sentence, context, icon="BLANK1")
                continue
            said = {name: units.said(contact[name], leg) for name in ("before", "slide", "moved")}
            sentence = note("slid {before}, now {slide}; moved {moved}", **said)
            if contact["confidence"] is not None:
                values = {"sentence": sentence, "percent": f"{100 * contact['confidence']:.0f}"}
                sentence = note("{sentence}; {percent} % sure", **values)
            draw_sentence(column, sentence, context, icon="BLANK1")
        if len(result["contacts"]) > MOST_RANGES:
            column.label(text=f"+ {len(result['contacts']) - MOST_RANGES}", translate=False)


class TWOBONE_PT_said(Sidebar, bpy.types.Panel):
    """Whole sentence of the last task"""

    bl_label = "Last Result"
    bl_parent_id = "TWOBONE_PT_chains"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Show the panel only while there is a sentence."""
        armature = active_armature(context)
        return context.mode in MODES and armature is not None and bool(armature.twobone.said)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the whole sentence."""
        draw_sentence(self.layout, Sentence(active_armature(context).twobone.said), context)


def _draw_statement(layout: bpy.types.UILayout, statement: Sentence, chain: StoredChain, context: bpy.types.Context) -> None:
    column = layout.column(align=True)
    draw_sentence(column, statement, context, icon="INFO" if statement.level == INFO else "ERROR")
    for first, last in statement.frames[:MOST_RANGES]:
        draw_span(column, "", first, last)
    if len(statement.frames) > MOST_RANGES:
        column.label(text=f"+ {len(statement.frames) - MOST_RANGES}", translate=False)
    if statement.kind in SWITCHED and not is_seen_elsewhere(chain):
        draw_switch(column, chain, "FK")
    if statement.kind == "BESIDE_LETTER_PLANE":
        column.prop_enum(chain, "plane", "POSE", text_ctxt=CONTEXT)


def outdated(report: dict[str, Any], chain: StoredChain, scene: bpy.types.Scene) -> str:
    """Return why a report is out of date; empty if it is not, or if it has no fingerprint to compare."""
    from ...pipeline.report.reporting import chain_digest, settings_digest

    fingerprint = report.get("fingerprint")
    if fingerprint is None:
        return ""
    try:
        settings = stored_settings(chain.id_data, chain, {})
        changed = settings_digest(scene, settings) != fingerprint["settings"]
        moved = digests.recall(settings, lambda: chain_digest(settings)) != fingerprint["animation"]
    except TwoBoneError:
        return "The chain has changed since this bake"
    if changed:
        return "Settings have changed since this bake"
    return "The animation has changed since this bake" if moved else ""


register, unregister = bpy.utils.register_classes_factory((TWOBONE_PT_result, TWOBONE_PT_planting, TWOBONE_PT_said))
