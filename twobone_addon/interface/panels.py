"""The sidebar tab: the list of chains, Bake, and the settings of the active chain."""

from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ..options import Group
from .convert_operators import TWOBONE_OT_bake_target, TWOBONE_OT_convert_ik
from .drag import TWOBONE_OT_drag
from .forecasting import draw_forecast
from .guide_operators import TWOBONE_OT_add_pole, TWOBONE_OT_add_target
from .key_operators import TWOBONE_OT_align_hinge, TWOBONE_OT_clear_baked
from .limit_operators import TWOBONE_OT_read_limits
from .list_operators import (
    TWOBONE_OT_chain_add,
    TWOBONE_OT_chain_duplicate,
    TWOBONE_OT_chain_mirror,
    TWOBONE_OT_chain_move,
    TWOBONE_OT_chain_remove,
)
from .live import is_live, reasons
from .live_operator import TWOBONE_OT_live
from .operators import TWOBONE_OT_bake, TWOBONE_OT_bake_all
from .option_properties import CONTEXT
from .presets import TWOBONE_PT_presets
from .rows import draw_options, draw_sentence
from .storing import chain_of_bones, other_limb
from .where import MODES, active_armature, chain_in

LIST_ROWS = 5
"""As many as the buttons beside the list need."""

NOT_STORED = {"armature"}
"""Settings that a stored chain does not have: it is kept on its armature."""


class Sidebar:
    """What all panels of the tab share."""

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
        """One row: name, what is missing, and whether Bake All bakes it."""
        layout.prop(item, "name", text="", emboss=False, icon="CON_KINEMATIC")
        if item.target is None:
            layout.label(text="", icon="ERROR")
        layout.prop(item, "enabled", text="")


class TWOBONE_MT_chains(bpy.types.Menu):
    """More that can be done with the chains of the list"""

    bl_label = "Chain Specials"

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.operator(TWOBONE_OT_chain_duplicate.bl_idname, icon="DUPLICATE")
        layout.operator(TWOBONE_OT_chain_mirror.bl_idname, icon="MOD_MIRROR")
        layout.operator(TWOBONE_OT_convert_ik.bl_idname)


