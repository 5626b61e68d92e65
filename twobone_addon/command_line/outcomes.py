"""How the command ends: exit codes, outcomes, and errors in the request or its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from ..desk.shapes import ContentOfFile
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
    source: ContentOfFile | None = None
    """Path and SHA-256 of the opened file, taken before anything was saved."""
    saved: Path | None = None
    """The .blend file that was saved."""


class UsageError(TwoBoneError):
    """Invalid flags or an invalid job file."""


class StoppedError(TwoBoneError):
    """Stopped by the user or the system (Ctrl-C, SIGTERM)."""
