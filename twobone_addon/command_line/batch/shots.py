"""The shots of a batch, found by patterns, their outputs, and the records by which a later batch resumes."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import FileError
from ...files import NOTHING, content_of, followed, read_table
from ...pipeline.completeness import version_text
from ...pipeline.report.reports import FORMAT
from ...settings.options import shown
from ...version import addon_version
from ..job import READS_ONLY, Job, ShotTable, job_for
from ..outcomes import UsageError
from ..outputs import spelled, write_document

FOLDERS = "**"
"""Pattern part that matches any number of folders."""

LETTERS = 60
"""Maximum number of characters of a shot's name in the names of its summary and its record."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
PLACEHOLDERS = (
    "{shot} (file name without .blend), {folder} (the shot's folder), {job} (job file without suffix) "
    "and {version} (the next number that is free)"
)
VERSION = "\0"
"""What stands for the version until it is known; no name of a file has it."""

DIGITS = 3
"""Minimum number of digits of a version: `v001`."""

LONGEST_NUMBER = 9
"""Maximum number of digits of a shot's number or version; a longer text is taken for a name."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One file to bake."""

    path: Path
    goal: Path
    """The output; equal to `path` for a shot that is baked in place or only read."""
    name: str
    """Path relative to the job's folder, shown to users; absolute if outside of it."""
    job: Job
    """The job with this shot's overrides."""

    @property
    def record(self) -> Path:
        """The file beside the job that tells by which batch the shot was done; different shots have different ones."""
        return self.job.path.with_name(f"{self.job.path.name}.reports") / f"{_marked(self.path.stem, str(self.path))}.json"


def _marked(name: str, whole: str) -> str:
    """Return a name that can be a file's, with a mark that differs for different texts."""
    mark = hashlib.sha256(whole.encode(errors="surrogateescape")).hexdigest()[:8]
    return re.sub(r"[^\w.-]", "_", name)[:LETTERS] + f"-{mark}"


def summary_beside(job: Path, shot: str | None, kind: str) -> Path:
    """Return the path of the summary of the whole job, or of one shot; different shot names give different paths."""
    if shot is None:
        return job.with_name(f"{job.stem}.{kind}.json")
    shot = shot.removeprefix("#")
    name = shot.removesuffix(".blend")
    is_plain = name == shot and re.fullmatch(rf"[\w.-]{{0,{LETTERS}}}", name)
    return job.with_name(f"{job.stem}.{name if is_plain else _marked(name, shot)}.{kind}.json")


def find_shots(job: Job) -> list[Shot]:
    """Return the job's shots sorted by path, each once; raises `UsageError` if there are none or their outputs conflict."""
    if not job.shots:
        raise UsageError(
            'Job "{path}": the key "shots" is missing. List files or patterns, such as ["shots/*.blend"].', path=job.path
        )
    if not (job.use in READS_ONLY or job.output or job.in_place or (job.tables and all(table.output for table in job.tables))):
        raise UsageError(
            'Job "{path}" does not say where shots go. Give "output" a pattern such as "baked/{{shot}}.blend", '
            'or set "in_place" to true.',
            path=job.path,
        )
    both = next((table for table in job.tables if job.in_place and table.output), None)
    if both is not None:
        raise UsageError(
            'Job "{job}" saves shots in place, but "{file}" has an output of its own. Keep one of them.',
            job=job.path,
            file=both.file,
        )
    folder = followed(job.path).parent
    paths = sorted({path for pattern in job.shots for path in _matches(job, folder, pattern)})
    tables: dict[Path, list[ShotTable]] = {}
    for table in job.tables:
        for path in _matches(job, folder, table.file):
            tables.setdefault(path, []).append(table)
    shots = []
    for path in paths:
        own_job = job_for(job, tables.get(path, []))
        goal = path if job.in_place or own_job.use in READS_ONLY else _goal(own_job, folder, path)
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
        shots.append(Shot(path, goal, name, own_job))
    if not job.in_place:
        _refuse_mixed_up(job, folder, shots)
    return shots


