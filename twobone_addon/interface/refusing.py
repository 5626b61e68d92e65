"""Operators whose work may be refused: the one sentence that says why is shown, and nothing has changed."""

import bpy

from ..errors import TwoBoneError
from ..scene.evaluated import bring_up_to_date, write_animated_values
from .sentences import in_language
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
            return refuse(self, str(error))
        write_animated_values()
        return result


def refuse(operator: bpy.types.Operator, sentence: str) -> set[str]:
    """End an operator with what is wrong."""
    operator.report({"ERROR"}, in_language(sentence))
    return {"CANCELLED"}
