"""Register the add-on's modules with Blender, in order; unregister them in reverse."""

import bpy

from .command_line import entry
from .interface import translating, watching
from .interface.live import drag, gizmos
from .interface.operators import bake, chain_list, guides, of_tasks, results, switches
from .interface.overlay import showing
from .interface.sidebar import audit_panel, menus, nudge_panel, panels, presets, result_panel, setting_panels
from .interface.stored import keeping, live_limbs, properties, renaming, selecting
from .scene import edit_mode

MODULES = (
    properties,
    keeping,
    live_limbs,
    selecting,
    renaming,
    edit_mode,
    bake,
    of_tasks,
    chain_list,
    guides,
    results,
    switches,
    drag,
    gizmos,
    presets,
    panels,
    result_panel,
    setting_panels,
    nudge_panel,
    audit_panel,
    menus,
    showing,
    watching,
    translating,
    entry,
)
"""Modules to register; each has `register()` and `unregister()`."""


def register() -> None:
    """Register all modules; raises `ValueError` where another copy of the add-on, with the same names, is enabled."""
    other = getattr(bpy.types, "TWOBONE_OT_bake", None)
    if other is not None:
        copy = other.__module__.partition(".twobone_addon.")[0]
        raise ValueError(f'Two-Bone IK is enabled twice. Disable the copy "{copy}" first, then enable this one.')
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Unregister all modules, last first."""
    for module in reversed(MODULES):
        module.unregister()