class TWOBONE_PT_chains(Sidebar, bpy.types.Panel):
    """Chains of the active armature, and Bake"""

    bl_label = "Two-Bone IK"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Presets of the active chain's settings."""
        if chain_in(context) is not None:
            TWOBONE_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the list, the target and Bake."""
        layout = self.layout
        armature = active_armature(context)
        if context.mode not in MODES:
            layout.label(text="Use Object or Pose Mode", icon="INFO")
            return
        if armature is None or armature.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            return
        self._draw_list(armature)
        chain = chain_in(context)
        if chain is None:
            layout.label(text="Select a limb's bone", icon="INFO")
            layout.operator(TWOBONE_OT_add_target.bl_idname, icon="EMPTY_AXIS")
            return
        _draw_target(layout, chain)
        self._draw_other_limb(context, armature)
        column = layout.column(align=True)
        column.scale_y = 1.2
        column.operator(TWOBONE_OT_bake.bl_idname, text="Bake", icon="ACTION")
        if len(armature.twobone.chains) > 1:
            column.operator(TWOBONE_OT_bake_all.bl_idname, text="Bake All").scope = "ACTIVE"
        layout.operator(TWOBONE_OT_clear_baked.bl_idname)
        row = layout.row(align=True)
        row.operator(TWOBONE_OT_live.bl_idname, icon="PLAY", depress=is_live(chain))
        row.operator(TWOBONE_OT_drag.bl_idname, text="Drag", icon="VIEW_PAN")
        reason = reasons.get((armature.name, chain.name))
        if reason:
            draw_sentence(layout, reason, context)

    def _draw_other_limb(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        """The first of two clicks for the selected limb, if it is not in the list."""
        other = other_limb(context, armature)
        if other and chain_of_bones(armature, other["upper"], other["lower"]) is None:
            text = pgettext_iface("Add Target for {bone}").format(bone=other["lower"])
            self.layout.operator(TWOBONE_OT_add_target.bl_idname, text=text, translate=False, icon="EMPTY_AXIS")

    def _draw_list(self, armature: bpy.types.Object) -> None:
        row = self.layout.row()
        row.template_list("TWOBONE_UL_chains", "", armature.twobone, "chains", armature.twobone, "active_index", rows=LIST_ROWS)
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
    """What the sub-panels share: they show the active chain."""

    bl_parent_id = "TWOBONE_PT_chains"
    bl_options = {"DEFAULT_CLOSED"}
    group: Group

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only where there is a chain to show."""
        return context.mode in MODES and chain_in(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the settings of the panel's group."""
        self.layout.use_property_split = True
        chain = chain_in(context)
        draw_options(self.layout, chain, self.group, without=NOT_STORED)
        self.draw_more(context, chain)

    def draw_more(self, context: bpy.types.Context, chain: Any) -> None:
        """Draw what stands below the settings."""


class TWOBONE_PT_chain(ChainPanel, bpy.types.Panel):
    """Bones, target and end"""

    bl_label = "Chain"
    group = Group.CHAIN

    def draw_more(self, _context: bpy.types.Context, _chain: Any) -> None:
        """Draw what changes the rig itself."""
        self.layout.operator(TWOBONE_OT_align_hinge.bl_idname)


class TWOBONE_PT_plane(ChainPanel, bpy.types.Panel):
    """Plane and side of the bend"""

    bl_label = "Plane"
    group = Group.PLANE

    def draw_more(self, _context: bpy.types.Context, chain: Any) -> None:
        """Draw what makes a pole."""
        if chain.pole is None:
            self.layout.operator(TWOBONE_OT_add_pole.bl_idname, icon="EMPTY_AXIS").stored = chain.name


class TWOBONE_PT_reach(ChainPanel, bpy.types.Panel):
    """What happens near the limits of the reach"""

    bl_label = "Reach"
    group = Group.REACH

    def draw_more(self, _context: bpy.types.Context, chain: Any) -> None:
        """Draw what takes limits from the rig."""
        if chain.use_limits:
            self.layout.operator(TWOBONE_OT_read_limits.bl_idname)


class TWOBONE_PT_keys(ChainPanel, bpy.types.Panel):
    """Frames and keys"""

    bl_label = "Keys"
    group = Group.KEYS

    def draw_more(self, context: bpy.types.Context, chain: Any) -> None:
        """Draw how many curves a bake will write, and the way back, from keys to the target."""
        draw_forecast(self.layout, chain, context)
        self.layout.operator(TWOBONE_OT_bake_target.bl_idname)


class TWOBONE_PT_display(ChainPanel, bpy.types.Panel):
    """What the 3D viewport shows of the chain"""

    bl_label = "Display"

    def draw_header(self, context: bpy.types.Context) -> None:
        """The switch for all of it."""
        self.layout.prop(active_armature(context).twobone, "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """Draw a switch for each part."""
        layout = self.layout
        layout.use_property_split = True
        options = active_armature(context).twobone
        layout.active = options.show_overlay
        column = layout.column(heading="Show")
        for name in ("show_plane", "show_reach", "show_solutions", "show_path", "show_in_front"):
            column.prop(options, name)


def _draw_target(layout: bpy.types.UILayout, chain: Any) -> None:
    row = layout.row(align=True)
    row.prop(chain, "target", text="")
    if chain.target is None:
        row.operator(TWOBONE_OT_add_target.bl_idname, text="", icon="ADD").stored = chain.name


CLASSES = (
    TWOBONE_UL_chains,
    TWOBONE_MT_chains,
    TWOBONE_PT_chains,
    TWOBONE_PT_chain,
    TWOBONE_PT_plane,
    TWOBONE_PT_reach,
    TWOBONE_PT_keys,
    TWOBONE_PT_display,
)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
