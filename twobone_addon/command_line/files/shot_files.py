"""Opening and saving .blend files so that what lies on disk is always whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import bpy

from ..outcomes import FileError, UsageError
from .claims import claimed, unfinished
from .outputs import COMPRESSED
from .text_files import publish

COMMAND = ("-c", "--command")
"""Words that end those for Blender itself, and begin ours."""

SCRIPTS = {"-y": True, "--enable-autoexec": True, "-Y": False, "--disable-autoexec": False}
"""What Blender itself can be told about the scripts in files."""


def open_shot(path: Path | None, *, scripts: bool | None) -> None:
    """Open the file, or make sure that Blender has opened the one it was started with; raises `FileError`.

    `scripts` allows those in the file, or forbids them; `None`: as `scripts_of_this_run` says.
    """
    if path is None:
        _refuse_unopened()
        return
    if not path.is_file():
        raise FileError(f'Shot "{path}" is not a file. Name a .blend file that exists.')
    allowed = scripts_of_this_run() if scripts is None else scripts
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=allowed)
    except RuntimeError as error:
        raise FileError(f'Shot "{path}" cannot be opened ({_reason(error)}). Check that it is a whole .blend file.') from error


@contextmanager
def window_in_context(scene: str = "") -> Iterator[None]:
    """Run a block as if in the file's first window, and in the scene of that name if there is one.

    A file that Blender was started with together with `--command` is open, but no window is in context, and some of
    Blender's own functions (removing a scene, in 4.3) crash without one.
    """
    windows = bpy.data.window_managers[0].windows
    members: dict[str, Any] = {} if bpy.context.window is not None or not windows else {"window": windows[0]}
    if scene:
        # The file's own scene stays the one that is open, also where the shot is saved.
        members |= {"scene": bpy.data.scenes[scene], "view_layer": bpy.data.scenes[scene].view_layers[0]}
    if not members:
        yield
        return
    override: Any = bpy.context.temp_override(**members)
    with override:
        yield


def refuse_unknown_scene(scene: str) -> None:
    """Raise `FileError` for the name of a scene that the file does not have."""
    if scene and scene not in bpy.data.scenes:
        known = ", ".join(f'"{found.name}"' for found in bpy.data.scenes)
        raise FileError(f'Scene "{scene}" is not in this file. Use one that is ({known}).')


def unrun_scripts() -> str:
    """Why scripts of the file, such as Python drivers, were kept from running; empty if none were."""
    return bpy.app.autoexec_fail_message if bpy.app.autoexec_fail else ""


def scripts_of_this_run() -> bool:
    """What Blender was told about scripts when it was started (`-y`, `-Y`); without a word of it they do not run."""
    said = [word for word in _blenders_words() if word in SCRIPTS]
    return SCRIPTS[said[-1]] if said else False


def source_of(file: Path | None) -> Path | None:
    """The shot that a command is about: the one it opens, or has found open."""
    if file is None:
        return Path(bpy.data.filepath) if bpy.data.filepath else None
    return file


def save_goal(asked: str | Literal[True], source: Path | None) -> Path:
    """The file that `--save` means, links followed; `True` is the shot itself. Raises `UsageError`."""
    goal = source if asked is True else Path(asked)
    if goal is None:
        raise UsageError("No file was opened, so there is none to save over. Name a file after --save.")
    return goal.resolve()


def used_files() -> list[Path]:
    """Every file that the open shot uses: libraries, caches, pictures, sounds."""
    return [Path(path) for path in bpy.utils.blend_paths(absolute=True, packed=True)]


def save_shot(goal: Path) -> list[str]:
    """Save the open file as `goal`, which no other process is writing meanwhile; see `save_claimed_shot`."""
    with claimed(goal):
        return save_claimed_shot(goal)


def save_claimed_shot(goal: Path) -> list[str]:
    """Save the open file as `goal`: written beside it, flushed, then moved there in one step.

    Whoever reads the goal, at whatever moment, even after a power cut, finds the old file or the new one. The
    compression of the opened file is kept. No backup (.blend1) is made. Returns a sentence for each property of the file
    before that could not be kept. Raises `FileError`.
    """
    draft = unfinished(goal)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(draft), copy=True, check_existing=False, compress=_is_compressed())
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        return publish(draft, goal)
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
    shots = [word for word in _blenders_words() if word.lower().endswith(".blend") and not word.startswith("-")]
    if shots and not bpy.data.filepath:
        raise FileError(f'Shot "{shots[-1]}" could not be opened. Check that it exists and is a whole .blend file.')


def _blenders_words() -> list[str]:
    """What this process was started with for Blender itself; nothing where Blender is the bpy module."""
    end = next((place for place, word in enumerate(sys.argv) if word in COMMAND), 1)
    return sys.argv[1:end]


def _reason(error: Exception) -> str:
    """Blender's own words, without its "Error:" and in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.replace("Error:", "").split())
