"""The add-on's version, as its manifest says."""

import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[1] / "blender_manifest.toml"


def addon_version() -> str:
    """Return the version in the add-on's manifest, such as `2.0.0`."""
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])
