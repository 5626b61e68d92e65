"""The main panel of the sidebar: the list of chains, target, plane and bend of the active one, and Bake."""

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.translations import pgettext_iface

from ...errors import ChainError
from ...pipeline.plan.stored import StoredChain, active_armature
from ...said import Sentence, note
from ...settings import LETTERS
from ...settings.options import Group
from ..live.drag import TWOBONE_OT_drag
from ..operators.chain_list import (
    TWOBONE_OT_chain_add,
    TWOBONE_OT_chain_duplicate,
    TWOBONE_OT_chain_mirror,
    TWOBONE_OT_chain_move,
    TWOBONE_OT_chain_remove,
)
from ..operators.guides import TWOBONE_OT_add_pole, TWOBONE_OT_add_target
from ..operators.of_tasks import OPERATORS
from ..operators.results import TWOBONE_OT_select_limb, parsed_report
from ..operators.switches import TWOBONE_OT_fit_plane, TWOBONE_OT_flip, TWOBONE_OT_live
from ..rows import draw_options, draw_remedy, draw_sentence, draw_set_up
from ..stored.live_limbs import live_limb_of, state_of
from ..stored.option_properties import CONTEXT
from ..stored.selecting import offered_limb
from ..stored.where import MODES, chain_in
from ..watching import Memory
from .presets import TWOBONE_PT_presets
from .sight_rows import draw_bakes, draw_sight

if TYPE_CHECKING:
    from ...core.array_types import Array

CLEAR = 0.7
"""Cosine of the largest angle to a named direction; about 45 degrees, so that a side has hardly more than one name."""

STRAIGHT = 1e-3
"""Distance of the middle joint from the line between root and tip, relative to its length, below which there is no side."""

OPPOSITE = {
    "Forward": "Backward", "Backward": "Forward", "Up": "Down", "Down": "Up", "Positive": "Negative", "Negative": "Positive",
}  # fmt: skip


feet: Memory[list[tuple[str, str]]] = Memory()
"""Cache of the foot and toe bones of an armature, by its name and the rest positions of its bones."""


def flipped_side(context: bpy.types.Context, chain: StoredChain) -> str:
    """Return the side to which Flip would bend the chain, as shown by the overlay; else the opposite sign of the bend."""
    from ..overlay import data as overlay_data

    armature, sign = chain.id_data, "Negative" if chain.bend == "NEGATIVE" else "Positive"
    if not armature.twobone.show_overlay:
        return OPPOSITE[sign]
    picture = overlay_data.update(context, armature).picture
    seen = seen_side(picture.joints, forward_of(chain)) if picture is not None else ""
    return OPPOSITE[seen or sign]


def forward_of(chain: StoredChain) -> "Array":
    """Return the horizontal direction `(3,)` in which the chain's character faces, see `ahead`; zeros if unknown."""
    import numpy as np

    from ...tasks.find_limbs import ahead, feet_of, foot_of_chain

    armature = chain.id_data
    heads = np.empty(3 * len(armature.data.bones), dtype=np.float32)
    armature.data.bones.foreach_get("head_local", heads)
    name = armature.name
    foot_bones = feet.recall((name, heads.tobytes()), lambda: feet_of(bpy.data.objects[name]) if name in bpy.data.objects else [])
    try:
        foot_bones = foot_bones or foot_of_chain(armature, chain.upper, chain.lower, chain.tip, chain.tip_end)
        return ahead(armature, foot_bones)
    except (ChainError, KeyError):  # A bone was renamed, and the overlay has not noticed it yet.
        return np.zeros(3)


def seen_side(joints: "Array", forward: "Array") -> str:
    """Return the side to which joints `(n + 1, 3)`, world space, bend: `Forward`, `Backward`, `Up`, `Down`; empty if unclear.

    forward : (3,) direction in which the character faces, or zeros
    """
    import numpy as np

    along, out = joints[-1] - joints[0], joints[1] - joints[0]
    out = out - along * (out @ along / max(along @ along, np.finfo(float).tiny))
    length = np.sqrt(out @ out)
    if length <= STRAIGHT * np.sqrt(along @ along) or length == 0.0:
        return ""
    up = np.array([0.0, 0.0, 1.0])
    named = {"Forward": forward, "Backward": -forward, "Up": up, "Down": -up}
    return next((name for name, direction in named.items() if out @ direction > CLEAR * length), "")


LIST_ROWS = (3, 5)
"""Number of list rows that match the buttons beside the list: for at most one chain, and for several, which can be moved."""

NOT_STORED = {"armature"}
"""Settings that a stored chain does not have, since it is stored on its armature."""

MAIN = {"target", "target_bone", "influence"}
"""Settings of the chain group that the main panel shows below the list."""


DOUBTFUL = {"DISAGREE", "SELDOM", "LINKS"}
"""Reasons for which Find Limbs leaves out what may be a limb that somebody wants to store by hand."""

MOST_OFFERED = 4
"""Largest number of bones of such limbs that the panel offers to select."""


