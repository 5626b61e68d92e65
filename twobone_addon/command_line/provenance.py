"""Provenance of a result: the opened file, the settings, the versions of the programs, and the saved file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..desk.shapes import ContentOfFile, Provenance, SettingsUsed
from ..files import content_of, followed
from ..pipeline.completeness import version_text
from ..pipeline.report.form import as_data
from ..pipeline.report.reports import FORMAT
from ..records import extended
from ..version import addon_version
from .outcomes import Outcome


def with_provenance(outcome: Outcome, warnings: list[str]) -> dict[str, Any]:
    """Return the outcome's document with the `version` of the format and the `provenance`."""
    provenance = Provenance(
        addon=addon_version(),
        blender=version_text(),
        source=outcome.source,
        output=_file(outcome.saved),
        settings=[extended(SettingsUsed, chain) for chain in outcome.settings],
        warnings=warnings,
    )
    return {"version": FORMAT, **outcome.document, "provenance": as_data(provenance)}


def source_file(path: Path | None) -> ContentOfFile | None:
    """Return path and SHA-256 of the shot as it is on disk now; `None` for one that was never saved."""
    return _file(followed(path) if path else None)


def _file(path: Path | None) -> ContentOfFile | None:
    return None if path is None else ContentOfFile(str(path), content_of(path))
