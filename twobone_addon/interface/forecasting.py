"""What the panel says about a bake beforehand: how many curves it will write, and why more than one for a joint."""

import bpy
from bpy.app.translations import pgettext_iface

from ..baking.completing import StoredChain, stored_settings
from ..baking.hinges import curve_forecast
from ..errors import TwoBoneError
from .rows import draw_sentence


def draw_forecast(layout: bpy.types.UILayout, chain: StoredChain, context: bpy.types.Context) -> None:
    """The number of curves, the reasons, and the button that does something about them."""
    try:
        settings = stored_settings(chain.id_data, chain, {})
        count, reasons = curve_forecast(settings, chain.id_data)
    except TwoBoneError as error:
        draw_sentence(layout, str(error), context)
        return
    column = layout.column(align=True)
    text = pgettext_iface("1 curve to bake") if count == 1 else pgettext_iface("{count} curves to bake").format(count=count)
    column.label(translate=False, text=text, icon="FCURVE")
    for reason in reasons:
        draw_sentence(column, reason, context)
    if reasons:
        column.operator("twobone.align_hinge")
