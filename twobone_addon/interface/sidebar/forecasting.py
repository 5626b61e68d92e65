"""The forecast of a bake in the panel: how many F-Curves it will write, and why more than one for a joint."""

from typing import TYPE_CHECKING

import bpy
from bpy.app.translations import pgettext_iface

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, stored_settings
from ...scene.lookup import find_armature
from ..rows import draw_sentence
from ..watching import Memory

if TYPE_CHECKING:
    from ...tasks.align import CurveForecast

forecasts: "Memory[CurveForecast]" = Memory()


def draw_forecast(layout: bpy.types.UILayout, chain: StoredChain, context: bpy.types.Context) -> None:
    """Draw the number of curves, the reasons for more than one per joint, and the button that removes them."""
    from ...tasks.align import curve_forecast

    try:
        settings = stored_settings(chain.id_data, chain, {})
        count, reasons = forecasts.recall(settings, lambda: curve_forecast(settings, find_armature(settings.armature, None)))
    except TwoBoneError as error:
        draw_sentence(layout, error.sentence, context)
        return
    column = layout.column(align=True)
    text = pgettext_iface("1 curve to bake") if count == 1 else pgettext_iface("{count} curves to bake").format(count=count)
    column.label(translate=False, text=text, icon="FCURVE")
    for reason in reasons:
        draw_sentence(column, reason, context)
    if reasons:
        column.operator("twobone.align_hinge")
