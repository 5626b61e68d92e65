"""Whether a shot is what it was: a fingerprint of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import bpy

from ..files.contents import content_of
from ..jobs.job import Job
from ..version import addon_version


def fingerprint(job: Job, content: str, *, scripts: bool) -> str:
    """Of what the job asks for, the shot's `content`, and the versions of Blender and add-on; empty without content.

    What a shot links from other files is told by `linked_contents`, since only Blender knows it.
    """
    asked = {**asdict(job), "path": "", "shots": "", "tables": "", "scripts": scripts}
    versions = [bpy.app.version_string, addon_version()]
    if not content:
        return ""  # The shot will fail, and say so itself.
    text = json.dumps([asked, versions, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def linked_contents() -> dict[str, str]:
    """Every other file that can move something in the open shot, by its absolute path, and its `content_of`.

    These are libraries, also those that libraries link, and files of cached motion.
    """
    linked = [*bpy.data.libraries, *bpy.data.cache_files]
    paths = sorted({Path(bpy.path.abspath(entry.filepath, library=entry.library)).resolve() for entry in linked})
    return {str(path): content_of(path) for path in paths}
