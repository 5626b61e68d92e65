"""Lock files (claims) for files being written, and removal of what killed processes left behind.

A claim is a small hidden file beside the goal, locked while its process lives: the system releases the lock when the
process ends, however it ends. So a claim that can be locked has no owner, and its drafts are litter. This holds on POSIX
(`flock`) and on Windows (`msvcrt`); on a file system without locks, drafts count as litter once they are old.

The names of claims can be guessed, and others may have write access to the folder: a symbolic link or a file with several
hard links in a claim's place is never opened for writing, since that could be used to empty any of our files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..outcomes import AgainError, FileError, refused_by_system

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

CLAIM = "claim"
UNFINISHED = "unfinished"
"""File extensions of claims, and of drafts (files being written)."""

OLD = 24 * 3600.0
"""Age in seconds from which a draft is litter on a file system without locks; no file takes that long to write."""

LOCKED_BYTE = 1 << 30
"""Offset of the byte that Windows locks: past the end of the file, since locked bytes cannot be read there."""

TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK)}
"""Error numbers that mean that another process holds the lock."""

ENOUGH = 5.0
"""Seconds after which to give up a claim whose file keeps being replaced or cannot be identified."""

SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open claims: do not follow symbolic links, do not block on pipes, and do not pass the handle to child processes."""

LOOK_AGAIN = 0.05
"""Seconds between two attempts to get a claim."""


def unfinished(goal: Path) -> Path:
    """Return a new name for a draft beside the goal: hidden, unique, and of the same short length for any goal."""
    return goal.with_name(f"{_stem(goal)}-{uuid.uuid4().hex}.{UNFINISHED}")


@contextmanager
def claimed(goal: Path, *, role: str = "", patience: float = 0.0, everything: bool = True) -> Iterator[bool]:
    """Hold an exclusive claim on `goal` during the block, and remove what killed processes left in its folder.

    `role` distinguishes different claims on one file. Raises `FileError` if another process still has the claim after
    `patience` seconds. Without `everything`, only the drafts of this file are removed. Yields whether the claim is certain:
    it is not on a file system without locks.
    """
    stem = _stem(goal, role)
    path = goal.with_name(f"{stem}.{CLAIM}")
    handle, is_locked = _claim(path, goal, time.monotonic() + patience)
    try:
        if is_locked:
            _remove_drafts(goal.parent, stem)
        if everything:
            remove_litter(goal.parent)
        yield is_locked
    finally:
        if is_locked:
            _remove_drafts(goal.parent, stem)
        _release(path, handle)


def remove_litter(folder: Path) -> None:
    """Remove the claims and drafts of processes that have ended, but not those of running ones."""
    drafts = _hidden_files(folder, UNFINISHED)  # Listed before the claims, since a process claims a file before it drafts it.
    living = set()
    for path in _hidden_files(folder, CLAIM):
        try:
            handle = _opened(path)
        except OSError:
            living.add(path.stem)
            continue
        free = _lock(handle)
        if free:
            _remove_drafts(folder, path.stem)
            _release(path, handle)
            continue
        os.close(handle)
        if free is False or not _is_old(path):
            living.add(path.stem)
        else:
            _remove(path)
    for draft in drafts:
        if draft.name.rpartition("-")[0] not in living:
            _remove(draft)


def is_abandoned(goal: Path) -> bool:
    """Whether the process that claimed this file has ended without releasing it."""
    path = goal.with_name(f"{_stem(goal)}.{CLAIM}")
    try:
        handle = _opened(path)
    except OSError:
        return False
    free = _lock(handle)
    os.close(handle)
    return bool(free) or (free is None and _is_old(path))


def _claim(path: Path, goal: Path, end: float) -> tuple[int, bool]:
    """Open and lock the claim at `path` before the time `end`; return its handle and whether it is certainly exclusive."""
    owner = f"process {os.getpid()} on {platform.node()}"
    mark = f"{owner} {uuid.uuid4().hex}".encode()
    given_up = max(end, time.monotonic() + ENOUGH)
    while True:
        try:
            handle = _opened(path, os.O_CREAT)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.EISDIR}:
                raise FileError(
                    '"{path}" is a link or not a regular file, so "{goal}" cannot be claimed. Remove it.',
                    path=path,
                    goal=goal,
                ) from error
            raise refused_by_system(goal.parent, "written to", error) from error
        free = _lock(handle)
        if free is not False and _is_still(path, handle, mark):
            return handle, bool(free)
        content = os.pread(handle, 200, 0).decode(errors="replace") if hasattr(os, "pread") else ""
        os.close(handle)
        if free is False and time.monotonic() > end:
            other = content.rpartition(" ")[0] or "another process"
            raise AgainError(
                '"{goal}" is being written by another run ({owner}). Wait for it, or save elsewhere.', goal=goal, owner=other
            )
        if time.monotonic() > given_up:
            raise AgainError(
                '"{goal}" cannot be claimed, because "{path}" keeps changing. Try again, or save elsewhere.',
                goal=goal,
                path=path,
            )
        time.sleep(LOOK_AGAIN)


def _opened(path: Path, extra_flags: int = 0) -> int:
    """Open a claim and return its handle; raises `OSError` unless it is a regular file with a single hard link."""
    try:
        handle = os.open(path, os.O_RDWR | SAFELY | extra_flags, 0o666)
    except PermissionError as refused:  # Another user's claim: reading is enough to see whether it is locked.
        try:
            handle = os.open(path, os.O_RDONLY | SAFELY)
        except FileNotFoundError:
            raise refused from None
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:  # 0 if its owner has just removed it.
        return handle
    os.close(handle)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _is_ours(handle: int) -> bool:
    return not hasattr(os, "getuid") or os.fstat(handle).st_uid == os.geteuid()


def _lock(handle: int) -> bool | None:
    """Lock an open claim; return `False` if another process has it, `None` if the file system does not support locks."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in TAKEN else None
    return True


def _is_still(path: Path, handle: int, mark: bytes) -> bool:
    """Whether `path` still names the locked file: its last owner may have removed it in the meantime.

    Writes `mark` into the file and compares contents, since some network file systems give one file two inode numbers; the
    mark also tells others who owns the claim. Another user's claim is only compared by inode.
    """
    try:
        other = os.open(path, os.O_RDONLY | SAFELY)
    except OSError:
        return False
    try:
        if _is_ours(handle):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, mark)
            return os.read(other, len(mark) + 1) == mark
    except OSError:  # Such as a full disk.
        pass
    else:
        return os.path.samestat(os.fstat(other), os.fstat(handle))
    finally:
        os.close(other)
    return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(handle))


def _release(path: Path, handle: int) -> None:
    if sys.platform == "win32":  # Windows cannot remove open files.
        os.close(handle)
        _remove(path)
    else:
        _remove(path)
        os.close(handle)


def _stem(goal: Path, role: str = "") -> str:
    return f".twobone-{hashlib.sha256(os.fsencode(role + goal.name)).hexdigest()[:16]}"


def _remove_drafts(folder: Path, stem: str) -> None:
    for draft in _hidden_files(folder, UNFINISHED):
        if draft.name.startswith(f"{stem}-"):
            _remove(draft)


def _hidden_files(folder: Path, extension: str) -> list[Path]:
    """List our hidden files with this extension; Blender appends `@` to the name of a file while it writes it."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []
    return [folder / name for name in names if name.startswith(".twobone-") and name.rstrip("@").endswith(f".{extension}")]


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > OLD
    except OSError:
        return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # Another user's, or already removed.
        path.unlink()
