"""The other files that a file links from, and whether they are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy


def absolute_path(entry: Any) -> Path:
    """Where the file of a library, or of a cache, ought to be."""
    return Path(bpy.path.abspath(entry.filepath, library=entry.library))


def missing_libraries() -> list[str]:
    """The paths of libraries that are not where the file expects them, sorted."""
    return sorted({str(path) for path in map(absolute_path, bpy.data.libraries) if not path.exists()})


def library_of(thing: Any) -> str:
    """In words, the library that a datablock, or what it overrides, comes from."""
    reference = thing.override_library.reference if thing.override_library else None
    library = thing.library or (reference.library if reference else None)
    return f'library "{absolute_path(library)}"' if library else "its library"
