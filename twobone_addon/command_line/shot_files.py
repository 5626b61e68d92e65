"""Open .blend files, and save them so that the file on disk is always complete."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import bpy

from ..errors import FULL, FileError, refused_by_system
from ..files import Lock, content_of, flush_to_disk, followed, publish
from .outcomes import UsageError
from .outputs import BLEND
from .stopping import undisturbed

COMMAND = ("-c", "--command")
"""Arguments that separate Blender's own arguments from ours."""

ROOM = 2
"""If a save fails with free disk space below this multiple of the file size, the disk is taken to have been full."""

SCRIPTS = {"-y": True, "--enable-autoexec": True, "-Y": False, "--disable-autoexec": False}
"""Blender's own arguments that allow or forbid the scripts in files."""


def open_shot(path: Path | None, *, scripts: bool | None) -> None:
    """Open the file, or for `None` make sure that Blender has opened the one it was started with; raises `FileError`.

    `scripts` allows or forbids the scripts in the file; `None` follows `scripts_of_this_run`.
    """
    if path is None:  # Where Blender cannot open the file on its command line, it continues with an empty one.
        shots = [word for word in _blender_arguments() if word.lower().endswith(".blend") and not word.startswith("-")]
        if shots and not bpy.data.filepath:
            raise FileError('Shot "{path}" could not be opened. Check that it exists and is a whole .blend file.', path=shots[-1])
        return
    if not path.is_file():
        raise FileError('Shot "{path}" is not a file. Name a .blend file that exists.', path=path)
    try:
        path.open("rb").close()
    except OSError as error:
        raise refused_by_system(path, "opened", error) from error
    allowed = scripts_of_this_run() if scripts is None else scripts
    try:
        bpy.ops.wm.open_mainfile(filepath=str(followed(path)), load_ui=False, use_scripts=allowed)
    except RuntimeError as error:
        raise FileError(
            'Shot "{path}" cannot be opened ({reason}). Check that it is a whole .blend file.',
            path=path,
            reason=_reason(error),
        ) from error


@contextmanager
def window_in_context(scene: str = "") -> Iterator[None]:
    """Put the file's first window, and the named scene if there is a name, into the context of the block.

    With a file on Blender's command line before `--command`, no window is in context, and some of Blender's own functions
    (removing a scene, in 4.3) crash without one.
    """
    windows = bpy.data.window_managers[0].windows
    members: dict[str, Any] = {} if bpy.context.window is not None or not windows else {"window": windows[0]}
    if scene:
        # Override the context instead of switching scenes, so that the saved shot keeps its active scene.
        members |= {"scene": bpy.data.scenes[scene], "view_layer": bpy.data.scenes[scene].view_layers[0]}
    if not members:
        yield
        return
    override: Any = bpy.context.temp_override(**members)
    with override:
        yield


def scripts_of_this_run() -> bool:
    """Whether Blender was started with scripts allowed (`-y`, `-Y`; the last one wins); false without such an argument."""
    choices = [word for word in _blender_arguments() if word in SCRIPTS]
    return SCRIPTS[choices[-1]] if choices else False


def source_of(file: Path | None) -> Path | None:
    """Return the shot that a command works on: the file it opens, else the open one; `None` if that was never saved."""
    if file is None:
        return Path(bpy.data.filepath) if bpy.data.filepath else None
    return file


def save_goal(asked: str | Literal[True], source: Path | None) -> Path:
    """Return the file that `--save` means; `True` means the file that was read, links followed. Raises `UsageError`."""
    if asked is not True:
        return Path(os.path.abspath(asked))  # noqa: PTH100 - links are refused, not followed
    if source is None:
        raise UsageError("No file was opened, so there is none to save over. Name a file after --save.")
    return followed(source)


def save_shot(lock: Lock, expects: str, note: Callable[[str], None]) -> list[str]:
    """Save the open file, in place of the contents that it `expects`: write a draft, flush it, and move it into place.

    A reader of the goal finds either the old or the new file at any time, even after a power cut. The compression of the
    opened file is kept. No backup (.blend1) is made. `note` gets the SHA-256 of the draft before it is moved. Returns a
    sentence for each property of the replaced file that could not be kept. Raises `FileError`.
    """
    goal, draft, source = lock.goal, lock.draft, Path(bpy.data.filepath)
    compress = bool(bpy.context.preferences.filepaths.use_file_compression)
    try:
        if source.is_file():
            with source.open("rb") as file:
                compress = file.read(4).startswith(BLEND[1:])
        bpy.ops.wm.save_as_mainfile(filepath=str(draft), copy=True, check_existing=False, compress=compress)
        with draft.open("rb+") as file:
            flush_to_disk(file.fileno())
        note(content_of(draft))
        with undisturbed():
            return publish(lock, expects)
    except OSError as error:
        raise refused_by_system(goal, "saved", error) from error
    except RuntimeError as error:
        # Blender tells the reason only as text, and if the disk was not quite full, that names an earlier, unrelated error.
        number = next((number for number in FULL if os.strerror(number) in str(error)), None)
        sizes = [path.stat().st_size for path in (source, goal) if path.is_file()]
        if number is None and shutil.disk_usage(goal.parent).free < ROOM * max(sizes, default=0):
            number = errno.ENOSPC
        if number is not None:
            raise refused_by_system(goal, "saved", OSError(number, os.strerror(number))) from error
        raise FileError(
            '"{goal}" cannot be saved ({reason}). Check the folder and the space on the disk.',
            goal=goal,
            reason=_reason(error),
        ) from error


def _blender_arguments() -> list[str]:
    """Return the arguments of this process that are for Blender itself; none in the bpy module."""
    end = next((position for position, word in enumerate(sys.argv) if word in COMMAND), 1)
    return sys.argv[1:end]


def _reason(error: Exception) -> str:
    """Return Blender's message without "Error:", in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.replace("Error:", "").split())
