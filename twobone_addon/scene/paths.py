"""Paths as Blender's files have them."""

from __future__ import annotations

from pathlib import Path

import bpy


def absolute(path: str) -> Path:
    """A path that may begin with `//`, the folder of the file that is open."""
    return Path(bpy.path.abspath(path))