def _matches(job: Job, folder: Path, pattern: str) -> set[Path]:
    if not glob.has_magic(pattern) or os.path.isfile(folder / pattern):  # noqa: PTH113 - names may have brackets, and patterns may be too long for one
        return {followed(folder / pattern)}  # A file that is missing fails as a shot, and the others go on.
    start, parts = Path(Path(pattern).anchor or folder), _parts(pattern)
    # Hidden files are meant only by a pattern that names their dot. `**` does not go through links, which may form circles.
    is_hidden = any(part.startswith(".") for part in parts)
    try:
        paths = [path for path in start.glob("/".join(parts)) if path.is_file()]
    except (OSError, ValueError) as error:  # Such as a pattern that is too long.
        raise UsageError(
            'Job "{path}", key "shots": {pattern} cannot be searched for ({reason}). Correct the pattern.',
            path=job.path,
            pattern=shown(pattern),
            reason=str(error)[:100],
        ) from error
    paths = [path for path in paths if is_hidden or not any(part.startswith(".") for part in path.relative_to(start).parts)]
    if not paths:
        raise UsageError(
            'Job "{path}", key "shots": no file matches {pattern}. Correct the pattern.',
            path=job.path,
            pattern=shown(pattern),
        )
    return {followed(path) for path in paths}


def _parts(pattern: str) -> list[str]:
    """Return the parts of a pattern after its anchor; several `**` in a row mean one, at the end all files."""
    whole = Path(pattern)
    # Inside a name, several stars mean one; Python 3.11 would refuse them.
    parts = [part if part == FOLDERS else re.sub(r"\*+", "*", part) for part in whole.parts if part != whole.anchor]
    parts = [part for number, part in enumerate(parts) if part != FOLDERS or parts[number - 1 : number] != [FOLDERS]]
    return [*parts, "*"] if parts[-1] == FOLDERS else parts


def _goal(job: Job, folder: Path, shot: Path) -> Path:
    """Return the output of a shot; raises `UsageError` for a pattern that has no sense."""
    if not job.output:
        raise UsageError(
            'Job "{path}" does not say where "{shot}" goes. Give "output" a pattern, in its table or for all.',
            path=job.path,
            shot=shot,
        )
    known = {"shot": shot.stem, "folder": str(shot.parent), "job": job.path.stem, "version": VERSION}
    text, rest = PLACEHOLDER.sub(lambda match: known.get(match[1], ""), job.output), PLACEHOLDER.sub("", job.output)
    for match in PLACEHOLDER.finditer(job.output):
        if match[1] not in known:
            what = 'has the unknown placeholder "{placeholder}". Use {known}'
            raise _wrong_output(job, what, placeholder=match[0], known=PLACEHOLDERS)
        if match[1] == "folder" and match.start():
            raise _wrong_output(job, "has {{folder}} in the middle. Begin with it")
    if VERSION in os.path.dirname(text):  # noqa: PTH120 - a pattern, not yet a path
        raise _wrong_output(job, "has {{version}} in a folder. Use it in the name of the file")
    if set("{}") & set(rest):
        raise _wrong_output(job, "has a brace that opens or closes nothing. Use {known}", known=PLACEHOLDERS)
    if ".." in re.split(r"[/\\]", text):
        raise _wrong_output(job, 'climbs up by "..". Name the folder itself')
    if "\0" in rest or not text.lower().endswith(".blend") or Path(text).name.lower() == ".blend":
        raise _wrong_output(job, 'does not name a file that ends in ".blend". Name a .blend file')
    goal = folder / text
    if VERSION not in text:
        return goal
    before, *_, after = goal.name.split(VERSION)
    versioned = re.compile(f"{re.escape(before)}(\\d{{1,{LONGEST_NUMBER}}}).*{re.escape(after)}", re.IGNORECASE)
    names = os.listdir(goal.parent) if goal.parent.is_dir() else []  # noqa: PTH208 - names are all that is wanted
    highest = max((int(match[1]) for match in map(versioned.fullmatch, names) if match), default=0)
    return goal.with_name(goal.name.replace(VERSION, f"{highest + 1:0{DIGITS}}"))


