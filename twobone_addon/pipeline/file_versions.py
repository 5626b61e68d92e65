"""Which versions of Blender a file is for: what saving does to one that another version has saved."""

from __future__ import annotations

from ..scene.versions import file_version, oldest_reader, own_version, version_text

__all__ = ["change_by_saving", "version_text"]


def change_by_saving() -> str:
    """What is lost when the open file is saved, because another version of Blender saved it; empty for nothing."""
    file, own = file_version(), own_version()
    if oldest_reader() <= file <= own:
        return ""
    lost = "What only the newer version knows is lost" if file > own else "It can no longer be read by its own version"
    return f"It was saved by Blender {_text(file)}, and this is {_text(own)}. {lost}, once this one has saved it."


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
