"""A new file, for every test."""

import bpy


def empty() -> None:
    """Open a new file with nothing in it and factory settings, but for preferences, which no test changes for good.

    To reset these as well takes Blender five times as long, for it enables all of its own add-ons again.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
