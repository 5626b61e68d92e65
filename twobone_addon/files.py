"""The door: every file that an option names is read and written here, whoever asks for it: operator, command or batch.

Reading has limits of size and depth and a single error. Writing is a comparison: a finished draft takes the place of exactly
what its writer has read, or of nothing. Whatever else lies there by then, such as somebody's work of the last hour, is kept,
and so is the draft. Links are refused, since they lead to files that nobody named.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import platform
import re
import stat
import sys
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import AgainError, FileError, refused_by_system
from .said import Sentence

NOTHING = ""
"""The digest of a file that does not exist."""

LARGEST = 256 << 20
"""Greatest size in bytes of a file that is read whole; an hour of contacts or a report of a thousand clips has a tenth."""

DEEPEST = 60
"""Greatest depth of tables and lists in each other; reports have 8."""

DOTTED = re.compile(rf"(?<![\w-])(?:(?:[\w-]++|\"[^\"\n]*\"|'[^'\n]*')[ \t]*+\.[ \t]*+){{{DEEPEST}}}")
"""A dotted TOML key that is nested too deeply; tomllib takes time by the square of its length."""

SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open files in shared folders: follow no link, wait for no pipe, pass nothing on to child processes."""

LEFT = re.compile(r"(\d+) (\S*) (\.twobone-[0-9a-f]{16}-[0-9a-f]{32}\.unfinished)")
"""Contents of a lock: process, computer, and the name of the draft."""

OLD = 24 * 3600.0
"""Age in seconds from which a lock of another computer has no owner; no file takes that long to write."""

PATIENCE = 10.0
"""Seconds to wait for a lock of a run that writes a text, or on Windows for a program that has the goal open."""

LOOK_AGAIN = 0.05
"""Seconds between two attempts."""

OF_BLENDER = "@"
"""Suffix that Blender adds to the name of a file while it writes it."""


def followed(path: Path) -> Path:
    """Return the absolute path with links followed; a link to itself is kept.

    On Windows only if the path itself is a link: otherwise a mapped drive would turn into its server, which may be unreachable.
    """
    if sys.platform == "win32" and not path.is_symlink():
        return Path(os.path.abspath(path))  # noqa: PTH100 - without `resolve`
    return Path(os.path.realpath(path))


def content_of(path: Path) -> str:
    """Return the SHA-256 of a regular file; `NOTHING` if there is none or it cannot be read. Pipes are never opened."""
    try:
        if not path.is_file():
            return NOTHING
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return NOTHING


def read(path: Path, largest: int = LARGEST) -> bytes:
    """Return the contents of a regular file of at most `largest` bytes; raises `FileError`."""
    try:
        if path.exists() and not path.is_file():
            raise FileError('Path "{path}" is not a file. Name a file.', path=path)
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        raise FileError('File "{path}" cannot be read ({reason}). Name a file that exists.', path=path, reason=reason) from error
    if len(data) > largest:
        raise FileError('File "{path}" is larger than {most} MB. Name another file.', path=path, most=f"{largest >> 20}")
    return data


