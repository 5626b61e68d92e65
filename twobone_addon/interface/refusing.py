"""Operators that may refuse to run: they report one sentence with the reason and change nothing.

In a window the refusal may open a dialog that shows the reason with the settings, to correct them and try again.
"""

from typing import Any, ClassVar

import bpy
from bpy.app.translations import pgettext_iface, pgettext_rpt

from ..errors import TwoBoneError
from ..said import Sentence
from ..settings.options import OptionKind
from ..settings.tasks import Table
from .rows import (
    EACH_REPEAT,
    IN_STRIP,
    ON_IK,
    WHOLE_CYCLE,
    draw_missing_bones,
    draw_remedy,
    draw_sentence,
    draw_show_keys,
    is_mended,
    reason_of,
)
from .stored.selecting import follow_selection


class MayRefuse:
    """Mixin for operators whose `act(context)` returns the result of `execute` or raises a `TwoBoneError`.

    What it has changed when it raises anything is put back.
    """

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Run `act` for the selection; report a `TwoBoneError` as an error."""
        from ..scene.restoring import bring_up_to_date, write_animated_values
        from ..scene.writer import Transaction

        bring_up_to_date()
        follow_selection(context.view_layer)
        try:
            with Transaction() as changes, changes.noting():
                result = self.act(context)
        except TwoBoneError as error:
            return refuse(self, error.sentence)
        write_animated_values()
        return result


def refuse(operator: bpy.types.Operator, sentence: Sentence) -> set[str]:
    """Report the sentence as an error and cancel the operator."""
    operator.report({"ERROR"}, sentence.text(pgettext_rpt))
    return {"CANCELLED"}


WIDTH = 400
"""Width of the dialog in pixels, at resolution scale 1; most sentences take three lines."""


def can_ask(context: bpy.types.Context) -> bool:
    """Whether a dialog can be shown: there is a window, and Blender does not run in the background, which has one too."""
    return context.window is not None and not bpy.app.background


SWITCH_FIRST = "Switch to FK First"
"""Label of the button that goes on after a refusal of limbs that IK poses."""

INTO_STRIP = "Into an NLA Strip"
"""Label of the button that goes on after a refusal because of what NLA tracks play."""

OVER_CYCLE = "Over the Whole Cycle"
"""Label of the button that goes on after a refusal because of what a Cycles modifier repeats."""

IN_EACH_REPEAT = "In Each Repeat"
"""Label of the button that goes on after a refusal of a nudge because of what a Cycles modifier repeats."""


MENDED = "This is mended. Go on with Try Again"


class CanBeCorrected:
    """Mixin for operators with `draw_correction()`, which draws the settings that may have been wrong."""

    table: Table
    """Option table of the task."""
    asks_more = False
    """Whether the dialog has settings to fill in although its button mends what it says."""
    refusal: Sentence | None = None
    """Why the last try was refused, while the dialog that shows it is open."""
    has_taken_remedy = False
    """Whether the dialog's own button goes on with what helps."""
    late: ClassVar[Sentence | None] = None
    """Why a run that took its time was refused, while an operator is invoked that shows this in its dialog."""

    def ask_to_correct(self, context: bpy.types.Context, sentence: Sentence) -> set[str]:
        """Open the dialog; if it cannot be shown or no setting can help, report the error and cancel."""
        if not can_ask(context) or not self.can_be_corrected():
            return refuse(self, sentence)
        self.refusal = sentence
        go_on = self.take_remedy(reason_of(sentence)) or "Try Again"
        manager = context.window_manager
        return manager.invoke_props_dialog(
            self, width=WIDTH, title=pgettext_iface(self.bl_label), confirm_text=pgettext_iface(go_on)
        )

    def take_remedy(self, reason: Sentence) -> str:
        """Set what helps, so that the dialog's own button goes on with it, and return the label of that; empty without any."""
        self.has_taken_remedy = True
        if reason.kind == ON_IK and hasattr(self, "switch_first") and not self.switch_first:
            # Limbs are switched, and the task is done, in one step.
            self.switch_first = True
            return SWITCH_FIRST
        if reason.kind == IN_STRIP and hasattr(self, "destination"):
            self.destination = "NLA"
            return INTO_STRIP
        if reason.kind == WHOLE_CYCLE and hasattr(self, "frame_range"):
            self.frame_range = "CUSTOM"
            self.frame_start, self.frame_end = float(reason.values["first"]), float(reason.values["last"])
            return OVER_CYCLE
        if reason.kind == EACH_REPEAT:
            self.loop = "ON"
            return IN_EACH_REPEAT
        self.has_taken_remedy = reason.kind == ON_IK and getattr(self, "switch_first", False)
        return ""

    def ask_again(self, sentence: Sentence) -> set[str]:
        """Handle a refusal of `execute`: from the dialog, which this try closes, invoke the operator again to open a new one."""
        if self.is_half_chosen():
            self.report({"INFO"}, sentence.text(pgettext_rpt))
            return {"CANCELLED"}
        if self.refusal is None:
            return refuse(self, sentence)
        self.begin_anew()
        return {"CANCELLED"}

    def ask_late(self, context: bpy.types.Context, sentence: Sentence) -> set[str]:
        """Handle a refusal after some time, when this operator has its events already: another one opens the dialog."""
        if not can_ask(context) or not self.can_be_corrected():
            return refuse(self, sentence)
        CanBeCorrected.late = sentence
        try:
            self.begin_anew()
        finally:
            CanBeCorrected.late = None
        return {"CANCELLED"}

    def begin_anew(self) -> None:
        """Invoke the operator again, which ends here, with all that was given."""
        self.refusal = None
        # Blender spells an operator's name in two ways: `twobone.bake`, and `TWOBONE_OT_bake` on a running operator.
        operator = getattr(bpy.ops.twobone, self.bl_idname.rpartition("_OT_")[2].rpartition(".")[2])
        operator("INVOKE_DEFAULT", **self._given_properties())

    def is_half_chosen(self) -> bool:
        """Whether a change in the redo panel has made an object's field appear, which is still empty: an error would hide it."""
        options = [
            option
            for option in (*self.table.of_chains, *self.table.own)
            if option.kind is OptionKind.OBJECT and hasattr(self, option.name)
        ]
        is_empty = any(
            option.needs is not None and option.needs.is_met(self) and not getattr(self, option.name) for option in options
        )
        return is_empty and self.options.is_repeat

    def can_be_corrected(self) -> bool:
        """Whether other settings of the operator may help."""
        return True

    def draws_refusal(self, context: bpy.types.Context) -> bool:
        """Draw the dialog if it is open; return whether it is."""
        if self.refusal is None:
            return False
        layout = self.layout
        width = WIDTH * context.preferences.system.ui_scale
        if is_mended(self.refusal, getattr(self, "stored", "")):
            draw_sentence(layout.column(), Sentence(MENDED), context, icon="CHECKMARK", width=width)
            return True
        column = layout.column()
        column.alert = True  # Blender draws the texts of a dialog in grey, as if they did not count.
        draw_sentence(column, self.refusal, context, icon="ERROR", width=width)
        if self.has_taken_remedy:
            if reason_of(self.refusal).kind == ON_IK:
                draw_show_keys(layout)
            if self.asks_more:
                self.draw_correction()
            return True
        if draw_missing_bones(layout, self.refusal) or draw_remedy(layout, self.refusal, getattr(self, "stored", "")):
            return True
        layout.use_property_split = True
        layout.use_property_decorate = False
        self.draw_correction()
        return True

    def _given_properties(self) -> dict[str, Any]:
        """Return the properties that have been set, as keyword arguments of a call of the operator."""
        # A setting named "keys" hides the method `keys`, which would list the set properties.
        known = [prop.identifier for prop in self.properties.bl_rna.properties if prop.identifier != "rna_type"]
        names = [name for name in known if self.properties.is_property_set(name)]
        values = {name: getattr(self, name) for name in names}
        return {
            name: [dict(entry.items()) for entry in value] if isinstance(value, bpy.types.bpy_prop_collection) else value
            for name, value in values.items()
        }
