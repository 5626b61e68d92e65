"""Presets of a chain's settings, through Blender's own preset system: everything but its bones and objects."""

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from ..options import Kind
from ..settings import OPTIONS

SUBFOLDER = "twobone"


class TWOBONE_OT_preset_add(AddPresetBase, bpy.types.Operator):
    """Keep the settings of the active chain as a preset, or remove one"""

    bl_idname = "twobone.preset_add"
    bl_label = "Add Chain Preset"
    preset_menu = "TWOBONE_PT_presets"
    preset_subdir = SUBFOLDER
    preset_defines = [
        "armature = bpy.context.object",
        "chain = armature.twobone.chains[armature.twobone.active_index]",
    ]
    preset_values = [f"chain.{option.name}" for option in OPTIONS if option.kind not in {Kind.OBJECT, Kind.BONE}]


class TWOBONE_PT_presets(PresetPanel, bpy.types.Panel):
    """Presets of a chain's settings"""

    bl_label = "Chain Presets"
    preset_subdir = SUBFOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "twobone.preset_add"


CLASSES = (TWOBONE_OT_preset_add, TWOBONE_PT_presets)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
