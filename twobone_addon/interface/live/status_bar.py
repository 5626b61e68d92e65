"""What the status bar says while a chain is dragged: each key as its icon, with what it does."""

from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

HELP = ("Confirm", "Cancel", "Flip Bend", "Precision Mode", "Navigate")
"""What can be done, in the order of `ICONS`."""

WHEEL = "MOUSE_MMB_SCROLL"
"""Icon of the wheel, which 4.2 does not have."""

ICONS = (
    ("MOUSE_LMB", "EVENT_RETURN"),
    ("MOUSE_RMB", "EVENT_ESC"),
    ("EVENT_F", WHEEL),
    ("EVENT_SHIFT",),
    ("MOUSE_MMB", "EVENT_ALT"),
)
"""Keys that do it."""

BEHIND_ICON = 0.7
"""Room behind the icons."""

WIDE_ICONS = {"EVENT_ESC": 1.7, "EVENT_ALT": 1.7}
"""Room behind those that are drawn wider than they are laid out, since they hold a word."""


def draw_keys(header: Any, _context: bpy.types.Context) -> None:
    """Draw them in place of the status bar's own."""
    row = header.layout.row(align=True)
    known = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    for text, icons in zip(HELP, ICONS, strict=True):
        for icon in filter(known.__contains__, icons):
            row.label(text="", icon=icon)
        row.separator(factor=WIDE_ICONS.get(icons[-1], BEHIND_ICON))
        row.label(text=pgettext_iface(text), translate=False)
        row.separator(factor=2.0)
