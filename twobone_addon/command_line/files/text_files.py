"""Whole files or none: text written beside its goal and moved there when complete; and the content of files, as a number."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import queue
import re
import stat
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import TextIO

from ..outcomes import AgainError, FileError, refused_by_system
from ..stopping import undisturbed
from .claims import LOOK_AGAIN, SAFELY, claimed, unfinished

LONGEST = 259
"""Letters of a path that Windows opens for programs that do not declare more, and Blender declares none."""

OF_BLENDER = "@"
"""What Blender adds to the name of a file while it writes it."""

AT_ONCE = 8
"""Files read side by side: what they wait for is the disk or the network."""


def content_of(path: Path) -> str:
    """SHA-256 of a plain file's bytes; empty where there is none, or where it cannot be read. Pipes are not waited for."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def contents_of(paths: Collection[Path], timeout: float | None) -> dict[Path, str]:
    """`content_of` each; when no file has been read for `timeout` seconds, the rest count as unreadable."""
    found = dict.fromkeys(paths, "")
    waiting, read = queue.SimpleQueue[Path](), queue.SimpleQueue[tuple[Path, str]]()
    for path in found:
        waiting.put(path)
    for _ in range(min(len(found), AT_ONCE, (os.cpu_count() or 1) + 1)):
        # A daemon: a file system that no longer answers must not keep this process alive.
        threading.Thread(target=_read_all, args=(waiting, read), daemon=True).start()
    for _ in range(len(found)):
        try:
            path, content = read.get(timeout=timeout)
        except queue.Empty:
            break
        found[path] = content
    return found


def _read_all(waiting: queue.SimpleQueue[Path], read: queue.SimpleQueue[tuple[Path, str]]) -> None:
    while True:
        try:
            path = waiting.get_nowait()
        except queue.Empty:
            return
        read.put((path, content_of(path)))


def followed(path: Path) -> Path:
    """The whole path with links followed; a link to itself stays.

    On Windows only that of a link itself: there a drive's letter would become the server's name, which may be unreachable.
    """
    if sys.platform == "win32" and not path.is_symlink():
        return Path(os.path.abspath(path))  # noqa: PTH100 - without `resolve`
    return Path(os.path.realpath(path))


def is_long(path: Path, letters: int = 0) -> bool:
    """Whether Windows opens nothing of this path, or of so many letters behind its folder, in a program such as Blender's."""
    count = len(str(path.parent)) + 1 + max(letters, len(path.name))
    return sys.platform == "win32" and count > LONGEST and not ctypes.WinDLL("ntdll").RtlAreLongPathsEnabled()


def refuse_long(path: Path, *, is_written: bool = False) -> None:
    """Refuse a path that is too long for Windows, if it `is_written` then with its draft; raises `FileError`.

    The system itself would say that there is no such file.
    """
    letters = max(len(path.name), len(unfinished(path).name) + len(OF_BLENDER) if is_written else 0)
    if is_long(path, letters):
        raise FileError(
            'The folder of "{path}" is too long for Windows: {count} letters, where {most} are possible. '
            "Use a folder with a shorter path, or give it a drive of its own.",
            path=path,
            count=len(str(path.parent)),
            most=LONGEST - letters - 1,
        )


STREAM = re.compile(r"(?:/dev/fd|/proc/self/fd)/(\d{1,4})|/dev/std(in|out|err)")

PATIENCE = 10.0
"""Seconds to wait for another process that writes the same text; it needs a few thousandths."""


def write_text(goal: Path, text: str) -> None:
    """Write a text file, whole or not at all, links followed; into a pipe or a device, which stay what they are.

    What UTF-8 cannot hold (parts of file names that are no text) is written with a backslash. Raises `FileError`.
    """
    try:
        stream_number = open_stream(goal)
        if stream_number is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            _write_all(stream_number, text.encode("utf-8", "backslashreplace"))
            return
        if is_stream(goal):
            with goal.open("a", encoding="utf-8", errors="backslashreplace", newline="") as stream:
                stream.write(text)
            return
        goal = followed(goal)
        with undisturbed(), claimed(goal, patience=PATIENCE, everything=False):
            _write_and_publish(goal, text)
    except OSError as error:
        raise refused_by_system(goal, "written", error) from error


