"""Provenance of a result: the opened file, the settings, the versions of the programs, and the saved file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import bpy

from ..pipeline.completeness import version_text
from ..pipeline.report.reports import FORMAT
from ..settings import BakeSettings
from .files.text_files import content_of, followed
from .job import Job
from .outcomes import Outcome

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


def addon_version() -> str:
    """Return the version in the add-on's manifest, such as `2.0.0`."""
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])


def with_provenance(outcome: Outcome, warnings: list[str]) -> dict[str, Any]:
    """Return the outcome's document with the `version` of the format and the `provenance`."""
    provenance = {
        "addon": addon_version(),
        "blender": version_text(),
        "source": outcome.source,
        "output": _file(outcome.saved),
        "settings": [_settings(chain) for chain in outcome.settings],
        "warnings": warnings,
    }
    return {"version": FORMAT, **outcome.document, "provenance": provenance}


def source_file(path: Path | None) -> dict[str, str] | None:
    """Return path and SHA-256 of the shot as it is on disk now; `None` for one that was never saved."""
    return _file(followed(path) if path else None)


def _file(path: Path | None) -> dict[str, str] | None:
    return None if path is None else {"path": str(path), "sha256": content_of(path)}


def _settings(settings: BakeSettings) -> dict[str, Any]:
    """Return all settings of one chain; `stored` names the stored chain that they came from."""
    return {entry.name: getattr(settings, entry.name) for entry in fields(settings) if entry.name != "asked"}


def fingerprint(job: Job, content: str, *, scripts: bool) -> str:
    """Return the SHA-256 of the job, the shot's `content`, and the versions of Blender and the add-on; empty without content.

    Linked files are not included: only Blender knows them, see `linked_contents`.
    """
    request = {**asdict(job), "path": "", "shots": "", "tables": "", "scripts": scripts}
    versions = [version_text(), addon_version()]
    if not content:
        return ""  # The shot itself will fail and report why.
    text = json.dumps([request, versions, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def linked_files() -> list[Path]:
    """Return every other file that can move something in the open shot: direct and indirect libraries, and cache files."""
    linked = [*bpy.data.libraries, *bpy.data.cache_files]
    return sorted({followed(Path(bpy.path.abspath(entry.filepath, library=entry.library))) for entry in linked})


def linked_contents() -> dict[str, str]:
    """Return the SHA-256 of each of the `linked_files`, by path."""
    return {str(path): content_of(path) for path in linked_files()}
