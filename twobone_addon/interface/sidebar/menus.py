"""Entries in Blender's Object and Pose menus, which Menu Search covers, and links from operators to the documentation."""

from pathlib import Path

import bpy

from ...settings import OPTIONS
from ...settings.options import Group
from ..live.drag import TWOBONE_OT_drag
from ..operators.bake import TWOBONE_OT_bake, TWOBONE_OT_bake_all
from ..operators.chain_list import (
    TWOBONE_OT_chain_add,
    TWOBONE_OT_chain_duplicate,
    TWOBONE_OT_chain_mirror,
    TWOBONE_OT_chain_move,
    TWOBONE_OT_chain_remove,
)
from ..operators.guides import TWOBONE_OT_add_pole, TWOBONE_OT_add_target
from ..operators.of_tasks import OPERATORS
from ..operators.results import TWOBONE_OT_make_markers
from ..operators.switches import TWOBONE_OT_fit_plane, TWOBONE_OT_flip, TWOBONE_OT_live, TWOBONE_OT_read_limits
from ..rows import draw_set_up, draw_switch_all

DOCUMENTATION = Path(__file__).parents[1].joinpath("help.html").as_uri()
"""Address of the pages that are installed with the extension, made by `tools/make_help.py`."""

SECTIONS = (
    ("bpy.ops.twobone.chain_*", "panel"),
    ("bpy.ops.twobone.preset_add*", "panel"),
    ("bpy.ops.twobone.edit_quietly*", "panel"),
    ("bpy.ops.twobone.live*", "first_bake--3-animate-the-target"),
    ("bpy.ops.twobone.drag*", "first_bake--3-animate-the-target"),
    ("bpy.ops.twobone.jump_to_frame*", "first_bake--where-it-did-not-reach"),
    ("bpy.ops.twobone.make_markers*", "first_bake--where-it-did-not-reach"),
    ("bpy.ops.twobone.contact_*", "contacts--edit-them"),
    ("bpy.ops.twobone.align_hinge*", "keys--what-is-written"),
    ("bpy.ops.twobone.add_target*", "first_bake--2-add-target"),
    ("bpy.ops.twobone.add_pole*", "planes_and_signs"),
    ("bpy.ops.twobone.bake_target*", "converting--bake-target-from-chain"),
    ("bpy.ops.twobone.bake*", "first_bake--4-bake"),
    ("bpy.ops.twobone.convert_ik*", "converting--convert-ik-to-fk-keys"),
    ("bpy.ops.twobone.switch_setting*", "reach"),
    ("bpy.ops.twobone.switch*", "converting--switch-between-fk-and-ik"),
    ("bpy.ops.twobone.clear_baked*", "keys--what-is-written"),
    ("bpy.ops.twobone.find_limbs*", "limbs"),
    ("bpy.ops.twobone.set_up_limbs*", "limbs"),
    ("bpy.ops.twobone.select_limb*", "limbs--what-is-left-out"),
    ("bpy.ops.twobone.*contacts*", "contacts"),
    ("bpy.ops.twobone.plant*", "plant_the_feet"),
    ("bpy.ops.twobone.finish_retarget*", "retarget"),
    ("bpy.ops.twobone.fit_root*", "plant_the_feet--fit-root-alone"),
    ("bpy.ops.twobone.*nudge*", "nudge"),
    ("bpy.ops.twobone.*audit*", "audit"),
    ("bpy.ops.twobone.read_limits*", "reach--joint-limits"),
    ("bpy.ops.twobone.fl*", "planes_and_signs--sides"),
    ("bpy.ops.twobone.fit_plane*", "planes_and_signs--planes"),
    ("bpy.types.twobonechain.bend*", "planes_and_signs--sides"),
    ("bpy.types.twobonechain.plane*", "planes_and_signs--planes"),
    ("bpy.types.twobonechain.depth*", "planes_and_signs--depth"),
    ("bpy.types.twobonechain.keys*", "keys--which-frames"),
    ("bpy.types.twobonechain.frame*", "keys--which-frames"),
    ("bpy.types.twobonechain.destination*", "keys--where-to"),
    ("bpy.types.twobonechain.influence*", "reach--influence"),
    ("bpy.types.twobonechain.*limit*", "reach--joint-limits"),
    ("bpy.types.twobonechain.*reach*", "reach"),
    ("bpy.types.twobonechain.contact*", "contacts--edit-them"),
    ("bpy.types.twobonechain.target*", "first_bake--2-add-target"),
    ("bpy.types.twobonechain.pole*", "planes_and_signs--planes"),
    ("bpy.types.twobonechain.limb*", "limbs"),
    ("bpy.types.twobonechain.side*", "limbs"),
    ("bpy.types.twobonechain.toe*", "limbs"),
    ("bpy.types.twobonechain.loop*", "keys--which-frames"),
    ("bpy.types.twobonechain.verify*", "keys--the-proof"),
    ("bpy.types.twobonechain.joints*", "reach--more-than-two-bones"),
    ("bpy.types.twobone*", "panel"),
)
"""Section of each operator and property, found by the first pattern that fits."""

