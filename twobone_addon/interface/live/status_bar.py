"""What the status bar says while a chain is dragged: each key as its icon, with what it does."""

from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

HELP = ("Confirm", "Cancel", "Flip Bend", "Precision Mode", "Navigate")
"""What can be done, in the order of `ICONS`."""

ICONS = (("MOUSE_LMB", "EVENT_RETURN"), ("MOUSE_RMB", "EVENT_ESC"), ("EVENT_F",), ("EVENT_SHIFT",), ("MOUSE_MMB", "EVENT_ALT"))
"""Keys that do it."""

WIDE_ICON = 0.7
"""Room behind the icons, some of which are wider than others: Esc, Alt."""


def draw_keys(header: Any, _context: bpy.types.Context) -> None:
    """Draw them in place of the status bar's own."""
    row = header.layout.row(align=True)
    for text, icons in zip(HELP, ICONS, strict=True):
        for icon in icons:
            row.label(text="", icon=icon)
        row.separator(factor=WIDE_ICON)
        row.label(text=pgettext_iface(text), translate=False)
        row.separator(factor=2.0)
