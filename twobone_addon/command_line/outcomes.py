"""How the command ends: exit codes, and what can be wrong with the request itself."""

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
    """What the shell, the batch and the farm get to know."""

    DONE = 0
    COULD_NOT = 1
    """The file does not have what was asked for, or something failed on the way. Nothing was saved."""
    USAGE = 2
    """Flags or job file make no sense. Nothing was opened."""
    STRICT = 3
    """With `--strict`: the result is not good enough. The report was written, the shot was not saved."""
    INCOMPLETE = 4
    """Something that moves the chain is missing, such as a library. The report was written, the shot was not saved."""
    STOPPED = 5
    """Somebody asked for an end (Ctrl-C, SIGTERM). Nothing is left half done."""
    AGAIN = 6
    """Another run has the file, or the disk is full: the same command may do later. Nothing was saved."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a sub-command ended, where it did not raise."""

    code: ExitCode
    document: dict[str, Any] = field(default_factory=dict)
    """What `--report` gets; nothing a person reads is only there."""
    settings: Sequence[BakeSettings] = ()
    """The effective settings of each chain."""
    source: dict[str, str] | None = None
    """Path and SHA-256 of the file that was opened, as it was before anything was saved."""
    saved: Path | None = None
    """The file that was written."""


class UsageError(TwoBoneError):
    """Flags or a job file that say something impossible."""


class FileError(TwoBoneError):
    """A file that cannot be opened, read or written."""


class AgainError(FileError):
    """What stood in the way may be gone later: another run that writes the same file, a full disk."""


class StoppedError(TwoBoneError):
    """The user, or the machine, asked for an end (Ctrl-C, SIGTERM)."""


FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
NO_RIGHT = {errno.EACCES, errno.EPERM}


def refused_by_system(path: Path, done: str, error: OSError) -> FileError:
    """What the system says about a path that cannot be `done` ("written", "made"), in words that help."""
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
