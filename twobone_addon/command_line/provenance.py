"""Where a result comes from: what was opened, with which settings and programs, and what it was saved as."""

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
    """Such as `2.0.0`."""
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])


def with_provenance(outcome: Outcome, warnings: list[str]) -> dict[str, Any]:
    """The document of an outcome as it is handed over: with its format's `version`, and `provenance`."""
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
    """The shot as it lies on disk now; `None` for one that has never been saved."""
    return _file(followed(path) if path else None)


def _file(path: Path | None) -> dict[str, str] | None:
    return None if path is None else {"path": str(path), "sha256": content_of(path)}


def _settings(settings: BakeSettings) -> dict[str, Any]:
    """Everything the bake of one chain depended on; `stored` names the stored chain that it came from."""
    return {entry.name: getattr(settings, entry.name) for entry in fields(settings) if entry.name != "asked"}


def fingerprint(job: Job, content: str, *, scripts: bool) -> str:
    """Of what the job asks for, the shot's `content`, and the versions of Blender and add-on; empty without content.

    What a shot links from other files is told by `linked_contents`, since only Blender knows it.
    """
    asked = {**asdict(job), "path": "", "shots": "", "tables": "", "scripts": scripts}
    versions = [version_text(), addon_version()]
    if not content:
        return ""  # The shot will fail, and say so itself.
    text = json.dumps([asked, versions, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def linked_files() -> list[Path]:
    """Every other file that can move something in the open shot: libraries, also those of libraries, and cached motion."""
    linked = [*bpy.data.libraries, *bpy.data.cache_files]
    return sorted({followed(Path(bpy.path.abspath(entry.filepath, library=entry.library))) for entry in linked})


def linked_contents() -> dict[str, str]:
    """The same by their paths, each with its `content_of`."""
    return {str(path): content_of(path) for path in linked_files()}
