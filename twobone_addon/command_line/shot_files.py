"""Opening and saving .blend files so that what lies on disk is always whole."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from .outcomes import FileError, UsageError
from .text_files import publish, unfinished

COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""First bytes of a compressed .blend: Zstandard since Blender 3.0, gzip before."""


def open_shot(path: Path | None, *, scripts: bool) -> None:
    """Open the file, or make sure that Blender has opened the one it was started with; raises `FileError`."""
    if path is None:
        _refuse_unopened()
        return
    if not path.is_file():
        raise FileError(f'Shot "{path}" is not a file. Name a .blend file that exists.')
    allowed: dict[str, Any] = {"use_scripts": True} if scripts else {}
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, **allowed)
    except RuntimeError as error:
        raise FileError(f'Shot "{path}" cannot be opened ({_reason(error)}). Check that it is a whole .blend file.') from error


@contextmanager
def window_in_context() -> Iterator[None]:
    """Run a block as if in the file's first window.

    A file that Blender was started with together with `--command` is open, but no window is in context, and some of
    Blender's own functions (removing a scene, in 4.3) crash without one.
    """
    windows = bpy.data.window_managers[0].windows
    if bpy.context.window is not None or not windows:
        yield
        return
    override: Any = bpy.context.temp_override(window=windows[0])
    with override:
        yield


def unrun_scripts() -> str:
    """Why scripts of the file, such as Python drivers, were kept from running; empty if none were."""
    return bpy.app.autoexec_fail_message if bpy.app.autoexec_fail else ""


def save_goal(asked: Path) -> Path:
    """The file that `--save` means, links followed; raises `UsageError` or `FileError` where it cannot be written."""
    if asked == Path():
        if not bpy.data.filepath:
            raise UsageError("No file was opened, so there is none to save over. Name a file after --save.")
        asked = Path(bpy.data.filepath)
    goal = asked.resolve()
    if goal.is_dir():
        raise FileError(f'"{asked}" is a folder. Name a .blend file to save to.')
    if not goal.parent.is_dir():
        raise FileError(f'The folder "{goal.parent}" does not exist. Make it first, or save elsewhere.')
    if goal.exists() and not (os.access(goal, os.W_OK) and goal.stat().st_mode & 0o222):
        raise FileError(f'"{asked}" is read-only. Make it writable, or save under another name.')
    return goal


def save_shot(goal: Path) -> None:
    """Save the open file as `goal`: written beside it, flushed, then moved there in one step.

    Whoever reads the goal, at whatever moment, even after a power cut, finds the old file or the new one. The
    compression of the opened file is kept. No backup (.blend1) is made. Raises `FileError`.
    """
    draft = unfinished(goal)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(draft), copy=True, check_existing=False, compress=_is_compressed())
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if goal.exists():
            shutil.copymode(goal, draft)
        publish(draft, goal)
    except (RuntimeError, OSError) as error:
        raise FileError(f'"{goal}" cannot be saved ({_reason(error)}). Check the folder and the space on the disk.') from error
    finally:
        draft.unlink(missing_ok=True)


def _is_compressed() -> bool:
    source = Path(bpy.data.filepath) if bpy.data.filepath else None
    if source is None or not source.is_file():
        return bool(bpy.context.preferences.filepaths.use_file_compression)
    with source.open("rb") as file:
        return file.read(4).startswith(COMPRESSED)


def _refuse_unopened() -> None:
    """Blender goes on with an empty file when it cannot open the one on its command line; baking that would be wrong."""
    given = sys.argv[1 : next((place for place, word in enumerate(sys.argv) if word in {"-c", "--command"}), 1)]
    shots = [word for word in given if word.lower().endswith(".blend") and not word.startswith("-")]
    if shots and not bpy.data.filepath:
        raise FileError(f'Shot "{shots[-1]}" could not be opened. Check that it exists and is a whole .blend file.')


def _reason(error: Exception) -> str:
    """Blender's own words, without its "Error:" and in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.replace("Error:", "").split())
