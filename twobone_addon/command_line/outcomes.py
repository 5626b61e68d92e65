"""How the command ends: exit codes, and what can be wrong with the request itself."""

from __future__ import annotations

from enum import IntEnum

from ..errors import TwoBoneError


class ExitCode(IntEnum):
    """What the shell, the batch and the farm get to know."""

    DONE = 0
    COULD_NOT = 1
    """The file does not have what was asked for, or something failed on the way. Nothing was saved."""
    USAGE = 2
    """Flags or job file make no sense. Nothing was opened."""
    STRICT = 3
    """With `--strict`: the result is not good enough. The report was written, the shot was not saved."""


class UsageError(TwoBoneError):
    """Flags or a job file that say something impossible."""


class FileError(TwoBoneError):
    """A file that cannot be opened, read or written."""


class StoppedError(TwoBoneError):
    """The user, or the machine, asked for an end (Ctrl-C, SIGTERM)."""
