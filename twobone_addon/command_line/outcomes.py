"""How the command ends: exit codes, outcomes, and errors in the request or its files."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from ..errors import TwoBoneError
from ..settings import BakeSettings


class ExitCode(IntEnum):
    """Exit codes of the command."""

    DONE = 0
    COULD_NOT = 1
    """The file lacks something the command needs, or an operation failed. Nothing was saved."""
    USAGE = 2
    """The flags or the job file are invalid. Nothing was saved."""
    STRICT = 3
    """With `--strict`: the result is not good enough. The report was written, the shot was not saved."""
    INCOMPLETE = 4
    """Something that moves the chain is missing, such as a library. The report was written, the shot was not saved."""
    STOPPED = 5
    """Stopped by the user or the system (Ctrl-C, SIGTERM). No partial output is left."""
    AGAIN = 6
    """Another run is writing the file, or the disk is full: the same command may succeed later. Nothing was saved."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a sub-command that did not raise."""

    code: ExitCode
    document: dict[str, Any] = field(default_factory=dict)
    """The JSON document for `--report`; everything in it that users need is also printed."""
    settings: Sequence[BakeSettings] = ()
    """The effective settings of each chain."""
    source: dict[str, str] | None = None
    """Path and SHA-256 of the opened file, taken before anything was saved."""
    saved: Path | None = None
    """The .blend file that was saved."""


class UsageError(TwoBoneError):
    """Invalid flags or an invalid job file."""


class FileError(TwoBoneError):
    """A file that cannot be opened, read or written."""


class AgainError(FileError):
    """A temporary obstacle, so that a retry may succeed: another run writes the same file, or the disk is full."""


class StoppedError(TwoBoneError):
    """Stopped by the user or the system (Ctrl-C, SIGTERM)."""


FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
NO_RIGHT = {errno.EACCES, errno.EPERM}


def refused_by_system(path: Path, done: str, error: OSError) -> FileError:
    """Return the error for a path that could not be `done` (a participle such as "written" or "made"), with a remedy."""
    values = {"path": str(path), "done": done, "reason": error.strerror or str(error)}
    if error.errno in FULL:
        return AgainError('"{path}" cannot be {done}, because the disk is full. Make room, and try again.', **values)
    if error.errno in NO_RIGHT:
        return FileError(
            '"{path}" may not be {done}: this user lacks permission. Change its permissions, or choose another.', **values
        )
    if error.errno == errno.EROFS:
        return FileError('"{path}" cannot be {done}, because its disk is read-only. Choose another.', **values)
    if error.errno == errno.ENOENT:
        return FileError(
            '"{path}" cannot be {done}, because its folder does not exist. Make it first, or choose another.', **values
        )
    return FileError('"{path}" cannot be {done} ({reason}). Choose another.', **values)
