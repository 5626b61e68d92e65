"""Versions: the add-on's own, as its manifest has it, and that of its files."""

from __future__ import annotations

import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"

FORMAT = 1
"""Of report, job and summary: goes up when a key changes its meaning or is taken away, not when one is added."""


def addon_version() -> str:
    """Such as `2.0.0`."""
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])
