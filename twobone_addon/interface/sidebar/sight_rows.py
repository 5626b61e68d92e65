"""Warnings in the panel if the visible mesh will not follow the chain, and the buttons that bake it nevertheless."""

import bpy
from bpy.app.translations import pgettext_iface

from ...pipeline.plan.stored import StoredChain
from ...said import note
from ..remembering import visible_limb
from ..rows import draw_sentence, draw_switch_all
from ..stored.selecting import meant_chains


def draw_sight(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Draw warnings if a mesh or the visible limb does not follow the chain, and the buttons that switch to FK or IK."""
    visible = visible_limb(chain)
    for modifier, mesh in visible.hidden:
        text = 'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow'
        draw_sentence(layout, note(text, modifier=modifier, mesh=mesh), context, icon="ERROR")
    shown = visible.shown
    column = layout.column(align=True)
    if visible.has_ik:
        _draw_switches_to_ik(column, context, chain)
    if shown is None or shown.follows or visible.is_on_ik:
        return
    first = next(hindrance for hindrance in shown.hindrances if hindrance.constraint)
    text = note('Constraint "{constraint}" poses {bone}', constraint=first.constraint, bone=first.bone)
    draw_sentence(column, text, context, icon="ERROR")


def draw_bakes(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Draw the buttons that bake the chain, and all of the list: limbs that are seen on IK are switched in the same step."""
    column = layout.column(align=True)
    column.scale_y = 1.2
    chains = meant_chains(context.view_layer, chain.id_data) or [chain]
    needs_switch = any(visible_limb(each).is_on_ik for each in chains)
    bake = column.operator("twobone.bake", text=SWITCH_AND_BAKE if needs_switch else "Bake", icon="ACTION")
    if needs_switch:
        bake.switch_first = True
    any_needs = any(visible_limb(each).is_on_ik for each in chain.id_data.twobone.chains if each.enabled)
    bake_all = column.operator("twobone.bake_all", text=SWITCH_ALL_AND_BAKE if any_needs else "Bake All")
    bake_all.scope = "ACTIVE"
    if any_needs:
        bake_all.switch_first = True


SWITCH_AND_BAKE, SWITCH_ALL_AND_BAKE = "Switch to FK and Bake", "Switch All Limbs and Bake"
"""Labels of the buttons that bake limbs that are seen on IK."""


def is_seen_elsewhere(chain: StoredChain) -> bool:
    """Whether the visible limb does not follow the chain at this frame."""
    shown = visible_limb(chain).shown
    return shown is not None and not shown.follows


def _draw_switches_to_ik(layout: bpy.types.UILayout, context: bpy.types.Context, chain: StoredChain) -> None:
    """Draw the buttons that switch to IK: the limb, or all selected ones; and all limbs of the armature."""
    armature = chain.id_data
    count = len(meant_chains(context.view_layer, armature))
    if count > 1:
        text = pgettext_iface("Switch {count} Limbs to IK").format(count=count)
        layout.operator("twobone.switch", text=text, translate=False, icon="CON_KINEMATIC").to = "IK"
    else:
        draw_switch(layout, chain, "IK")
    if len(armature.twobone.chains) > 1:
        draw_switch_all(layout, "IK")


def draw_switch(layout: bpy.types.UILayout, chain: StoredChain, to: str) -> None:
    """Draw the button that switches the visible limb to FK or IK, over the range of the chain."""
    text = "Switch to FK" if to == "FK" else "Switch to IK"
    button = layout.operator("twobone.switch", text=text, icon="CON_KINEMATIC")
    button.armature, button.chain, button.to = chain.id_data.name, chain.name, to
