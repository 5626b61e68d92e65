"""Who is writing which file, and what was left by those who were killed while they did.

A claim is a small hidden file beside the goal, locked for as long as its process lives: the system ends the lock with the
process, however that ended. So a claim that can be locked is nobody's, and the drafts that go with it are litter. This
holds on POSIX (`flock`) and on Windows (`msvcrt`); on a file system without locks, drafts become litter with age.

The names of claims can be guessed, and others may write to the folder: a link or a file with several names that lies
there instead is never opened for writing, or it would be a way to have any file of ours emptied.
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
"""Last parts of the names of claims, and of files that are being written."""

OLD = 24 * 3600.0
"""Seconds after which a draft is litter where the file system knows no locks: longer than any file is being written."""

LOCKED_BYTE = 1 << 30
"""Where Windows locks: past the end, since nobody may read what is locked there."""

TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK)}
ENOUGH = 5.0
"""Seconds after which a claim that comes and goes, or that cannot be told from another, is given up."""

SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""How claims are opened: never through a link, without waiting for whoever reads a pipe, and not for child processes."""

LOOK_AGAIN = 0.05
"""Seconds between two tries to get a claim that is worth waiting for."""


def unfinished(goal: Path) -> Path:
    """A new name beside the goal, hidden, short whatever the goal is called, and unlike any other process's."""
    return goal.with_name(f"{_stem(goal)}-{uuid.uuid4().hex}.{UNFINISHED}")


@contextmanager
def claimed(goal: Path, *, role: str = "", patience: float = 0.0, everything: bool = True) -> Iterator[bool]:
    """While the block runs, no other process claims `goal`; what killed processes left in its folder is removed.

    `role` tells different claims on one file apart. Raises `FileError` when another process still has the claim after
    `patience` seconds. Without `everything`, only what was left of this very file is removed. Yields whether it is sure:
    where the file system knows no locks, nobody can tell.
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
    """Remove the claims and drafts of processes that are no more; those of living ones stay."""
    drafts = _named(folder, UNFINISHED)  # First: whoever has a draft has had a claim before.
    living = set()
    for path in _named(folder, CLAIM):
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
    """Whether a process had claimed this file and is no more."""
    path = goal.with_name(f"{_stem(goal)}.{CLAIM}")
    try:
        handle = _opened(path)
    except OSError:
        return False
    free = _lock(handle)
    os.close(handle)
    return bool(free) or (free is None and _is_old(path))


def _claim(path: Path, goal: Path, end: float) -> tuple[int, bool]:
    """The open claim, and whether it is surely ours alone."""
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
        said = os.pread(handle, 200, 0).decode(errors="replace") if hasattr(os, "pread") else ""
        os.close(handle)
        if free is False and time.monotonic() > end:
            whose = said.rpartition(" ")[0] or "another process"
            raise AgainError(
                '"{goal}" is being written by another run ({owner}). Wait for it, or save elsewhere.', goal=goal, owner=whose
            )
        if time.monotonic() > given_up:
            raise AgainError(
                '"{goal}" cannot be claimed, because "{path}" keeps changing. Try again, or save elsewhere.',
                goal=goal,
                path=path,
            )
        time.sleep(LOOK_AGAIN)


def _opened(path: Path, more: int = 0) -> int:
    """Open a claim: a plain file with this one name. Raises `OSError`."""
    try:
        handle = os.open(path, os.O_RDWR | SAFELY | more, 0o666)
    except PermissionError as refused:  # Another user's: reading is enough to see whether it is locked.
        try:
            handle = os.open(path, os.O_RDONLY | SAFELY)
        except FileNotFoundError:
            raise refused from None
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:  # None: its owner has just removed it.
        return handle
    os.close(handle)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _is_ours(handle: int) -> bool:
    return not hasattr(os, "getuid") or os.fstat(handle).st_uid == os.geteuid()


def _lock(handle: int) -> bool | None:
    """Lock an open claim: `False` where another process has it, `None` where the file system knows no locks."""
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
    """Whether the file that was locked is still the one of that name: its last owner may have removed it in between.

    Told by what is in it, which also tells others who we are: some network file systems number one file in two ways.
    Another user's is only looked at.
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
    if sys.platform == "win32":  # Open files cannot be removed there.
        os.close(handle)
        _remove(path)
    else:
        _remove(path)
        os.close(handle)


def _stem(goal: Path, role: str = "") -> str:
    return f".twobone-{hashlib.sha256(os.fsencode(role + goal.name)).hexdigest()[:16]}"


def _remove_drafts(folder: Path, stem: str) -> None:
    for draft in _named(folder, UNFINISHED):
        if draft.name.startswith(f"{stem}-"):
            _remove(draft)


def _named(folder: Path, ending: str) -> list[Path]:
    """Our hidden files of one kind; Blender adds a letter to the name of what it is just writing."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []
    return [folder / name for name in names if name.startswith(".twobone-") and name.rstrip("@").endswith(f".{ending}")]


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > OLD
    except OSError:
        return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # Somebody else's, or gone already.
        path.unlink()
