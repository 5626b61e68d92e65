"""Warnings in the panel if the visible mesh will not follow the chain, and buttons that correct it."""

import bpy

from ...pipeline.plan.completing import StoredChain
from ...said import note
from ..rows import draw_sentence
from .remembering import Visible, visible_limb


def draw_sight(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Draw warnings if a mesh or the visible limb does not follow the chain, and Switch to FK, or Switch to IK if it does."""
    visible = _visible(chain)
    for modifier, mesh in visible.hidden:
        text = 'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow'
        draw_sentence(layout, note(text, modifier=modifier, mesh=mesh), context, icon="ERROR")
    shown = visible.shown
    if shown is None or shown.follows:
        if visible.has_ik:
            draw_switch(layout, chain, "IK", "AUTO")
        return
    column = layout.column(align=True)
    if shown.bone in {chain.upper, chain.lower} and shown.armature == chain.id_data.name:
        constrained = next((each.bone for each in shown.hindrances if each.constraint), shown.bone)
        draw_sentence(column, note("{bone} has an IK constraint, which poses the limb", bone=constrained), context, icon="ERROR")
        button = column.operator("twobone.convert_ik", icon="ACTION")
        button.armature, button.bone = chain.id_data.name, constrained
    else:
        text = note("The visible limb ({bone}) does not follow {lower}", bone=shown.bone, lower=chain.lower)
        draw_sentence(column, text, context, icon="ERROR")
    draw_switch_to_fk(column, chain)


def is_seen_elsewhere(chain: StoredChain) -> bool:
    """Whether the visible limb does not follow the chain at this frame, so that `draw_sight` warns."""
    shown = _visible(chain).shown
    return shown is not None and not shown.follows


def _visible(chain: StoredChain) -> Visible:
    return visible_limb(chain.id_data.name, chain.upper, chain.lower, chain.tip, chain.tip_end)


def draw_switch_to_fk(layout: bpy.types.UILayout, chain: StoredChain) -> None:
    """Draw Switch to FK: before the first bake it keeps the visible motion, afterwards the baked keys."""
    draw_switch(layout, chain, "FK", "KEEP" if chain.report else "AUTO")


def draw_switch(layout: bpy.types.UILayout, chain: StoredChain, to: str, motion: str) -> None:
    """Draw the button that switches the visible limb to FK or IK, over the range of the chain."""
    text = "Switch to FK" if to == "FK" else "Switch to IK"
    button = layout.operator("twobone.switch", text=text, icon="CON_KINEMATIC")
    button.armature, button.chain, button.to, button.motion = chain.id_data.name, chain.name, to, motion