def read_table(path: Path) -> Any:  # noqa: C901 - one list of what is wrong
    """Return the contents of a JSON or TOML file in UTF-8, by its ending; raises `FileError` that says where it is wrong."""
    data = read(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError('File "{path}", line {line}: not UTF-8 text. Save the file in UTF-8.', path=path, line=line) from error

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            name = next(name for name in made if names.count(name) > 1)
            raise FileError('File "{path}" has the key "{key}" twice in one place. Remove one of them.', path=path, key=name[:60])
        return made

    def no_constant(name: str) -> None:
        raise FileError('File "{path}" holds {name}, not a valid JSON number. Use a finite number.', path=path, name=name)

    def finite(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            no_constant(digits[:30])
        return value

    try:
        if path.suffix.lower() != ".toml":
            table = json.loads(text, object_pairs_hook=unique, parse_constant=no_constant, parse_float=finite)
        elif DOTTED.search(text):
            raise RecursionError  # noqa: TRY301 - what tomllib would raise after minutes
        else:
            table = tomllib.loads(text)
        level = [table]
        for _ in range(DEEPEST + 1):
            inner = [value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)]
            level = [value for values in inner for value in values]
        if level:
            raise RecursionError  # noqa: TRY301 - whoever goes through the data would raise it
    except json.JSONDecodeError as error:
        values = {"line": error.lineno, "column": error.colno, "reason": error.msg}
        raise FileError(
            'File "{path}", line {line}, column {column}: not JSON ({reason}). Correct that place.', path=path, **values
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise FileError('File "{path}" is not TOML: {reason}. Correct that place.', path=path, reason=str(error)[:200]) from error
    except RecursionError as error:
        raise FileError('File "{path}" is nested too deeply: more than {most} levels.', path=path, most=DEEPEST) from error
    except ValueError as error:  # Python does not read integers of thousands of digits.
        raise FileError('File "{path}" holds a number of thousands of digits. Use a number that fits.', path=path) from error
    return table


def one_line(text: str) -> str:
    """Return the text as one line, with unprintable characters such as newlines and escapes written as escapes."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def refuse_unwritable(goal: Path, is_own: Callable[[Path], bool], what: str) -> str:
    """Refuse a path to write to, before any work is done for it; return the digest of what lies there and may be replaced.

    is_own : whether the file there is an earlier output of the same kind
    what : that kind, such as "an earlier report"
    """
    if goal.is_symlink():
        raise FileError('File "{path}" is a link, and links are not written through. Name the file itself.', path=goal)
    if goal.is_dir():
        raise FileError('Path "{path}" is a folder. Name a file to write to.', path=goal)
    if not goal.parent.is_dir():
        raise FileError('The folder "{folder}" does not exist. Make it first, or write elsewhere.', folder=goal.parent)
    if not _may(goal.parent, os.W_OK | os.X_OK):
        raise FileError(
            'The folder "{folder}" may not be written to by this user. Allow it, or write elsewhere.', folder=goal.parent
        )
    if not goal.exists():
        return NOTHING
    status = goal.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FileError('Path "{path}" is a pipe, a socket or a disk, not a file. Name a file to write to.', path=goal)
    if not (_may(goal, os.W_OK) and status.st_mode & 0o222):
        raise FileError('File "{path}" is read-only. Make it writable, or write to another file.', path=goal)
    if status.st_size and not is_own(goal):
        raise FileError('File "{path}" is not {what}, so it is not replaced. Name another file.', path=goal, what=Sentence(what))
    return content_of(goal)


def write(goal: Path, data: bytes, is_own: Callable[[Path], bool], what: str) -> list[str]:
    """Write a file, whole or not at all, if there is none or one that `refuse_unwritable` lets replace.

    Returns a sentence for each property of the replaced file that could not be kept. Raises `FileError` if the file may not
    be written, and `AgainError`, which names the draft that is kept, if it has become one that may not be replaced.
    """
    goal = Path(os.path.abspath(goal))  # noqa: PTH100 - without following links
    try:
        with locked(goal, patience=PATIENCE) as lock:
            with os.fdopen(os.open(lock.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o666), "wb") as file:
                file.write(data)
                file.flush()
                flush_to_disk(file.fileno())
            try:
                expects = refuse_unwritable(goal, is_own, what)
            except FileError as error:  # It was not so before the work began.
                raise _kept(lock) from error
            return publish(lock, expects)
    except OSError as error:
        raise refused_by_system(goal, "written", error) from error


@dataclass(frozen=True, slots=True)
class Lock:
    """The right to write one file, and the name under which to write it first."""

    path: Path
    goal: Path
    draft: Path
    """A name beside the goal: hidden, unique, and of the same short length for any goal."""

    @property
    def content(self) -> bytes:
        """What the lock's file holds as long as it is held."""
        return f"{owner()} {self.draft.name}".encode()

    def is_held(self) -> bool:
        """Whether nobody has removed the lock."""
        return _content_of_lock(self.path) == self.content


@contextmanager
def locked(goal: Path, *, patience: float = 0.0, role: str = "") -> Iterator[Lock]:
    """Hold the lock of a file during the block: a file beside it that only one process can make.

    What a killed run has left of that file is removed. Raises `AgainError` if another run still has it after `patience` seconds.
    `role` distinguishes different locks of one file.
    """
    stem = f".twobone-{hashlib.sha256(os.fsencode(role + goal.name)).hexdigest()[:16]}"
    lock = Lock(goal.with_name(f"{stem}.lock"), goal, goal.with_name(f"{stem}-{uuid.uuid4().hex}.unfinished"))
    end = time.monotonic() + patience
    while not _made(lock):
        if _is_left_behind(lock.path, stem):
            continue
        if time.monotonic() > end:
            raise AgainError(
                '"{goal}" is being written by another run. Wait for it; if none is running, remove "{lock}".',
                goal=goal,
                lock=lock.path,
            )
        time.sleep(LOOK_AGAIN)
    try:
        yield lock
    finally:
        for path in (lock.draft, lock.draft.with_name(lock.draft.name + OF_BLENDER)):
            _remove(path)
        if lock.is_held():
            _remove(lock.path)


def _made(lock: Lock) -> bool:
    try:
        handle = os.open(lock.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o666)
    except FileExistsError:
        return False
    except OSError as error:
        raise refused_by_system(lock.goal.parent, "written to", error) from error
    try:
        os.write(handle, lock.content)
    except OSError as error:
        _remove(lock.path)
        raise refused_by_system(lock.goal, "written", error) from error
    finally:
        os.close(handle)
    return True


def _content_of_lock(path: Path) -> bytes | None:
    """Return what a lock holds, `None` if it is gone; raises `FileError` for a link, a pipe or a folder in its place."""
    try:
        handle = os.open(path, os.O_RDONLY | SAFELY)
    except FileNotFoundError:
        return None
    except OSError:
        handle = -1
    try:
        status = os.fstat(handle) if handle >= 0 else None
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise FileError('File "{path}" is a link or not a regular file, so it is no lock. Remove it.', path=path)
        return os.read(handle, 1000)
    finally:
        if handle >= 0:
            os.close(handle)


def _is_left_behind(path: Path, stem: str) -> bool:
    """Whether a lock is gone, or its process has ended without removing it; then it is removed, with the draft."""
    content = _content_of_lock(path)
    if content is None:
        return True
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return True
    held = LEFT.fullmatch(content.decode(errors="replace"))
    if held is None:
        is_over = age > PATIENCE  # The process was killed between making and filling it.
    elif held[2] == _place() and os.name == "posix":
        is_over = _has_ended(int(held[1]))
    else:
        is_over = age > OLD
    if not is_over or _content_of_lock(path) != content:
        return False
    if held is not None and held[3].startswith(f"{stem}-"):
        for name in (held[3], held[3] + OF_BLENDER):
            _remove(path.with_name(name))
    _remove(path)
    return True


@functools.cache
def _place() -> str:
    """Where numbers of processes mean these processes: computer, start of its system, and the container in it."""
    parts = [re.sub(r"\s", "_", platform.node())]
    with contextlib.suppress(OSError):  # Only Linux tells both; containers that share a name differ in one of them.
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(os.readlink("/proc/self/ns/pid"))  # noqa: PTH115 - no path
    return "/".join(parts)


def owner() -> str:
    """Text that tells this process from all others, for what it must remove at its end."""
    return f"{os.getpid()} {_place()}"


def has_owner_ended(text: str) -> bool:
    """Whether the process whose `owner` text this is has surely ended; of other computers and containers nobody knows."""
    number, _, place = text.partition(" ")
    return number.isdecimal() and place == _place() and os.name == "posix" and _has_ended(int(number))


def _has_ended(pid: int) -> bool:
    """Whether no process has this number, or one that has ended and waits for its parent, in a container perhaps for ever."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # It is another user's.
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])
    except OSError:  # Gone in between, or a system without such files, where what has ended does not wait long.
        return Path("/proc/self/stat").exists()


def publish(lock: Lock, expects: str) -> list[str]:
    """Move the lock's complete and flushed draft to its goal, if that still has the digest `expects`, or is not there.

    Returns a sentence for each property of the replaced file that could not be kept. Raises `AgainError` otherwise: then the
    draft is kept beside the goal, under a name that the error tells.
    """
    goal, draft = lock.goal, lock.draft
    is_there = goal.is_symlink() or goal.exists()
    if not lock.is_held() or goal.is_symlink() or is_there != (expects != NOTHING) or content_of(goal) != expects:
        raise _kept(lock)
    lost = _keep_properties(goal, draft) if expects else []
    if expects:
        _replace(draft, goal)
    else:
        try:
            os.link(draft, goal)  # Unlike a rename, this never replaces anything.
        except FileExistsError:
            raise _kept(lock) from None
        except OSError:  # The file system has no hard links.
            draft.rename(goal)
    if os.name == "posix":  # Windows has no folder handle that could be flushed.
        folder = os.open(goal.parent, os.O_RDONLY)
        try:
            flush_to_disk(folder)
        finally:
            os.close(folder)
    return lost


def _kept(lock: Lock) -> AgainError:
    kept = lock.goal.with_name(f"{lock.goal.name[:50]}.unsaved-{uuid.uuid4().hex[:8]}")
    lock.draft.rename(kept)
    return AgainError(
        '"{goal}" has changed since this run looked at it, so it is kept. The result is in "{draft}". Compare the two, and keep '
        "one.",
        goal=lock.goal,
        draft=kept,
    )


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


def flush_to_disk(handle: int) -> None:
    """Flush a file to the disk; macOS needs `F_FULLFSYNC`, since `fsync` only reaches the drive's cache there."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - POSIX only

        with contextlib.suppress(OSError):  # Some file systems do not support it.
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


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


def _may(path: Path, mode: int) -> bool:
    """Whether the effective user has access with this `mode`, a mask of `os.access`."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # Another user's, or already removed.
        path.unlink()
