"""Opening and saving .blend files so that what lies on disk is always whole."""

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
"""Words that end those for Blender itself, and begin ours."""

JOURNAL = "TWOBONE_JOURNAL"
"""Variable with the file in which the Blenders of a batch note what they are about to save."""

LAST_BLOCK = (b"ENDB", (24, 32))
"""How the last block of a .blend begins, and how long it may be: the length depends on the version of the format."""
SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""How the table at the end of what Blender compresses with Zstandard ends."""

ROOM = 2
"""A shot that could not be saved was too large for the disk if there is less room than for so many of it."""

SCRIPTS = {"-y": True, "--enable-autoexec": True, "-Y": False, "--disable-autoexec": False}
"""What Blender itself can be told about the scripts in files."""


def open_shot(path: Path | None, *, scripts: bool | None) -> None:
    """Open the file, or make sure that Blender has opened the one it was started with; raises `FileError`.

    `scripts` allows those in the file, or forbids them; `None`: as `scripts_of_this_run` says.
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
        raise FileError('Scene "{scene}" is not in this file. Use one that is ({known}).', scene=scene, known=known)


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
    return followed(goal)


def used_files() -> list[Path]:
    """Every file that the open shot uses: libraries, caches, pictures, sounds."""
    return [Path(path) for path in bpy.utils.blend_paths(absolute=True, packed=True)]


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
            flush_to_disk(file.fileno())
        _note_in_journal(draft, goal)
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
    """Whether a file is a .blend from its beginning to its end, as far as both tell: one that was cut off is nobody's work."""
    try:
        with path.open("rb") as file:
            first = file.read(7)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LAST_BLOCK[1][-1], 0))
            last = file.read()
    except OSError:
        return True  # What cannot be read is not to be replaced.
    if first.startswith(COMPRESSED[0]):
        return last.endswith(SEEK_TABLE)
    if first.startswith(b"BLENDER"):
        return any(last[-length:].startswith(LAST_BLOCK[0]) for length in LAST_BLOCK[1])
    return bool(first)


def _note_in_journal(draft: Path, goal: Path) -> None:
    """Note the draft's contents where a batch keeps a journal: after a kill it knows by them that the goal is its own."""
    place = os.environ.get(JOURNAL)
    if place is None:
        return
    line = json.dumps([str(goal), content_of(draft)]) + "\n"
    with contextlib.suppress(OSError):  # The batch then takes the goal for somebody else's, which harms nothing.
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFELY, 0o666)
        try:
            os.write(handle, line.encode())  # In one go, since other Blenders write there too.
            flush_to_disk(handle)
        finally:
            os.close(handle)


def _refuse_full_disk(goal: Path, error: RuntimeError) -> None:
    """Raise what is said of a full disk where that was Blender's reason, which it tells as text only.

    Of a disk that was not quite full it tells something else: whatever the system could not do before.
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
    """Blender goes on with an empty file when it cannot open the one on its command line; baking that would be wrong."""
    shots = [word for word in _blenders_words() if word.lower().endswith(".blend") and not word.startswith("-")]
    if shots and not bpy.data.filepath:
        raise FileError('Shot "{path}" could not be opened. Check that it exists and is a whole .blend file.', path=shots[-1])


def _blenders_words() -> list[str]:
    """What this process was started with for Blender itself; nothing where Blender is the bpy module."""
    end = next((place for place, word in enumerate(sys.argv) if word in COMMAND), 1)
    return sys.argv[1:end]


def _reason(error: Exception) -> str:
    """Blender's own words, without its "Error:" and in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.replace("Error:", "").split())
