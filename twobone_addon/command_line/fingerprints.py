"""Whether a shot is what it was: a fingerprint of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict
from pathlib import Path

import bpy

from .jobs import Job

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


def fingerprint(job: Job, shot: Path, *, scripts: bool) -> str:
    """Of what the job asks for, the shot's bytes, and the versions of Blender and add-on; empty where the shot is unreadable.

    What a shot links from other files is not part of it.
    """
    asked = {**asdict(job), "path": "", "shots": "", "scripts": scripts}
    versions = [bpy.app.version_string, _own_version()]
    try:
        with shot.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""  # The shot will fail, and say so itself.
    text = json.dumps([asked, versions, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _own_version() -> str:
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])
