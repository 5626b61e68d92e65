"""Presets of a chain's settings, through Blender's own preset system: everything but its bones and objects."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from ...pipeline.plan.completing import StoredChain
from ...settings import OPTIONS
from ...settings.options import Kind
from ..operators.switches import fit_letters
from ..stored.where import NeedsChain, chain_in

SUBFOLDER = "twobone"

SHIPPED = str(Path(__file__).resolve().parent.parent)
"""Blender looks for presets that come with the add-on in `presets/twobone` below this folder. Nothing is written there."""


class TWOBONE_OT_preset_add(NeedsChain, AddPresetBase, bpy.types.Operator):
    """Save the active chain's settings as a preset, or delete one"""

    bl_idname = "twobone.preset_add"
    bl_label = "Add Chain Preset"
    preset_menu = "TWOBONE_PT_presets"
    preset_subdir = SUBFOLDER
    preset_defines = ["chain = bpy.types.TWOBONE_PT_presets.active_chain()"]
    preset_values = [f"chain.{option.name}" for option in OPTIONS if option.kind not in {Kind.OBJECT, Kind.BONE}]


class TWOBONE_PT_presets(PresetPanel, bpy.types.Panel):
    """Presets of a chain's settings"""

    bl_label = "Chain Presets"
    preset_subdir = SUBFOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "twobone.preset_add"

    @staticmethod
    def active_chain() -> StoredChain:
        """The chain that a preset's file sets: that of the panel, whatever of it is the active object."""
        return chain_in(bpy.context)

    fit_letters = staticmethod(fit_letters)

    @staticmethod
    def post_cb(_context: bpy.types.Context, _filepath: str) -> None:
        """Blender's own operator leaves no undo step."""
        bpy.ops.ed.undo_push(message="Apply Chain Preset")


CLASSES = (TWOBONE_OT_preset_add, TWOBONE_PT_presets)

_register, _unregister = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    """Add the presets that come with the add-on to those of the user."""
    _register()
    bpy.utils.register_preset_path(SHIPPED)


def unregister() -> None:
    """Take them away again; the user's own stay."""
    bpy.utils.unregister_preset_path(SHIPPED)
    _unregister()
