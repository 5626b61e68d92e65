"""Presets of a chain's settings except bones and objects, with Blender's own preset system."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from ...pipeline.plan.stored import StoredChain
from ...settings import OPTIONS
from ...settings.options import OptionKind
from ..operators.switches import fit_letters
from ..stored.where import NeedsChain, chain_in

SUBFOLDER = "twobone"

SHIPPED = str(Path(__file__).resolve().parent.parent)
"""Folder in which Blender looks for the add-on's own presets, in `presets/twobone`. Nothing is written there."""


class TWOBONE_OT_preset_add(NeedsChain, AddPresetBase, bpy.types.Operator):
    """Save the active chain's settings as a preset, or delete one"""

    bl_idname = "twobone.preset_add"
    bl_label = "Add Chain Preset"
    preset_menu = "TWOBONE_PT_presets"
    preset_subdir = SUBFOLDER
    preset_defines = ["chain = bpy.types.TWOBONE_PT_presets.active_chain()"]
    preset_values = [f"chain.{option.name}" for option in OPTIONS if option.kind not in {OptionKind.OBJECT, OptionKind.BONE}]


class TWOBONE_PT_presets(PresetPanel, bpy.types.Panel):
    """Presets of a chain's settings"""

    bl_label = "Chain Presets"
    preset_subdir = SUBFOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "twobone.preset_add"

    @staticmethod
    def active_chain() -> StoredChain:
        """Return the chain that a preset file changes: the one in the panel, also while its target is the active object."""
        return chain_in(bpy.context)

    fit_letters = staticmethod(fit_letters)

    @staticmethod
    def post_cb(_context: bpy.types.Context, _filepath: str) -> None:
        """Push an undo step, which Blender's own operator does not."""
        bpy.ops.ed.undo_push(message="Apply Chain Preset")


CLASSES = (TWOBONE_OT_preset_add, TWOBONE_PT_presets)

_register, _unregister = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    """Register the classes, and add the add-on's own presets to the user's."""
    _register()
    bpy.utils.register_preset_path(SHIPPED)


def unregister() -> None:
    """Remove the add-on's own presets, but not the user's, and unregister the classes."""
    bpy.utils.unregister_preset_path(SHIPPED)
    _unregister()
