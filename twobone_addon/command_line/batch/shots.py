"""The shots of a batch, found by patterns, their outputs, and the records by which a later batch resumes."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

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

RECORDS = ".reports"
"""What is added to the name of a job for the folder of its records."""

LETTERS = 60
"""Maximum number of characters of a shot's name in the names of its summary and its record."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
PLACEHOLDERS = (
    "{shot} (file name without .blend), {path} (its folder, seen from the job), {folder} (its folder), "
    "{job} (job file without suffix) and {version} (the next number that is free)"
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
        """The file beside the job that tells by which batch the shot was done; different shots have different ones.

        It is named after the shot's place in the job's folder, so that it is found again wherever that folder goes.
        """
        return self.job.path.with_name(self.job.path.name + RECORDS) / f"{_marked(self.path.stem, self.name)}.json"


def _marked(name: str, whole: str) -> str:
    """Return a name that can be a file's, with a mark that differs for different texts."""
    mark = hashlib.sha256(whole.encode(errors="surrogateescape")).hexdigest()[:8]
    return re.sub(r"[^\w.-]", "_", name)[:LETTERS] + f"-{mark}"


def summary_beside(job: Path, shot: str | None, kind: str) -> Path:
    """Return the path of the summary of the whole job, or of one shot; different jobs and shots give different paths."""
    if shot is None:
        return job.with_name(f"{job.name}.{kind}.json")
    shot = shot.removeprefix("#")
    name = shot.removesuffix(".blend")
    is_plain = name == shot and re.fullmatch(rf"[\w.-]{{0,{LETTERS}}}", name)
    return job.with_name(f"{job.name}.{name if is_plain else _marked(name, shot)}.{kind}.json")


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
    outputs = _output_folders(job, folder)
    paths = sorted({path for pattern in job.shots for path in _matches(job, folder, pattern, outputs)})
    tables: dict[Path, list[ShotTable]] = {}
    for table in job.tables:
        for path in _matches(job, folder, table.file, outputs):
            tables.setdefault(path, []).append(table)
    shots = []
    for path in paths:
        own_job = job_for(job, tables.get(path, []))
        goal = path if job.in_place or own_job.use in READS_ONLY else _goal(own_job, folder, path)
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
        shots.append(Shot(path, goal, name, own_job))
    if not job.in_place:
        _refuse_mixed_up(job, folder, shots, outputs)
    return shots


def _output_folders(job: Job, folder: Path) -> list[Path]:
    """Return the folders, below that of the job, that hold nothing but outputs: the beginnings of the output patterns."""
    fixed = [PLACEHOLDER.split(output)[0].rpartition("/")[0] for output in (job.output, *(table.output for table in job.tables))]
    return [folder / name for name in fixed if name and (folder / name).is_relative_to(folder) and ".." not in Path(name).parts]


def _goes_through(pattern: str, folder: Path, outputs: Sequence[Path]) -> list[Path]:
    """Return those folders of outputs that a pattern with `**` reaches only because it goes through all folders."""
    parts = _parts(pattern)
    if FOLDERS not in parts:
        return []
    named = Path(Path(pattern).anchor or folder, *parts[: parts.index(FOLDERS)])
    return [output for output in outputs if not named.is_relative_to(output)]


def taken_for_outputs(job: Job) -> list[Path]:
    """Return the files that match a pattern of shots with `**` but lie where outputs go, and are no shots therefore."""
    folder = followed(job.path).parent
    outputs = _output_folders(job, folder)
    found = {path for pattern in job.shots for path in _matches(job, folder, pattern, ())} if outputs else set()
    return sorted(found - {path for pattern in job.shots for path in _matches(job, folder, pattern, outputs)})


def _matches(job: Job, folder: Path, pattern: str, outputs: Sequence[Path]) -> set[Path]:
    """Return the files that a pattern names; with `**` it goes through all folders but those of outputs."""
    if not glob.has_magic(pattern) or os.path.isfile(folder / pattern):  # noqa: PTH113 - names may have brackets, and patterns may be too long for one
        return {followed(folder / pattern)}  # A file that is missing fails as a shot, and the others go on.
    start, parts = Path(Path(pattern).anchor or folder), _parts(pattern)
    # Hidden files are meant only by a pattern that names their dot. `**` does not go through links, which may form circles.
    is_hidden = any(part.startswith(".") for part in parts)
    try:
        others = _goes_through(pattern, folder, outputs)
        paths = [path for path in start.glob("/".join(parts)) if path.is_file() and not any(map(path.is_relative_to, others))]
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
    known = _values(job, folder, shot)
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


def _values(job: Job, folder: Path, shot: Path) -> dict[str, str]:
    """Return what stands for each placeholder of an output; raises `UsageError` for {path} with a shot outside the folder."""
    values = {"shot": shot.stem, "folder": str(shot.parent), "job": job.path.stem, "version": VERSION}
    if shot.is_relative_to(folder):
        return values | {"path": shot.parent.relative_to(folder).as_posix()}
    if "{path}" in job.output:
        what = 'has {{path}}, but shot "{shot}" is outside the folder of the job. Begin with {{folder}} instead'
        raise _wrong_output(job, what, shot=shot)
    return values


def _refuse_mixed_up(job: Job, folder: Path, shots: list[Shot], outputs: Sequence[Path]) -> None:
    """Refuse outputs that two shots share, that are shots or match a pattern of shots, or that go to a folder with shots."""
    sources = {spelled(shot.path) for shot in shots}
    holding = {spelled(shot.path.parent) for shot in shots}
    patterns = []
    for pattern in filter(glob.has_magic, job.shots):
        parts, others = _parts(str(folder / pattern)), _goes_through(pattern, folder, outputs)
        names = [re.sub(r"\\[zZ]$", "", fnmatch.translate(part)).replace(".*", "[^/]*") for part in parts]
        one_by_one = ["(?:[^/]+/)*" if part == FOLDERS else f"{name}/" for part, name in zip(parts, names, strict=True)]
        places = [re.escape(other.as_posix().removeprefix(other.anchor)) for other in others]
        beside = f"(?!(?:{'|'.join(places)})/)" if places else ""
        patterns.append(beside + "".join(one_by_one).removesuffix("/"))
    would_be_found = re.compile("|".join(patterns) or "(?!)")
    taken: dict[str, Shot] = {}
    for shot in [shot for shot in shots if shot.job.use not in READS_ONLY]:
        goal = followed(shot.goal)
        name = spelled(goal)
        if name in taken:
            what = 'saves both "{first}" and "{shot}" as "{goal}". Use {missing} in it'
            missing = "{path}/{shot}" if "{shot}" in job.output else "{shot}"
            raise _wrong_output(job, what, first=taken[name].name, shot=shot.name, goal=goal, missing=missing)
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

    Then the output is known to be a batch's own, whenever that is killed. Paths in the job's folder are written as seen from
    there, so that they hold when the folder is renamed, or mounted elsewhere.
    """
    folder = followed(path.parent.parent)
    seen = {name: _seen_from(folder, Path(value)) for name, value in (("shot", record.shot), ("output", record.output))}
    write_document("record", path, {"version": FORMAT, **asdict(record), **seen})


def _seen_from(folder: Path, path: Path) -> str:
    whole = followed(path)
    return whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else str(path)


def record_of(shot: Shot) -> ShotRecord | None:
    """Return the record of a shot, with whole paths; `None` if there is none, or one that is damaged."""
    try:
        return _read_record(_found_record(shot))
    except FileError:
        return None


def damage_of(shot: Shot) -> str:
    """Return a sentence about the record of a shot that is there but cannot be used; empty otherwise."""
    path = _found_record(shot)
    try:
        if path.exists():
            _read_record(path)
    except FileError as error:
        return f"{error} Shot {shown(shot.name)} counts as not done yet."
    return ""


def _found_record(shot: Shot) -> Path:
    """Return the path of a shot's record; if this job has none, the newest one of a job that is no longer there by its name."""
    if shot.record.exists():
        return shot.record
    folders = [folder for folder in shot.record.parent.parent.glob(f"*{RECORDS}") if not folder.with_suffix("").exists()]
    of_renamed = [folder / shot.record.name for folder in folders if (folder / shot.record.name).is_file()]
    return max(of_renamed, key=lambda path: path.stat().st_mtime, default=shot.record)


def _saved_before(shot: Shot) -> set[str]:
    """Return the digests of what batches have saved for a shot: its contents tell an output, wherever it lies by now.

    They count even where the rest of the record is damaged, so that the shot can be done anew.
    """
    try:
        table = read_table(_found_record(shot))
    except FileError:
        return set()
    digests = (table.get(name) for name in ("output_sha256", "earlier_sha256")) if isinstance(table, dict) else ()
    return {digest for digest in digests if isinstance(digest, str)}


def _read_record(path: Path) -> ShotRecord:
    """Read a record by its schema; raises `FileError` that names what is damaged."""
    table, hints = read_table(path), get_type_hints(ShotRecord)
    if not isinstance(table, dict):
        raise FileError('Record "{path}" is damaged: it is not a table of keys and values.', path=path)
    is_right = {name: name in table and _is_of(hint, table[name]) for name, hint in hints.items()}
    is_right["version"] = table.get("version") == FORMAT
    is_right["state"] = is_right["state"] and table["state"] in STATES
    for name in ("shot", "output"):
        try:
            table[name] = str(followed(path.parent.parent / table[name])) if is_right[name] else ""
        except ValueError:  # No file system has such a name.
            is_right[name] = False
    if wrong := [name for name, is_one in is_right.items() if not is_one]:
        raise FileError('Record "{path}" is damaged: key "{key}" is missing or wrong.', path=path, key=wrong[0])
    return ShotRecord(**{name: table[name] for name in hints})


def _is_of(hint: Any, value: object) -> bool:
    """Whether a value read from JSON has the type of a record's field."""
    if isinstance(hint, UnionType):
        return any(_is_of(part, value) for part in get_args(hint))
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_is_of(get_args(hint)[0], entry) for entry in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, get_origin(hint) or hint) and (hint is not int or not isinstance(value, bool))


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
        and record.output_sha256 in {NOTHING, content_of(Path(record.output) if "{version}" in shot.job.output else shot.goal)}
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
    content = content_of(goal)
    if content and (content in _saved_before(shot) or not goal.stat().st_size):
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
