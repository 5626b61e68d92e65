"""What the panel says before a bake about what will be seen of it, and the button that puts it right."""

import bpy
from bpy.app.translations import pgettext_iface

from ...baking.plan.completing import StoredChain
from ..operators.fk_switch import TWOBONE_OT_switch
from ..rows import draw_sentence
from .remembering import visible_limb


def draw_sight(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Nothing where the visible limb follows the chain and no mesh is left behind; else a warning, and the switch."""
    visible = visible_limb(chain.id_data.name, chain.upper, chain.lower, chain.tip, chain.tip_end)
    for modifier, mesh in visible.hidden:
        text = pgettext_iface('Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow')
        draw_sentence(layout, text.format(modifier=modifier, mesh=mesh), context, icon="ERROR")
    shown = visible.shown
    if shown is None or shown.follows:
        return
    column = layout.column(align=True)
    text = pgettext_iface("The visible limb ({bone}) does not follow {lower}").format(bone=shown.bone, lower=chain.lower)
    draw_sentence(column, text, context, icon="ERROR")
    draw_switch_to_fk(column, chain)


def draw_switch_to_fk(layout: bpy.types.UILayout, chain: StoredChain) -> None:
    """The button, for the range of the chain."""
    button = layout.operator(TWOBONE_OT_switch.bl_idname, icon="CON_KINEMATIC")
    button.armature, button.chain, button.to, button.motion = chain.id_data.name, chain.name, "FK", "KEEP"
