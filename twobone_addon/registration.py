"""What the add-on registers with Blender, in order; unregistering takes the same list back up."""

from .interface import menus, operators, panels, properties

ROOMS = (properties, operators, panels, menus)
"""Each has `register()` and `unregister()` of its own."""


def register() -> None:
    """Register everything."""
    for room in ROOMS:
        room.register()


def unregister() -> None:
    """Take everything back, last first."""
    for room in reversed(ROOMS):
        room.unregister()
