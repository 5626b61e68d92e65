"""The subpanels below the list: the settings of the active chain by group, its contacts, and its display."""

from typing import Any

import bpy

from ...pipeline.plan.stored import active_armature
from ...said import note
from ...settings import LIMITS
from ...settings.options import Group
from ..operators.results import TWOBONE_OT_contact_jump, TWOBONE_OT_contact_tick
from ..operators.switches import TWOBONE_OT_read_limits, is_on
from ..rows import draw_on_or_off, draw_options, draw_sentence, draw_span
from ..stored.option_properties import CONTEXT
from ..stored.where import chain_in
from .forecasting import draw_forecast
from .panels import MAIN, NOT_STORED, ChainPanel


class TWOBONE_PT_chain(ChainPanel, bpy.types.Panel):
    """Bones of the chain, and what the end does"""

    bl_label = "Bones"
    group = Group.CHAIN
    without = NOT_STORED | MAIN

    def draw_more(self, _context: bpy.types.Context, chain: Any) -> None:
        """Draw which limb of the character the chain is, as found by Find Limbs or corrected by the user."""
        column = self.layout.column(align=True)
        column.prop(chain, "limb", text_ctxt=CONTEXT)
        if chain.limb != "NONE":
            column.prop(chain, "side", text_ctxt=CONTEXT)
        if chain.limb == "LEG":
            column.prop_search(chain, "toe", chain.id_data.data, "bones")


class TWOBONE_PT_reach(ChainPanel, bpy.types.Panel):
    """What happens near the limits of the reach"""

    bl_label = "Reach"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choice at the limits of reach, then each bound with its switch."""
        chain, layout = chain_in(context), self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        whole = layout.row()
        whole.use_property_split = False
        whole.prop(chain, "reach", expand=True, text_ctxt=CONTEXT)
        column = layout.column()
        if chain.reach != "CLAMP":
            draw_on_or_off(column, chain, "softness", on=is_on(chain, "softness"))
            draw_on_or_off(column, chain, "softness_near", on=is_on(chain, "softness_near"))
        draw_options(
            layout, chain, Group.REACH, without={"reach", "softness", "softness_near", *DISTANCES, "use_limits", *LIMITS}
        )
        column = layout.column()
        for name in DISTANCES:
            draw_on_or_off(column, chain, name, on=is_on(chain, name))
        self._draw_limits(layout, chain)

    def _draw_limits(self, layout: bpy.types.UILayout, chain: Any) -> None:
        draw_on_or_off(layout.column(), chain, "use_limits", on=chain.use_limits)
        if not chain.use_limits:
            return
        draw_options(layout, chain, Group.REACH, only=set(LIMITS))
        layout.operator(TWOBONE_OT_read_limits.bl_idname)


DISTANCES = ("min_distance", "max_distance")
"""Settings that bound the target's distance from the root joint."""


class TWOBONE_PT_keys(ChainPanel, bpy.types.Panel):
    """Frames and keys"""

    bl_label = "Keys"
    group = Group.KEYS

    def draw_more(self, context: bpy.types.Context, chain: Any) -> None:
        """Draw the forecast of F-Curves."""
        draw_forecast(self.layout, chain, context)


MOST_CONTACTS = 12
"""Maximum number of contacts listed; those that planting moves farthest come first."""


class TWOBONE_PT_contacts(ChainPanel, bpy.types.Panel):
    """When the feet are on the ground"""

    bl_label = "Contacts"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the chain's contact at this frame, which can be keyed, and buttons to find contacts and step through them."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(chain_in(context), "contact", text_ctxt=CONTEXT)
        layout.operator("twobone.find_contacts", icon="VIEWZOOM")
        row = layout.row(align=True)
        row.operator("twobone.import_contacts", text="Import", icon="IMPORT")
        row.operator("twobone.export_contacts", text="Export", icon="EXPORT")
        row = layout.row(align=True)
        row.operator(TWOBONE_OT_contact_jump.bl_idname, text="Previous", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        row.operator(TWOBONE_OT_contact_jump.bl_idname, text="Next", icon="NEXT_KEYFRAME").direction = "NEXT"
        self._draw_found(context)

    def _draw_found(self, context: bpy.types.Context) -> None:
        """Draw the contacts as found, those that planting would move farthest first, each with a tick to leave it out."""
        from ...pipeline.report.units import units_of
        from ...tasks.find_contacts.task import found_stances

        armature, column = active_armature(context), self.layout.column(align=True)
        stances, units = found_stances(armature), units_of(context.scene)
        for stance in stances[:MOST_CONTACTS]:
            row = column.row(align=True)
            box = "CHECKBOX_HLT" if stance.stands else "CHECKBOX_DEHLT"
            tick = row.operator(TWOBONE_OT_contact_tick.bl_idname, text="", icon=box, emboss=False)
            tick.chain, tick.first, tick.last, tick.stands = stance.chain, stance.first, stance.last, not stance.stands
            draw_span(row, stance.chain, stance.first, stance.last)
            if stance.moved is None or stance.confidence is None or not stance.stands:
                continue
            chain = armature.twobone.chains[stance.chain]
            bones = [armature.data.bones.get(name) for name in (chain.upper, chain.lower)]
            leg = sum(bone.length for bone in bones if bone is not None) * armature.matrix_world.median_scale
            values = {name: units.said(getattr(stance, name), leg) for name in ("slide", "moved")}
            text = "slides {slide}; planting moves it {moved}; {percent} % sure"
            draw_sentence(column, note(text, percent=f"{100 * stance.confidence:.0f}", **values), context, icon="BLANK1")
        if len(stances) > MOST_CONTACTS:
            column.label(text=f"+ {len(stances) - MOST_CONTACTS}", translate=False)


class TWOBONE_PT_display(ChainPanel, bpy.types.Panel):
    """What the 3D viewport shows of the chain"""

    bl_label = "Display"

    def draw_header(self, context: bpy.types.Context) -> None:
        """Draw the switch for the whole overlay."""
        self.layout.prop(active_armature(context).twobone, "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """Draw a switch for each part of the overlay, and for the gizmos."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        options = active_armature(context).twobone
        column = layout.column(heading="Show")
        column.active = options.show_overlay
        for name in ("show_plane", "show_reach", "show_solutions", "show_path", "show_footprints", "show_in_front"):
            column.prop(options, name)
        layout.column().prop(options, "show_gizmos")


class TWOBONE_PT_advanced(ChainPanel, bpy.types.Panel):
    """What most chains leave as it is"""

    bl_label = "Advanced"
    bl_order = 1
    group = Group.ADVANCED


CLASSES = (TWOBONE_PT_chain, TWOBONE_PT_reach, TWOBONE_PT_keys, TWOBONE_PT_contacts, TWOBONE_PT_display, TWOBONE_PT_advanced)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
