"""Atomic writing of text files (a draft beside the goal, moved into place when complete), and SHA-256 of file contents."""

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
"""Maximum length of a path that Windows opens for programs that do not declare long path support, as Blender does not."""

OF_BLENDER = "@"
"""Suffix that Blender adds to the name of a file while it writes it."""

AT_ONCE = 8
"""Maximum number of files read in parallel; reading waits for the disk or the network, not for the CPU."""


def content_of(path: Path) -> str:
    """Return the SHA-256 of a regular file; empty if there is none or it cannot be read. Pipes are never opened."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def contents_of(paths: Collection[Path], timeout: float | None) -> dict[Path, str]:
    """Return the `content_of` each path; once no file has finished for `timeout` seconds, the rest count as unreadable."""
    found = dict.fromkeys(paths, "")
    waiting, read = queue.SimpleQueue[Path](), queue.SimpleQueue[tuple[Path, str]]()
    for path in found:
        waiting.put(path)
    for _ in range(min(len(found), AT_ONCE, (os.cpu_count() or 1) + 1)):
        # A daemon thread, since a hanging file system must not keep this process alive.
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
    """Return the absolute path with links followed; a link to itself is kept.

    On Windows only if the path itself is a link: otherwise a mapped drive would turn into its server, which may be unreachable.
    """
    if sys.platform == "win32" and not path.is_symlink():
        return Path(os.path.abspath(path))  # noqa: PTH100 - without `resolve`
    return Path(os.path.realpath(path))


def is_long(path: Path, letters: int = 0) -> bool:
    """Whether the path, or a name of at least this many letters in its folder, is too long for Windows to open in Blender."""
    count = len(str(path.parent)) + 1 + max(letters, len(path.name))
    return sys.platform == "win32" and count > LONGEST and not ctypes.WinDLL("ntdll").RtlAreLongPathsEnabled()


def refuse_long(path: Path, *, is_written: bool = False) -> None:
    """Refuse a path that is too long for Windows, or, if it `is_written`, whose draft is; raises `FileError`.

    Windows itself would only report that the file does not exist.
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
"""Seconds to wait for another process that has the same file; writing takes it a few milliseconds."""


def write_text(goal: Path, text: str) -> None:
    """Write a text file atomically, links followed; a pipe or a device is written to, not replaced.

    Characters that UTF-8 cannot encode (from undecodable file names) are written as backslash escapes. Raises `FileError`.
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
    """Whether the path is a pipe or a character device, to be written to rather than replaced."""
    if open_stream(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def open_stream(path: Path) -> int | None:
    """Return the number of the inherited stream that a name such as `/dev/stderr` means; `None` for other names.

    Write to that stream instead of opening the name: the shell may have opened a file for appending, which would be replaced.
    """
    found = STREAM.fullmatch(str(path))
    return None if found is None else int(found[1] or {"in": 0, "out": 1, "err": 2}[found[2]])


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def one_line(text: str) -> str:
    """Return the text as one line, with unprintable characters such as newlines written as escapes."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def showable(text: str, stream: TextIO) -> str:
    """Return the text with characters that the stream's encoding does not have written as escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def publish(draft: Path, goal: Path) -> list[str]:
    """Move a complete and flushed draft to its goal atomically, and flush the folder so that the move is permanent.

    Returns a sentence for each property of the replaced file that could not be kept.
    """
    lost = _keep_properties(goal, draft) if goal.exists() else []
    _replace(draft, goal)
    if os.name == "posix":  # Windows has no folder handle that could be flushed.
        folder = os.open(goal.parent, os.O_RDONLY)
        try:
            flush_to_disk(folder)
        finally:
            os.close(folder)
    return lost


def flush_to_disk(handle: int) -> None:
    """Flush a file to the disk; macOS needs `F_FULLFSYNC`, since `fsync` only reaches the drive's cache there."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - POSIX only

        with contextlib.suppress(OSError):  # Some file systems do not support it.
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _replace(draft: Path, goal: Path) -> None:
    """Move a draft over its goal; on Windows, retry for `PATIENCE` seconds while another program has the goal open."""
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
    """Copy owner, group, permissions and extended attributes from the goal to the draft; refuse a link in the draft's place.

    Returns a sentence for each that could not be kept, and for other hard links of the goal.
    """
    before, lost = goal.stat(), list[str]()
    handle = os.open(draft, os.O_RDWR | SAFELY)
    try:
        # With an open file, where the system supports it, nobody can swap the draft meanwhile.
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
                with contextlib.suppress(OSError):  # Some are reserved for the system.
                    os.setxattr(to, name, os.getxattr(goal, name))
        except OSError as error:
            lost.append(f'The permissions of "{goal}" could not be kept ({error.strerror}).')
    finally:
        os.close(handle)
    if before.st_nlink > 1:
        lost.append(f'"{goal}" had {before.st_nlink} names (hard links). The others keep the file as it was before.')
    return lost
