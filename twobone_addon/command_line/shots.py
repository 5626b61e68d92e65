"""Which shots a batch is about, and where each of them goes."""

from __future__ import annotations

import fnmatch
import glob
import re
from dataclasses import dataclass
from pathlib import Path

from .jobs import Job
from .outcomes import UsageError

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


def find_shots(job: Job) -> list[Shot]:
    """The job's shots by name, each once; raises `UsageError` where the job names none or mixes up its outputs."""
    if not job.shots:
        raise UsageError(f'Job "{job.path}": the key "shots" is missing. List files or patterns, such as ["shots/*.blend"].')
    if not (job.output or job.in_place):
        raise UsageError(
            f'Job "{job.path}" does not say where shots go. Give "output" a pattern such as '
            '"baked/{shot}.blend", or set "in_place" to true.'
        )
    folder = job.path.resolve().parent
    found = sorted({path for pattern in job.shots for path in _matches(job, folder, pattern)})
    shots = [Shot(path, path if job.in_place else _goal(job, folder, path), _name(path, folder)) for path in found]
    if not job.in_place:
        _refuse_mixed_up(job, folder, shots)
    return shots


def _matches(job: Job, folder: Path, pattern: str) -> list[Path]:
    if not glob.has_magic(pattern):
        return [(folder / pattern).resolve()]  # A file that is missing fails as a shot, and the others go on.
    found = glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
    if not found:
        raise UsageError(f'Job "{job.path}", key "shots": no file matches "{pattern}". Correct the pattern.')
    return [path for name in found if (path := (folder / name).resolve()).is_file()]


def _goal(job: Job, folder: Path, shot: Path) -> Path:
    known = {"shot": shot.stem, "folder": str(shot.parent), "job": job.path.stem}

    def filled(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise _wrong_output(job, f'has the unknown placeholder "{match[0]}". Use {PLACEHOLDERS}')
        if match[1] == "folder" and match.start():
            raise _wrong_output(job, "has {folder} in the middle. Begin with it")
        return known[match[1]]

    text = PLACEHOLDER.sub(filled, job.output)
    if ".." in re.split(r"[/\\]", text):
        raise _wrong_output(job, 'climbs up by "..". Name the folder itself')
    if "\0" in text or not text.lower().endswith(".blend"):
        raise _wrong_output(job, 'does not end in ".blend". Name a .blend file')
    return folder / text


def _refuse_mixed_up(job: Job, folder: Path, shots: list[Shot]) -> None:
    """Refuse two shots saved as one file, and a file saved where it would be taken for a shot."""
    sources = {shot.path for shot in shots}
    taken: dict[Path, Shot] = {}
    for shot in shots:
        goal = shot.goal.resolve()
        if goal in taken:
            raise _wrong_output(job, f'saves both "{taken[goal].name}" and "{shot.name}" as "{goal}". Use {{shot}} in it')
        if goal in sources or any(_would_match(goal.parts, (folder / pattern).parts) for pattern in job.shots):
            raise _wrong_output(job, f'saves "{shot.name}" as "{goal}", which is a shot itself. Save to another folder')
        taken[goal] = shot


def _would_match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether the glob pattern would find this path once it is there; `**` stands for any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_would_match(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatch(parts[0], pattern[0]) and _would_match(parts[1:], pattern[1:])


def _wrong_output(job: Job, what: str) -> UsageError:
    return UsageError(f'Job "{job.path}": the output pattern "{job.output}" {what}.')


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
