"""Open .blend files, and save them so that the file on disk is always complete."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import bpy

from ..outcomes import FULL, FileError, UsageError, refused_by_system
from .claims import SAFELY, unfinished
from .outputs import COMPRESSED
from .text_files import content_of, flush_to_disk, followed, publish, refuse_long

COMMAND = ("-c", "--command")
"""Arguments that separate Blender's own arguments from ours."""

JOURNAL = "TWOBONE_JOURNAL"
"""Environment variable naming the file in which the Blenders of a batch record what they are about to save."""

LAST_BLOCK = (b"ENDB", (24, 32))
"""Code of the last block of a .blend, and its possible lengths in bytes, which depend on the version of the format."""
SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""Last bytes of the seek table that ends a .blend compressed with Zstandard."""

ROOM = 2
"""If a save fails with free disk space below this multiple of the file size, the disk is taken to have been full."""

SCRIPTS = {"-y": True, "--enable-autoexec": True, "-Y": False, "--disable-autoexec": False}
"""Blender's own arguments that allow or forbid the scripts in files."""


def open_shot(path: Path | None, *, scripts: bool | None) -> None:
    """Open the file, or for `None` make sure that Blender has opened the one it was started with; raises `FileError`.

    `scripts` allows or forbids the scripts in the file; `None` follows `scripts_of_this_run`.
    """
    if path is None:
        _refuse_unopened()
        return
    refuse_long(followed(path))
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


def refuse_unknown_scene(scene: str) -> None:
    """Raise `FileError` if the file has no scene of this name; an empty name is allowed."""
    if scene and scene not in bpy.data.scenes:
        known = ", ".join(f'"{found.name}"' for found in bpy.data.scenes)
        raise FileError('Scene "{scene}" is not in this file. Use one that is ({known}).', scene=scene, known=known)


def unrun_scripts() -> str:
    """Return why scripts of the file, such as Python drivers, were blocked; empty if none were."""
    return bpy.app.autoexec_fail_message if bpy.app.autoexec_fail else ""


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
    """Return the file that `--save` means, links followed; `True` means the shot itself. Raises `UsageError`."""
    goal = source if asked is True else Path(asked)
    if goal is None:
        raise UsageError("No file was opened, so there is none to save over. Name a file after --save.")
    return followed(goal)


def used_files() -> list[Path]:
    """Return every file that the open shot uses: libraries, caches, images, sounds."""
    return [Path(path) for path in bpy.utils.blend_paths(absolute=True, packed=True)]


def save_claimed_shot(goal: Path) -> list[str]:
    """Save the open file as `goal` atomically: write a draft beside it, flush it, and move it into place.

    A reader of the goal finds either the old or the new file at any time, even after a power cut. The compression of the
    opened file is kept. No backup (.blend1) is made. Returns a sentence for each property of the replaced file that could
    not be kept. Raises `FileError`.
    """
    draft = unfinished(goal)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(draft), copy=True, check_existing=False, compress=_is_compressed())
        with draft.open("rb+") as file:
            flush_to_disk(file.fileno())
        _record_in_journal(draft, goal)
        return publish(draft, goal)
    except OSError as error:
        raise refused_by_system(goal, "saved", error) from error
    except RuntimeError as error:
        _refuse_full_disk(goal, error)
        raise FileError(
            '"{goal}" cannot be saved ({reason}). Check the folder and the space on the disk.',
            goal=goal,
            reason=_reason(error),
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Whether a .blend file is complete, judged by its first and last bytes.

    A truncated file may be replaced; a file of another format, or one that cannot be read, counts as complete.
    """
    try:
        with path.open("rb") as file:
            first = file.read(7)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LAST_BLOCK[1][-1], 0))
            last = file.read()
    except OSError:
        return True  # Never replace a file that cannot be read.
    if first.startswith(COMPRESSED[0]):
        return last.endswith(SEEK_TABLE)
    if first.startswith(b"BLENDER"):
        return any(last[-length:].startswith(LAST_BLOCK[0]) for length in LAST_BLOCK[1])
    return bool(first)


def _record_in_journal(draft: Path, goal: Path) -> None:
    """Append the draft's SHA-256 to the batch's journal, if any: after a kill, the batch recognizes its own output by it."""
    journal = os.environ.get(JOURNAL)
    if journal is None:
        return
    line = json.dumps([str(goal), content_of(draft)]) + "\n"
    with contextlib.suppress(OSError):  # Without the entry, the batch only takes the goal for another's and keeps it.
        handle = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFELY, 0o666)
        try:
            os.write(handle, line.encode())  # In a single write, since other Blenders append to it too.
            flush_to_disk(handle)
        finally:
            os.close(handle)


def _refuse_full_disk(goal: Path, error: RuntimeError) -> None:
    """Raise the error for a full disk if that is why saving failed.

    Blender reports the reason only as text, and if the disk was not quite full, the text names an earlier, unrelated error.
    """
    number = next((number for number in FULL if os.strerror(number) in str(error)), None)
    sizes = [path.stat().st_size for path in (Path(bpy.data.filepath), goal) if path.is_file()]
    if number is None and shutil.disk_usage(goal.parent).free < ROOM * max(sizes, default=0):
        number = errno.ENOSPC
    if number is not None:
        raise refused_by_system(goal, "saved", OSError(number, os.strerror(number))) from error


def _is_compressed() -> bool:
    source = Path(bpy.data.filepath) if bpy.data.filepath else None
    if source is None or not source.is_file():
        return bool(bpy.context.preferences.filepaths.use_file_compression)
    with source.open("rb") as file:
        return file.read(4).startswith(COMPRESSED)


def _refuse_unopened() -> None:
    """Raise `FileError` if Blender could not open the file on its command line; it then continues with an empty file."""
    shots = [word for word in _blender_arguments() if word.lower().endswith(".blend") and not word.startswith("-")]
    if shots and not bpy.data.filepath:
        raise FileError('Shot "{path}" could not be opened. Check that it exists and is a whole .blend file.', path=shots[-1])


def _blender_arguments() -> list[str]:
    """Return the arguments of this process that are for Blender itself; none in the bpy module."""
    end = next((place for place, word in enumerate(sys.argv) if word in COMMAND), 1)
    return sys.argv[1:end]


def _reason(error: Exception) -> str:
    """Return Blender's message without "Error:", in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.replace("Error:", "").split())
