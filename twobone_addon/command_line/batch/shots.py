"""Which shots a batch is about, and where each of them goes."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...options import shown
from ..files.patterns import PathPatterns, matching_files
from ..jobs.job import Job, ShotTable, job_for
from ..outcomes import UsageError

LETTERS = 60
"""Of a shot's name, as many as go into the name of its summary."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
PLACEHOLDERS = "{shot} (file name without .blend), {folder} (the shot's folder) and {job} (job file without suffix)"


@dataclass(frozen=True, slots=True)
class Shot:
    """One file to bake."""

    path: Path
    goal: Path
    """Where it is saved; the same path where it is baked in place."""
    name: str
    """What people call it: its path as seen from the job's folder."""
    job: Job
    """The job as it is for this shot."""
    content: str = ""
    """Its SHA-256 in the list it was frozen in; empty where it was not."""


def find_shots(job: Job) -> list[Shot]:
    """The job's shots by name, each once; raises `UsageError` where the job names none or mixes up its outputs."""
    if not job.shots:
        raise UsageError(f'Job "{job.path}": the key "shots" is missing. List files or patterns, such as ["shots/*.blend"].')
    if not (job.output or job.in_place or (job.tables and all(table.output for table in job.tables))):
        raise UsageError(
            f'Job "{job.path}" does not say where shots go. Give "output" a pattern such as '
            '"baked/{shot}.blend", or set "in_place" to true.'
        )
    folder = job.path.resolve().parent
    found = sorted({path for pattern in job.shots for path in _matches(job, folder, pattern)})
    own_job = jobs_of_shots(job)
    shots = [_shot(own_job(path), folder, path) for path in found]
    if not job.in_place:
        _refuse_mixed_up(job, folder, shots)
    return shots


def jobs_of_shots(job: Job) -> Callable[[Path], Job]:
    """From a shot's path to the job as it is for this shot."""
    folder = job.path.resolve().parent
    tables: dict[Path, list[ShotTable]] = {}
    for table in job.tables:
        for path in set(_matches(job, folder, table.file)):
            tables.setdefault(path, []).append(table)
    return lambda path: job_for(job, tables.get(path, []))


def _shot(job: Job, folder: Path, path: Path) -> Shot:
    return Shot(path, path if job.in_place else _goal(job, folder, path), _name(path, folder), job)


def _matches(job: Job, folder: Path, pattern: str) -> list[Path]:
    if not glob.has_magic(pattern):
        return [_resolved(folder / pattern)]  # A file that is missing fails as a shot, and the others go on.
    found = list(matching_files(folder, pattern))
    if not found:
        raise UsageError(f'Job "{job.path}", key "shots": no file matches {shown(pattern)}. Correct the pattern.')
    return [_resolved(path) for path in found]


def _goal(job: Job, folder: Path, shot: Path) -> Path:
    if not job.output:
        raise UsageError(f'Job "{job.path}" does not say where "{shot}" goes. Give "output" a pattern, in its table or for all.')
    known = {"shot": shot.stem, "folder": str(shot.parent), "job": job.path.stem}

    def filled(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise _wrong_output(job, f'has the unknown placeholder "{match[0]}". Use {PLACEHOLDERS}')
        if match[1] == "folder" and match.start():
            raise _wrong_output(job, "has {folder} in the middle. Begin with it")
        return known[match[1]]

    text = PLACEHOLDER.sub(filled, job.output)
    if set("{}") & set(PLACEHOLDER.sub("", job.output)):
        raise _wrong_output(job, f"has a brace that opens or closes nothing. Use {PLACEHOLDERS}")
    if ".." in re.split(r"[/\\]", text):
        raise _wrong_output(job, 'climbs up by "..". Name the folder itself')
    if "\0" in text or not text.lower().endswith(".blend") or Path(text).name.lower() == ".blend":
        raise _wrong_output(job, 'does not name a file that ends in ".blend". Name a .blend file')
    return folder / text


def _refuse_mixed_up(job: Job, folder: Path, shots: list[Shot]) -> None:
    """Refuse two shots saved as one file, a folder that holds shots, and files that would be taken for shots."""
    sources = {shot.path for shot in shots}
    holding = {path.parent for path in sources}
    patterns = PathPatterns(folder, [pattern for pattern in job.shots if glob.has_magic(pattern)])
    taken: dict[Path, Shot] = {}
    for shot in shots:
        goal = _resolved(shot.goal)
        if goal in taken:
            raise _wrong_output(job, f'saves both "{taken[goal].name}" and "{shot.name}" as "{goal}". Use {{shot}} in it')
        if goal in sources or patterns.would_find(goal):
            raise _wrong_output(job, f'saves "{shot.name}" as "{goal}", which is a shot itself. Save to another folder')
        if goal.parent in holding:
            raise _wrong_output(job, f'saves "{shot.name}" into "{goal.parent}", which holds shots. Save to another folder')
        taken[goal] = shot


def _wrong_output(job: Job, what: str) -> UsageError:
    return UsageError(f'Job "{job.path}": the output pattern "{job.output}" {what}.')


def _resolved(path: Path) -> Path:
    """The path with links followed; a link to itself stays, and fails as a shot."""
    return Path(os.path.realpath(path))


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


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