def _draw_not_listed(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw a button for each limb that Find Limbs has just left out as doubtful: it selects the bone for Add Target."""
    report = parsed_report(context.window_manager.twobone_report)
    if report.get("kind") != "find_limbs" or report.get("armature") != armature.name:
        return
    left_out = [bone for limb in report["left_out"] if limb["reason"] in DOUBTFUL for bone in limb["bones"]]
    stored = {chain.upper for chain in armature.twobone.chains}
    offered = [bone for bone in left_out if bone in armature.data.bones and bone not in stored][:MOST_OFFERED]
    if not offered:
        return
    column = layout.column(align=True)
    column.label(text="Not listed: store by hand", icon="INFO")
    for bone in offered:
        button = column.operator(TWOBONE_OT_select_limb.bl_idname, text=bone, translate=False, icon="RESTRICT_SELECT_OFF")
        button.bone = bone


class Sidebar:
    """Mixin for all panels of the sidebar tab."""

    bl_category = "Two-Bone IK"
    bl_translation_context = CONTEXT
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"


class TWOBONE_UL_chains(bpy.types.UIList):
    """The chains of one armature"""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: Any,
        item: Any,
        _icon: int,
        _active_data: Any,
        _active_property: str,
        _index: int,
    ) -> None:
        """Draw one row: the name, with an icon where there is no target, and whether Bake All includes the chain.

        A missing target is no error: Plant Feet and Bake Target from Chain do not need one.
        """
        # Without an icon the names of limbs fit a sidebar as narrow as Blender makes it.
        layout.prop(item, "name", text="", emboss=False, icon="BONE_DATA" if item.target is None else "NONE")
        layout.prop(item, "enabled", text="")


class TWOBONE_MT_chains(bpy.types.Menu):
    """More that can be done with the chains of the list"""

    bl_label = "Chain Specials"

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.operator(TWOBONE_OT_chain_duplicate.bl_idname, icon="DUPLICATE")
        layout.operator(TWOBONE_OT_chain_mirror.bl_idname, icon="MOD_MIRROR")
        draw_set_up(layout)
        layout.operator(OPERATORS["find_limbs"].bl_idname, icon="VIEWZOOM")
        layout.operator(
            OPERATORS["bake_target"].bl_idname, text="Bake All Targets from Chains", icon="EMPTY_AXIS"
        ).scope = "ACTIVE"


class TWOBONE_PT_chains(Sidebar, bpy.types.Panel):
    """Chains of the active armature, and Bake"""

    bl_label = "Two-Bone IK"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Draw the presets for the active chain's settings."""
        if chain_in(context) is not None:
            TWOBONE_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the list, the main settings of the active chain, and the buttons."""
        from ...scene.rig.chain_finding import selected_bones

        layout = self.layout
        armature = active_armature(context)
        if context.mode not in MODES:
            layout.label(text="Use Object or Pose Mode", icon="INFO")
            return
        if armature is None or armature.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            return
        self._draw_list(armature)
        _draw_not_listed(layout, context, armature)
        chain = chain_in(context)
        if chain is None:
            column = layout.column(align=True)
            draw_set_up(column)
            column.operator(OPERATORS["find_limbs"].bl_idname, icon="VIEWZOOM")
            if armature.mode != "POSE" or not selected_bones(armature):
                layout.label(text="Select a bone of the limb", icon="INFO")
            layout.operator(TWOBONE_OT_add_target.bl_idname, icon="EMPTY_AXIS")
            _draw_scoped(layout, armature.name, OF_CHARACTER, "ARMATURE_DATA")
            return
        _draw_choices(layout, context, chain)
        # A selected limb that is not in the list needs two clicks: this one, then Bake.
        if lower := offered_limb(context):
            text = pgettext_iface("Add Target for {bone}").format(bone=lower)
            layout.operator(TWOBONE_OT_add_target.bl_idname, text=text, translate=False, icon="EMPTY_AXIS")
        draw_sight(layout, context, chain)
        _draw_next_step(layout, context, armature)
        draw_bakes(layout, context, chain)
        row = layout.row(align=True)
        limb = live_limb_of(chain)
        is_copy = limb is not None and limb.mimics
        row.operator(TWOBONE_OT_live.bl_idname, text="Make Its Own" if is_copy else "Live", icon="PLAY", depress=limb is not None)
        row.operator(TWOBONE_OT_drag.bl_idname, text="Drag", icon="VIEW_PAN")
        layout.operator(OPERATORS["nudge"].bl_idname, icon="CON_LOCLIKE")
        _draw_scoped(layout, chain.name, (OPERATORS["clear_baked"], OPERATORS["bake_target"]), "CON_KINEMATIC")
        of_character = _draw_scoped(layout, armature.name, OF_CHARACTER, "ARMATURE_DATA")
        if len(armature.twobone.chains) > 1:
            of_character.operator(OPERATORS["clear_baked"].bl_idname, text="Clear All Limbs").scope = "ACTIVE"
        layout.operator(TWOBONE_OT_live.bl_idname, text="Live on All Limbs", icon="PLAY").scope = "ARMATURE"
        reason = state_of(chain)
        if reason is not None:
            draw_sentence(layout, reason, context)
            draw_remedy(layout, reason, chain.name)

    def _draw_list(self, armature: bpy.types.Object) -> None:
        row = self.layout.row()
        row.template_list(
            "TWOBONE_UL_chains",
            "",
            armature.twobone,
            "chains",
            armature.twobone,
            "active_index",
            rows=LIST_ROWS[len(armature.twobone.chains) > 1],
        )
        column = row.column(align=True)
        column.operator(TWOBONE_OT_chain_add.bl_idname, text="", icon="ADD")
        column.operator(TWOBONE_OT_chain_remove.bl_idname, text="", icon="REMOVE")
        column.separator()
        column.menu("TWOBONE_MT_chains", text="", icon="DOWNARROW_HLT")
        if len(armature.twobone.chains) > 1:
            column.separator()
            column.operator(TWOBONE_OT_chain_move.bl_idname, text="", icon="TRIA_UP").direction = "UP"
            column.operator(TWOBONE_OT_chain_move.bl_idname, text="", icon="TRIA_DOWN").direction = "DOWN"


class ChainPanel(Sidebar):
    """Mixin for the subpanels, which show the active chain."""

    bl_parent_id = "TWOBONE_PT_chains"
    bl_options = {"DEFAULT_CLOSED"}
    group: Group
    without: AbstractSet[str] = NOT_STORED

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active chain to show."""
        return context.mode in MODES and chain_in(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the settings of the panel's group, none of which can be keyed."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        chain = chain_in(context)
        draw_options(self.layout, chain, self.group, without=self.without)
        self.draw_more(context, chain)

    def draw_more(self, context: bpy.types.Context, chain: Any) -> None:
        """Draw further rows below the settings; none by default."""


OF_CHARACTER = (OPERATORS["convert_ik"], OPERATORS["plant"], OPERATORS["finish_retarget"])
"""Operators on the whole character, whichever chain is active."""


def _draw_next_step(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Draw one line on what to do next, until a panel shows a result; on a linked character nothing can be."""
    stored = armature.twobone
    is_done = stored.planted or stored.said or any(chain.report or chain.lost_target for chain in stored.chains)
    if not armature.is_editable or is_done:
        return
    if any(chain.target is not None for chain in stored.chains):
        draw_sentence(layout, Sentence("Next: move the targets if you want to, then bake them"), context)
    else:
        draw_sentence(layout, Sentence("Next: Set Up Limbs adds targets to bake; Plant Feet needs none"), context)
        draw_set_up(layout)


def _draw_scoped(layout: bpy.types.UILayout, name: str, operators: tuple[type, ...], icon: str) -> bpy.types.UILayout:
    """Draw operators below the name of the chain or the character that they work on; return their column."""
    column = layout.column(align=True)
    column.label(text=name, translate=False, icon=icon)
    for operator in operators:
        column.operator(operator.bl_idname)
    return column


def _draw_choices(layout: bpy.types.UILayout, context: bpy.types.Context, chain: Any) -> None:
    """Draw the main settings: target, plane, bend and influence."""
    column = layout.column()
    column.use_property_split = True
    row = column.row(align=True)
    row.prop(chain, "target", text_ctxt=CONTEXT)
    if chain.target is None:
        row.operator(TWOBONE_OT_add_target.bl_idname, text="", icon="ADD").stored = chain.name
    if chain.target is None and chain.lost_target:
        lost = layout.column(align=True)
        lost.alert = True
        draw_sentence(lost, note('Target "{target}" was deleted', target=chain.lost_target), context, icon="ERROR")
        lost.operator(TWOBONE_OT_add_target.bl_idname, icon="EMPTY_AXIS").stored = chain.name
    column = layout.column()
    column.use_property_split = True
    draw_options(column, chain, Group.CHAIN, only={"target_bone"})
    row = column.row(align=True)
    row.prop(chain, "plane", text_ctxt=CONTEXT)
    if chain.plane not in LETTERS:
        row.operator(TWOBONE_OT_fit_plane.bl_idname, text="", icon="ORIENTATION_LOCAL")
    draw_options(column, chain, Group.PLANE, without={"plane", "bend"})
    column.prop(chain, "bend", text_ctxt=CONTEXT)
    buttons = column.column(align=True)  # Side by side, they would be too narrow for most languages.
    text = pgettext_iface("Flip Bend")
    if chain.bend != "KEEP":
        text = pgettext_iface("Bend {side} Instead").format(side=pgettext_iface(flipped_side(context, chain)))
    buttons.operator(TWOBONE_OT_flip.bl_idname, text=text, translate=False, icon="ARROW_LEFTRIGHT")
    if chain.plane != "POLE" or chain.pole is None:
        buttons.operator(TWOBONE_OT_add_pole.bl_idname, icon="EMPTY_AXIS").stored = chain.name
    column.prop(chain, "influence", text_ctxt=CONTEXT)


CLASSES = (TWOBONE_UL_chains, TWOBONE_MT_chains, TWOBONE_PT_chains)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