def _refuse_mixed_up(job: Job, folder: Path, shots: list[Shot]) -> None:
    """Refuse outputs that two shots share, that are shots or match a pattern of shots, or that go to a folder with shots."""
    sources = {spelled(shot.path) for shot in shots}
    holding = {spelled(shot.path.parent) for shot in shots}
    patterns = []
    for parts in [_parts(str(folder / pattern)) for pattern in job.shots if glob.has_magic(pattern)]:
        names = [re.sub(r"\\[zZ]$", "", fnmatch.translate(part)).replace(".*", "[^/]*") for part in parts]
        one_by_one = ["(?:[^/]+/)*" if part == FOLDERS else f"{name}/" for part, name in zip(parts, names, strict=True)]
        patterns.append("".join(one_by_one).removesuffix("/"))
    would_be_found = re.compile("|".join(patterns) or "(?!)")
    taken: dict[str, Shot] = {}
    for shot in [shot for shot in shots if shot.job.use not in READS_ONLY]:
        goal = followed(shot.goal)
        name = spelled(goal)
        if name in taken:
            what = 'saves both "{first}" and "{shot}" as "{goal}". Use {{shot}} in it'
            raise _wrong_output(job, what, first=taken[name].name, shot=shot.name, goal=goal)
        if name in sources or would_be_found.fullmatch(goal.as_posix().removeprefix(goal.anchor)):
            what = 'saves "{shot}" as "{goal}", which is a shot itself. Save to another folder'
            raise _wrong_output(job, what, shot=shot.name, goal=goal)
        if spelled(goal.parent) in holding:
            what = 'saves "{shot}" into "{folder}", which holds shots. Save to another folder'
            raise _wrong_output(job, what, shot=shot.name, folder=goal.parent)
        taken[name] = shot


def _wrong_output(job: Job, what: str, **values: str | Path) -> UsageError:
    return UsageError(f'Job "{{path}}": the output pattern "{{pattern}}" {what}.', path=job.path, pattern=job.output, **values)


def chosen_shot(job: Job, shots: list[Shot], asked: str) -> Shot:
    """Return the shot with this name, path, unique file name or number (from 1); `#7` is always a number.

    Raises `UsageError` if there is none, or if a file name is also the number of another shot.
    """
    digits = asked.removeprefix("#")
    number = int(digits) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else 0
    numbered = shots[number - 1 : number] if number else []
    for shot in shots:
        if asked in {shot.name, str(shot.path)}:
            return shot
    named = [shot for shot in shots if asked in {shot.path.name, shot.path.stem}]
    if len(named) > 1:
        raise UsageError(
            'Job "{path}" has {count} shots "{asked}". Use a name that --list prints.',
            path=job.path,
            count=len(named),
            asked=asked,
        )
    if named and numbered not in ([], named) and asked == str(number):
        raise UsageError(
            'Job "{job}": "{asked}" is the name of "{name}" and the number of "{other}". Name it as --list does, or #{asked}.',
            job=job.path,
            asked=asked,
            name=named[0].name,
            other=numbered[0].name,
        )
    for shot in [*named, *numbered]:
        return shot
    if number:
        raise UsageError(
            'Job "{path}" has no shot {number}. Use a number from 1 to {count}.',
            path=job.path,
            number=number,
            count=len(shots),
        )
    raise UsageError('Job "{path}" has no shot "{shot}". Use a name that --list prints.', path=job.path, shot=asked[:LETTERS])


DONE, STRICT, INCOMPLETE, FAILED, CRASHED, TIMED_OUT, WAITING = STATES = (
    "done", "strict", "incomplete", "failed", "crashed", "timed out", "waiting",
)  # fmt: skip

HARMLESS = {
    "command", "job", "quiet", "verbose", "list", "shot", "jobs", "shots_per_blender", "timeout", "logs", "progress", "summary",
    "resume", "replace", "no_clobber", "groups", "once",
}  # fmt: skip
"""Flags of a batch that make no difference to what is saved; a new flag is taken to make one until it is named here."""

ANY = "any"
"""What is expected of an output that may be replaced whatever it is."""


