"""What the add-on registers with Blender, in order; unregister runs the list in reverse."""

import bpy

from .command_line import command
from .interface import translating
from .interface.live import drag, following, gizmos, operator
from .interface.operators import auditing, bake, chain_list, guides, of_tasks, results, switches
from .interface.overlay import drawing
from .interface.sidebar import audit_panel, forecasting, menus, nudge_panel, panels, presets, result_panel, setting_panels
from .interface.stored import keeping, properties, renaming, selecting

MODULES = (
    properties,
    keeping,
    selecting,
    renaming,
    bake,
    of_tasks,
    chain_list,
    guides,
    results,
    switches,
    auditing,
    drag,
    following,
    operator,
    gizmos,
    presets,
    forecasting,
    panels,
    result_panel,
    setting_panels,
    nudge_panel,
    audit_panel,
    menus,
    drawing,
    translating,
    command,
)
"""Each has `register()` and `unregister()` of its own."""


def register() -> None:
    """Register everything; raises `ValueError` where another copy of the add-on is enabled: both would answer to one name."""
    other = getattr(bpy.types, "TWOBONE_OT_bake", None)
    if other is not None:
        copy = other.__module__.partition(".twobone_addon.")[0]
        raise ValueError(f'Two-Bone IK is enabled twice. Disable the copy "{copy}" first, then enable this one.')
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Take everything back, last first."""
    for module in reversed(MODULES):
        module.unregister()
