"""Warnings in the panel if the visible mesh will not follow the chain, and buttons that correct it."""

import bpy
from bpy.app.translations import pgettext_iface

from ...pipeline.plan.stored import StoredChain
from ...said import Sentence, note
from ..rows import draw_sentence, draw_switch_all
from ..stored.selecting import meant_chains
from .remembering import visible_limb


def draw_sight(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Draw warnings if a mesh or the visible limb does not follow the chain, and the buttons that switch to FK or IK."""
    visible = visible_limb(chain)
    for modifier, mesh in visible.hidden:
        text = 'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow'
        draw_sentence(layout, note(text, modifier=modifier, mesh=mesh), context, icon="ERROR")
    shown = visible.shown
    column = layout.column(align=True)
    if shown is None or shown.follows:
        if visible.has_ik:
            draw_switches(column, context, chain, "IK")
        return
    if shown.bone in {chain.upper, chain.lower} and shown.armature == chain.id_data.name:
        constrained = next((hindrance.bone for hindrance in shown.hindrances if hindrance.constraint), shown.bone)
        text = note("{bone} has an IK constraint, which poses the limb", bone=constrained)
    else:
        text = note("The visible limb ({bone}) does not follow {lower}", bone=shown.bone, lower=chain.lower)
    draw_sentence(column, text, context, icon="ERROR")
    draw_switches(column, context, chain, "FK")
    draw_sentence(column, Sentence(WHICH), context, icon="BLANK1")


WHICH = "Switch can go back to IK; Convert, below, mutes the IK constraints"


def is_seen_elsewhere(chain: StoredChain) -> bool:
    """Whether the visible limb does not follow the chain at this frame, so that `draw_sight` warns."""
    shown = visible_limb(chain).shown
    return shown is not None and not shown.follows


def draw_switches(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain, to: str) -> None:
    """Draw the buttons that switch to FK or IK: the limb, or all selected ones; and all limbs of the armature."""
    armature = chain.id_data
    count = len(meant_chains(context.view_layer, armature))
    if count > 1:
        text = "Switch {count} Limbs to FK" if to == "FK" else "Switch {count} Limbs to IK"
        text = pgettext_iface(text).format(count=count)
        layout.operator("twobone.switch", text=text, translate=False, icon="CON_KINEMATIC").to = to
    else:
        draw_switch(layout, chain, to)
    if len(armature.twobone.chains) > 1:
        draw_switch_all(layout, to)


def draw_switch(layout: bpy.types.UILayout, chain: StoredChain, to: str) -> None:
    """Draw the button that switches the visible limb to FK or IK, over the range of the chain."""
    text = "Switch to FK" if to == "FK" else "Switch to IK"
    button = layout.operator("twobone.switch", text=text, icon="CON_KINEMATIC")
    button.armature, button.chain, button.to = chain.id_data.name, chain.name, to