@dataclass(slots=True)
class ShotRecord:
    """One shot: in its record, and in the summary."""

    shot: str
    """Path of the shot."""
    output: str
    """Path of its output."""
    state: str = WAITING
    """`done`, `strict`, `incomplete`, `failed`, `crashed`, `timed out` or `waiting` (not begun, or stopped)."""
    reason: str = ""
    """Why it is not done, in one sentence."""
    exit_code: int | None = None
    seconds: float = 0.0
    fingerprint: str = ""
    """SHA-256 of job, shot, flags and program versions when it was done; compared by `--resume`."""
    output_sha256: str = ""
    """SHA-256 of the output as saved by this or an earlier batch; an output with other contents is never replaced."""
    earlier_sha256: str = ""
    """SHA-256 of the output that was being replaced, in case the batch was killed before that happened."""
    warnings: list[str] = field(default_factory=list)
    """Warnings about the result."""
    log: list[str] = field(default_factory=list)
    """The last lines that Blender printed; empty if the shot is done."""
    report: dict[str, Any] | None = None
    """The task's report."""


def write_record(path: Path, record: ShotRecord) -> None:
    """Write the record of a shot that is done, or is about to be saved; raises `FileError`.

    Then the output is known to be a batch's own, whenever that is killed.
    """
    write_document("record", path, {"version": FORMAT, **asdict(record)})


def record_of(shot: Shot) -> ShotRecord | None:
    """Return the record of a shot; `None` if there is none, or another file in its place."""
    try:
        record = read_table(shot.record)
    except FileError:
        return None
    names = [entry.name for entry in fields(ShotRecord)]
    if not isinstance(record, dict) or not set(names) <= record.keys() or not isinstance(record["output"], str):
        return None
    return ShotRecord(**{name: record[name] for name in names})


def fingerprint(job: Job, flags: Mapping[str, Any], content: str) -> str:
    """Return the SHA-256 of all that decides what is saved: job, flags, versions, and the shot's `content`."""
    request = {**asdict(job), "path": "", "shots": "", "tables": ""}
    counting = {name: str(value) for name, value in flags.items() if name not in HARMLESS}
    text = json.dumps([request, counting, version_text(), addon_version(), content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest() if content else ""  # An unreadable shot fails, and says why.


def done_before(shot: Shot, flags: Mapping[str, Any]) -> ShotRecord | None:
    """Return the record of a shot that an earlier batch has done with the same settings, and whose output is still there.

    With {version} in the pattern each output is a new file, so that of the record counts.
    """
    record = record_of(shot)
    is_done = (
        record is not None
        and record.state == DONE
        and record.fingerprint == fingerprint(shot.job, flags, content_of(shot.path))
        and record.output_sha256 in {NOTHING, content_of(Path(record.output))}
        and ("{version}" in shot.job.output or Path(record.output) == shot.goal)
    )
    return record if is_done else None


def expected(shot: Shot, *, replace: bool, no_clobber: bool) -> str:
    """Return the digest that the output must still have when it is replaced, or `ANY`; raises `FileError`.

    An output that this job has not saved may be somebody's work, and so may one that has changed since.
    """
    goal = shot.goal
    if goal == shot.path:
        return ANY
    if not goal.exists() and not goal.is_symlink():
        return NOTHING
    if no_clobber:
        raise FileError('"{goal}" already exists, and --no-clobber replaces nothing. Move it away.', goal=goal)
    content, record = content_of(goal), record_of(shot)
    known = {record.output_sha256, record.earlier_sha256} if record and Path(record.output) == goal else set()
    if content and (content in known or not goal.stat().st_size):
        return content
    if replace:
        return ANY
    raise FileError(
        '"{goal}" was not saved by this job, or somebody has changed it since. Move it away, or use --replace.', goal=goal
    )


def summary(job: Path, shots: list[ShotRecord]) -> dict[str, Any]:
    """Return the summary of a batch as a JSON document, with the shots in the job's order."""
    counts = {state: sum(record.state == state for record in shots) for state in STATES}
    return {"version": FORMAT, "job": str(job), **counts, "shots": [asdict(record) for record in shots]}
