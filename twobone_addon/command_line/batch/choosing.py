"""Which of a job's shots one run is about, by name or by number, and what its summary is called."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ..jobs.job import Job
from ..outcomes import UsageError
from .shots import Shot

LETTERS = 60
"""Of a shot's name, as many as go into the name of its summary."""


def chosen_shot(job: Job, shots: list[Shot], asked: str) -> Shot:
    """The shot of this number, or name as the list has it, or path, or file name if only one has it; raises `UsageError`."""
    if asked.isdecimal():
        number = int(asked)
        if not 1 <= number <= len(shots):
            raise UsageError(f'Job "{job.path}" has no shot {number}. Use a number from 1 to {len(shots)}.')
        return shots[number - 1]
    for named in (
        [shot for shot in shots if asked in {shot.name, str(shot.path)}],
        [shot for shot in shots if asked in {shot.path.name, shot.path.stem}],
    ):
        if len(named) > 1:
            raise UsageError(f'Job "{job.path}" has {len(named)} shots "{asked}". Name one as --list does.')
        if named:
            return named[0]
    raise UsageError(f'Job "{job.path}" has no shot "{asked}". Name one as --list does.')


def summary_beside(job: Path, shot: str | None, kind: str) -> Path:
    """Where the summary of a whole job goes, or of one of its shots; any two names go to two files."""
    if shot is None:
        return job.with_name(f"{job.stem}.{kind}.json")
    plain = re.sub(r"[^\w.-]", "_", shot.removesuffix(".blend"))[:LETTERS]
    if plain != shot:
        plain += f"-{hashlib.sha256(shot.encode(errors='surrogateescape')).hexdigest()[:8]}"
    return job.with_name(f"{job.stem}.{plain}.{kind}.json")
