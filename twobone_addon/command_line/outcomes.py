"""How the command ends: outcomes, and errors in the request or its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwoBoneError
from .exit_codes import ExitCode

if TYPE_CHECKING:  # The way to standard output is cleared before Blender is imported, and they lead to it.
    from ..desk.shapes import ContentOfFile
    from ..settings import BakeSettings


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
