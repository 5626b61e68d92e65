"""Left and right in names."""

from __future__ import annotations

import bpy


def other_side(name: str) -> str:
    """The name with its side flipped, as Blender does it (`thigh.L` to `thigh.R`); the same for a name without one."""
    return bpy.utils.flip_name(name)