OF_GROUP = {Group.PLANE: "planes_and_signs", Group.REACH: "reach", Group.KEYS: "keys--what-is-written"}
"""Section of the other settings of a chain, by their group in the panel."""


class TWOBONE_MT_list(bpy.types.Menu):
    """What can be done with the list of chains"""

    bl_label = "Chains"

    GROUPS = (
        (OPERATORS["find_limbs"], TWOBONE_OT_add_target, TWOBONE_OT_add_pole),
        (TWOBONE_OT_fit_plane, TWOBONE_OT_flip, OPERATORS["align_hinge"], TWOBONE_OT_read_limits, TWOBONE_OT_make_markers),
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        draw_set_up(layout)
        layout.operator(TWOBONE_OT_chain_add.bl_idname, icon="ADD")
        layout.operator(TWOBONE_OT_chain_duplicate.bl_idname, icon="DUPLICATE")
        layout.operator(TWOBONE_OT_chain_mirror.bl_idname, icon="MOD_MIRROR")
        layout.operator(TWOBONE_OT_chain_remove.bl_idname, icon="REMOVE")
        layout.separator()
        layout.operator(TWOBONE_OT_chain_move.bl_idname, text="Move Chain Up", icon="TRIA_UP").direction = "UP"
        layout.operator(TWOBONE_OT_chain_move.bl_idname, text="Move Chain Down", icon="TRIA_DOWN").direction = "DOWN"
        _draw_groups(layout, self.GROUPS)


class TWOBONE_MT_contacts(bpy.types.Menu):
    """When feet are on the ground"""

    bl_label = "Contacts"

    GROUPS = (
        (OPERATORS["find_contacts"], OPERATORS["import_contacts"], OPERATORS["export_contacts"]),
        (OPERATORS["finish_retarget"],),
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        _draw_groups(self.layout, self.GROUPS)


class TWOBONE_MT_pose(bpy.types.Menu):
    """Two-bone IK for the selected bones"""

    bl_label = "Two-Bone IK"

    GROUPS = (
        (TWOBONE_OT_bake, TWOBONE_OT_bake_all, OPERATORS["clear_baked"]),
        (TWOBONE_OT_live, TWOBONE_OT_drag, OPERATORS["nudge"]),
        (OPERATORS["switch"], OPERATORS["convert_ik"], OPERATORS["bake_target"]),
        (OPERATORS["plant"], OPERATORS["fit_root"], OPERATORS["audit"]),
    )
    """Operators that key motion, in order of use; those that make chains are in a submenu, so that both fit small screens."""

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the menu."""
        layout = self.layout
        layout.menu("TWOBONE_MT_list")
        layout.menu("TWOBONE_MT_contacts")
        _draw_groups(layout, self.GROUPS)
        layout.separator()
        layout.operator("wm.url_open", text="Documentation", icon="HELP").url = DOCUMENTATION


def _draw_groups(layout: bpy.types.UILayout, groups: tuple[tuple[type, ...], ...]) -> None:
    for group in groups:
        layout.separator()
        for operator in group:
            if operator is OPERATORS["switch"]:
                layout.operator(operator.bl_idname, text="Switch to FK").to = "FK"
                layout.operator(operator.bl_idname, text="Switch to IK").to = "IK"
                for to in ("FK", "IK"):
                    draw_switch_all(layout, to)
            else:
                layout.operator(operator.bl_idname)


def draw_submenu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Append our menu to a menu of objects or poses."""
    menu.layout.separator()
    menu.layout.menu("TWOBONE_MT_pose", icon="CON_KINEMATIC")


def manual() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the mapping that "Online Manual" uses for our operators and properties."""
    groups = [(f"bpy.types.twobonechain.{option.name}", OF_GROUP[option.group]) for option in OPTIONS if option.group in OF_GROUP]
    # The last pattern fits everything, and the first that fits counts.
    sections = (*SECTIONS[:-1], *groups, SECTIONS[-1])
    return DOCUMENTATION, (*((pattern, f"#{section}") for pattern, section in sections), ("bpy.ops.twobone.*", ""))


MENUS = ("VIEW3D_MT_object", "VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu")


def register() -> None:
    """Register the menus, and add the entries to Blender's."""
    bpy.utils.register_class(TWOBONE_MT_list)
    bpy.utils.register_class(TWOBONE_MT_contacts)
    bpy.utils.register_class(TWOBONE_MT_pose)
    for name in MENUS:
        getattr(bpy.types, name).append(draw_submenu)
    bpy.utils.register_manual_map(manual)


def unregister() -> None:
    """Remove the entries, and unregister the menus."""
    bpy.utils.unregister_manual_map(manual)
    for name in MENUS:
        getattr(bpy.types, name).remove(draw_submenu)
    bpy.utils.unregister_class(TWOBONE_MT_pose)
    bpy.utils.unregister_class(TWOBONE_MT_contacts)
    bpy.utils.unregister_class(TWOBONE_MT_list)
