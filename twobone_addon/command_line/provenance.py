"""Where a result comes from: what was opened, with which settings and programs, and what it was saved as."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import bpy

from ..settings import BakeSettings
from .files.contents import content_of
from .outcomes import Outcome
from .version import FORMAT, addon_version


def with_provenance(outcome: Outcome, warnings: list[str]) -> dict[str, Any]:
    """The document of an outcome as it is handed over: with its format's `version`, and `provenance`."""
    provenance = {
        "addon": addon_version(),
        "blender": bpy.app.version_string,
        "source": outcome.source,
        "output": _file(outcome.saved),
        "settings": [_settings(chain) for chain in outcome.settings],
        "warnings": warnings,
    }
    return {"version": FORMAT, **outcome.document, "provenance": provenance}


def source_file(path: Path | None) -> dict[str, str] | None:
    """The shot as it lies on disk now; `None` for one that has never been saved."""
    return _file(path.resolve() if path else None)


def _file(path: Path | None) -> dict[str, str] | None:
    return None if path is None else {"path": str(path), "sha256": content_of(path)}


def _settings(settings: BakeSettings) -> dict[str, Any]:
    """Everything the bake of one chain depended on; `stored` names the stored chain that it came from."""
    return {entry.name: getattr(settings, entry.name) for entry in fields(settings) if entry.name != "asked"}
