"""What the panel says before a bake about what will be seen of it, and the button that puts it right."""

import bpy
from bpy.app.translations import pgettext_iface

from ...baking.plan.completing import StoredChain
from ..operators.fk_switch import TWOBONE_OT_switch
from ..rows import draw_sentence
from .remembering import Visible, visible_limb


def draw_sight(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """A warning where a mesh is left behind or the visible limb does not follow the chain, and the switch to FK or back to IK."""
    visible = _visible(chain)
    for modifier, mesh in visible.hidden:
        text = pgettext_iface('Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow')
        draw_sentence(layout, text.format(modifier=modifier, mesh=mesh), context, icon="ERROR")
    shown = visible.shown
    if shown is None or shown.follows:
        if visible.has_ik:
            draw_switch(layout, chain, "IK", "AUTO")
        return
    column = layout.column(align=True)
    text = pgettext_iface("The visible limb ({bone}) does not follow {lower}").format(bone=shown.bone, lower=chain.lower)
    draw_sentence(column, text, context, icon="ERROR")
    draw_switch_to_fk(column, chain)


def is_seen_elsewhere(chain: StoredChain) -> bool:
    """Whether the visible limb follows something else than the chain at this frame, of which `draw_sight` warns."""
    shown = _visible(chain).shown
    return shown is not None and not shown.follows


def _visible(chain: StoredChain) -> Visible:
    return visible_limb(chain.id_data.name, chain.upper, chain.lower, chain.tip, chain.tip_end)


def draw_switch_to_fk(layout: bpy.types.UILayout, chain: StoredChain) -> None:
    """The button, for the range of the chain: what is seen is kept before the first bake, and what was baked after it."""
    motion = "KEEP" if chain.report else "AUTO"
    draw_switch(layout, chain, "FK", motion)


def draw_switch(layout: bpy.types.UILayout, chain: StoredChain, to: str, motion: str) -> None:
    """The button that lets the visible limb follow FK or IK, over the range of the chain."""
    text = "Switch to FK" if to == "FK" else "Switch to IK"
    button = layout.operator(TWOBONE_OT_switch.bl_idname, text=text, icon="CON_KINEMATIC")
    button.armature, button.chain, button.to, button.motion = chain.id_data.name, chain.name, to, motion