def is_stream(path: Path) -> bool:
    """Whether to write into what is there, not replace it: a pipe or a device that takes text as it comes."""
    if open_stream(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def open_stream(path: Path) -> int | None:
    """The number of the stream that this process was started with and a name such as `/dev/stderr` means.

    It may be a file that the shell has opened to append to; opened anew, it would be replaced.
    """
    found = STREAM.fullmatch(str(path))
    return None if found is None else int(found[1] or {"in": 0, "out": 1, "err": 2}[found[2]])


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def one_line(text: str) -> str:
    """The text as one line that any stream can show: what is no letter or sign, such as a new line, as its number."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def showable(text: str, stream: TextIO) -> str:
    """The text as the stream can write it; what its encoding does not have, or no encoding has, as its number."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def publish(draft: Path, goal: Path) -> list[str]:
    """Move a complete and flushed file to its goal in one step, and make the move itself lasting.

    Returns a sentence for each property of the file that was there before and could not be kept.
    """
    lost = _keep_properties(goal, draft) if goal.exists() else []
    _replace(draft, goal)
    if os.name == "posix":  # Windows has no handle on a folder that could be flushed.
        folder = os.open(goal.parent, os.O_RDONLY)
        try:
            flush_to_disk(folder)
        finally:
            os.close(folder)
    return lost


def flush_to_disk(handle: int) -> None:
    """What `fsync` promises; on macOS that takes a call of its own, since there `fsync` only reaches the drive's memory."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - POSIX only

        with contextlib.suppress(OSError):  # Not every file system there knows it.
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _replace(draft: Path, goal: Path) -> None:
    """Move a draft over its goal; on Windows, a file that somebody has open for a moment is tried again for some seconds."""
    end = time.monotonic() + (PATIENCE if os.name == "nt" else 0.0)
    while True:
        try:
            draft.replace(goal)
        except PermissionError as error:
            if time.monotonic() > end:
                if os.name != "nt":
                    raise
                raise AgainError('"{goal}" is open in another program. Close it there, and try again.', goal=goal) from error
            time.sleep(LOOK_AGAIN)
        else:
            return


def _write_and_publish(goal: Path, text: str) -> None:
    draft = unfinished(goal)
    try:
        with draft.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            flush_to_disk(file.fileno())
        publish(draft, goal)
    finally:
        draft.unlink(missing_ok=True)


def _keep_properties(goal: Path, draft: Path) -> list[str]:
    """Give the draft the owner, group, permissions and attributes that the goal has; never through a link in its place."""
    before, lost = goal.stat(), list[str]()
    handle = os.open(draft, os.O_RDWR | SAFELY)
    try:
        # Where the system changes open files, nobody can put something else in the draft's place meanwhile.
        to: int | Path = handle if os.chmod in os.supports_fd else draft
        if hasattr(os, "chown"):
            for owner, group, what in ((before.st_uid, -1, "owner"), (-1, before.st_gid, "group")):
                try:
                    os.chown(to, owner, group)
                except OSError:
                    lost.append(f'The {what} of "{goal}" could not be kept, since only an administrator may set it.')
        try:
            os.chmod(to, stat.S_IMODE(before.st_mode))  # noqa: PTH101 - an open file
            for name in os.listxattr(goal) if hasattr(os, "listxattr") else ():
                with contextlib.suppress(OSError):  # Some are the system's own.
                    os.setxattr(to, name, os.getxattr(goal, name))
        except OSError as error:
            lost.append(f'The permissions of "{goal}" could not be kept ({error.strerror}).')
    finally:
        os.close(handle)
    if before.st_nlink > 1:
        lost.append(f'"{goal}" had {before.st_nlink} names (hard links). The others keep the file as it was before.')
    return lost
