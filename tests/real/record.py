"""What the tests measured on real rigs, kept in the build folder for the documentation's table."""

import json
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parents[2] / "build" / "real_rigs"


def record(rig, measured):
    """Keep what one Blender made of one rig: a list of `everywhere.Measured` as tables."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{bpy.app.version_string.split()[0]} {rig}.json").write_text(json.dumps(measured), encoding="utf-8")
