"""Operators that may refuse to run: they report one sentence with the reason and change nothing."""

import bpy
from bpy.app.translations import pgettext_rpt

from ..errors import TwoBoneError
from ..said import Sentence
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
