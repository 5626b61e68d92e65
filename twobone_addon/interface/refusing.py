"""Operators whose work may be refused: the one sentence that says why is shown, and nothing has changed."""

import bpy
from bpy.app.translations import pgettext_rpt

from ..errors import TwoBoneError
from ..said import Sentence
from ..scene.restoring import bring_up_to_date, write_animated_values
from .stored.selecting import follow_selection


class MayRefuse:
    """Operators with `act(context)`, which returns what `execute` is to return or raises a `TwoBoneError`."""

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it for what is selected, or say why not."""
        bring_up_to_date()
        follow_selection(context.view_layer)
        try:
            result = self.act(context)
        except TwoBoneError as error:
            return refuse(self, error.sentence)
        write_animated_values()
        return result


def refuse(operator: bpy.types.Operator, sentence: Sentence) -> set[str]:
    """End an operator with what is wrong."""
    operator.report({"ERROR"}, sentence.text(pgettext_rpt))
    return {"CANCELLED"}
