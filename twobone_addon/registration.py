"""What the add-on registers with Blender, in order; unregistering takes the same list back up."""

from .command_line import command
from .interface import (
    convert_operators,
    drag,
    guide_operators,
    key_operators,
    limit_operators,
    list_operators,
    live,
    live_operator,
    menus,
    operators,
    overlay_drawing,
    panels,
    presets,
    properties,
    result_operators,
    result_panel,
    translating,
)

ROOMS = (
    properties,
    operators,
    limit_operators,
    list_operators,
    guide_operators,
    key_operators,
    result_operators,
    convert_operators,
    drag,
    live,
    live_operator,
    presets,
    panels,
    result_panel,
    menus,
    overlay_drawing,
    translating,
    command,
)
"""Each has `register()` and `unregister()` of its own."""


def register() -> None:
    """Register everything."""
    for room in ROOMS:
        room.register()


def unregister() -> None:
    """Take everything back, last first."""
    for room in reversed(ROOMS):
        room.unregister()
