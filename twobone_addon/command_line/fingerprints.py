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

    What a shot links from other files is told by `linked_contents`, since only Blender knows it.
    """
    asked = {**asdict(job), "path": "", "shots": "", "scripts": scripts}
    versions = [bpy.app.version_string, _own_version()]
    content = content_of(shot)
    if not content:
        return ""  # The shot will fail, and say so itself.
    text = json.dumps([asked, versions, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def content_of(path: Path) -> str:
    """SHA-256 of a file's bytes; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def linked_contents() -> dict[str, str]:
    """Every other file that can move something in the open shot, by its absolute path, and its `content_of`.

    These are libraries, also those that libraries link, and files of cached motion.
    """
    linked = [*bpy.data.libraries, *bpy.data.cache_files]
    paths = sorted({Path(bpy.path.abspath(entry.filepath, library=entry.library)).resolve() for entry in linked})
    return {str(path): content_of(path) for path in paths}


def are_as_they_were(linked: dict[str, str], seen: dict[str, str]) -> bool:
    """Whether the files still have the contents that `linked_contents` found.

    `seen` remembers contents from call to call, since shots share their libraries.
    """
    for path in linked.keys() - seen.keys():
        seen[path] = content_of(Path(path))
    return all(seen[path] == content for path, content in linked.items())


def _own_version() -> str:
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])
