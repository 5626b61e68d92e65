"""A list of shots as it was at one moment: what a farm's tasks count by, whatever is published meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files.contents import content_of, contents_of
from ..files.text_files import write_text
from ..jobs.job import Job
from ..outcomes import UsageError
from ..version import FORMAT
from .shots import Shot, jobs_of_shots


def freeze(job: Job, shots: list[Shot], goal: Path, timeout: float | None) -> None:
    """Write the list, with the contents of job and shots as SHA-256; raises `FileError`."""
    contents = contents_of([shot.path for shot in shots], timeout)
    entries = [
        {
            "number": number,
            "name": shot.name,
            "path": str(shot.path),
            "output": str(shot.goal),
            "sha256": contents[shot.path],
        }
        for number, shot in enumerate(shots, start=1)
    ]
    document = {"version": FORMAT, "job": str(job.path.resolve()), "job_sha256": content_of(job.path), "shots": entries}
    write_text(goal, json.dumps(document, indent=2) + "\n")


def frozen_shots(job: Job, path: Path) -> list[Shot]:
    """The shots of a frozen list, each to be baked only if it is what it was; raises `UsageError`.

    In place, a shot that was baked is another file than it was, and may be baked again: there the contents do not count.
    """
    own_job = jobs_of_shots(job)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        shots = [_shot(entry, own_job, checked=not job.in_place) for entry in document["shots"]]
        known = document["job_sha256"]
    except OSError as error:
        raise UsageError(f'"{path}" cannot be read ({error.strerror}). Name a list that --freeze has written.') from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f'"{path}" is not a list written by --freeze. Name one that is.') from error
    if known != content_of(job.path):
        raise UsageError(f'Job "{job.path}" has changed since "{path}" was frozen. Freeze it again.')
    return shots


def _shot(entry: dict[str, Any], own_job: Callable[[Path], Job], *, checked: bool) -> Shot:
    path, goal, name, content = (entry[key] for key in ("path", "output", "name", "sha256"))
    if not all(isinstance(text, str) for text in (path, goal, name, content)):
        raise TypeError(entry)
    return Shot(Path(path), Path(goal), name, own_job(Path(path)), content if checked else "")
