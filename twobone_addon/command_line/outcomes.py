"""How the command ends: exit codes, outcomes with the provenance of their results, and errors in the request or its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from pathlib import Path
from typing import Any

from ..errors import TwoBoneError
from ..files import content_of, followed
from ..pipeline.completeness import version_text
from ..pipeline.report.reports import FORMAT
from ..settings import ORIGINS, BakeSettings
from ..version import addon_version


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


class StoppedError(TwoBoneError):
    """Stopped by the user or the system (Ctrl-C, SIGTERM)."""


def with_provenance(outcome: Outcome, warnings: list[str]) -> dict[str, Any]:
    """Return the outcome's document with the `version` of the format and the `provenance`."""
    provenance = {
        "addon": addon_version(),
        "blender": version_text(),
        "source": outcome.source,
        "output": _file(outcome.saved),
        "settings": [
            {entry.name: getattr(chain, entry.name) for entry in fields(chain) if entry.name not in ORIGINS}
            for chain in outcome.settings
        ],
        "warnings": warnings,
    }
    return {"version": FORMAT, **outcome.document, "provenance": provenance}


def source_file(path: Path | None) -> dict[str, str] | None:
    """Return path and SHA-256 of the shot as it is on disk now; `None` for one that was never saved."""
    return _file(followed(path) if path else None)


def _file(path: Path | None) -> dict[str, str] | None:
    return None if path is None else {"path": str(path), "sha256": content_of(path)}
