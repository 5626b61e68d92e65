"""The shots of a batch and their outputs: found by patterns, or read from a frozen list."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...pipeline.report.reports import FORMAT
from ...settings.options import shown
from ..files.outputs import spelled
from ..files.shot_files import open_shot
from ..files.text_files import content_of, contents_of, followed, is_long
from ..job import Job, ShotTable, job_for
from ..job_values import READS_ONLY
from ..outcomes import FileError, UsageError
from ..provenance import linked_files

FOLDERS = "**"
"""Pattern part that matches any number of folders."""


def matching_files(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield every file that a pattern relative to `folder` matches; hidden ones only if it names the dot. Links are followed."""
    whole = Path(pattern)
    start = Path(whole.anchor) if whole.anchor else folder
    parts = [part for part in whole.parts if part != whole.anchor]
    for path in _below(start, parts):
        if path.is_file() or is_long(path):  # A path too long to check fails later as a shot, and the others go on.
            yield path


class PathPatterns:
    """Matches a path, which need not exist, against many patterns without trying each of them."""

    def __init__(self, folder: Path, patterns: list[str]) -> None:
        """Index the patterns, which are relative to `folder`, by the folders before their first wildcard."""
        self._by_start: dict[tuple[str, ...], list[list[str]]] = {}
        for pattern in patterns:
            parts = list((folder / pattern).parts)
            first = next((place for place, part in enumerate(parts) if glob.has_magic(part)), len(parts))
            self._by_start.setdefault(tuple(parts[:first]), []).append(parts[first:])

    def would_find(self, path: Path) -> bool:
        """Whether one of the patterns matches this path."""
        parts = path.parts
        for end in range(len(parts) + 1):
            for pattern in self._by_start.get(parts[:end], ()):
                if _matches_pattern(list(parts[end:]), pattern):
                    return True
        return False


def _below(folder: Path, parts: list[str]) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if first == FOLDERS:
        for each in _folders(folder):
            yield from _below(each, rest or ["*"])
    elif glob.has_magic(first):
        for name in _names(folder):
            if fnmatch.fnmatch(name, first) and (not name.startswith(".") or first.startswith(".")):
                yield from _below(folder / name, rest)
    else:
        yield from _below(folder / first, rest)


def _folders(top: Path) -> Iterator[Path]:
    """Yield the folder and all folders below it, each once, even if several links lead to it."""
    seen, waiting = set[tuple[int, int]](), [top]
    while waiting:
        folder = waiting.pop()
        try:
            found = folder.stat()
        except OSError:
            continue
        if (found.st_dev, found.st_ino) in seen:
            continue
        seen.add((found.st_dev, found.st_ino))
        yield folder
        waiting += [folder / name for name in reversed(_names(folder, folders=True)) if not name.startswith(".")]


def _names(folder: Path, *, folders: bool = False) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not folders or entry.is_dir())
    except OSError:
        return []


def _matches_pattern(parts: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a path match those of a pattern, tracking how many pattern parts the path so far may have used."""
    used = {0}
    for part in [*parts, None]:
        waiting = list(used)
        while waiting:  # `**` may match no folder at all.
            place = waiting.pop()
            if place < len(pattern) and pattern[place] == FOLDERS and place + 1 not in used:
                used.add(place + 1)
                waiting.append(place + 1)
        if part is None:
            return len(pattern) in used
        stay = {place for place in used if place < len(pattern) and pattern[place] == FOLDERS}
        step = {place + 1 for place in used - stay if place < len(pattern) and fnmatch.fnmatch(part, pattern[place])}
        used = stay | step
    return False


LETTERS = 60
"""Maximum number of characters of a shot's name in the name of its summary."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
PLACEHOLDERS = (
    "{shot} (file name without .blend), {folder} (the shot's folder), {job} (job file without suffix) "
    "and {version} (the next number that is free)"
)
VERSION = "{version}"
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
    content: str | None = None
    """SHA-256 in the frozen list, empty if the shot could not be read then; `None` if there is nothing to check."""
    linked: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 in the frozen list of each file that the shot linked, by path."""


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
    found = sorted({path for pattern in job.shots for path in _matches(job, folder, pattern)})
    own_job = jobs_of_shots(job)
    shots = [_shot(own_job(path), folder, path) for path in found]
    if not job.in_place and job.use not in READS_ONLY:
        _refuse_mixed_up(job, folder, shots)
    return shots


def jobs_of_shots(job: Job) -> Callable[[Path], Job]:
    """Return a function from a shot's path to the job with the overrides for that shot."""
    folder = followed(job.path).parent
    tables: dict[Path, list[ShotTable]] = {}
    for table in job.tables:
        for path in set(_matches(job, folder, table.file)):
            tables.setdefault(path, []).append(table)
    return lambda path: job_for(job, tables.get(path, []))


def _shot(job: Job, folder: Path, path: Path) -> Shot:
    return Shot(path, path if job.in_place or job.use in READS_ONLY else _goal(job, folder, path), _name(path, folder), job)


def _matches(job: Job, folder: Path, pattern: str) -> list[Path]:
    if not glob.has_magic(pattern) or os.path.isfile(folder / pattern):  # noqa: PTH113 - names may have brackets, and patterns may be too long for one
        return [followed(folder / pattern)]  # A file that is missing fails as a shot, and the others go on.
    found = list(matching_files(folder, pattern))
    if not found:
        raise UsageError(
            'Job "{path}", key "shots": no file matches {pattern}. Correct the pattern.',
            path=job.path,
            pattern=shown(pattern),
        )
    return [followed(path) for path in found]


def _goal(job: Job, folder: Path, shot: Path) -> Path:
    if not job.output:
        raise UsageError(
            'Job "{path}" does not say where "{shot}" goes. Give "output" a pattern, in its table or for all.',
            path=job.path,
            shot=shot,
        )
    known = {"shot": shot.stem, "folder": str(shot.parent), "job": job.path.stem}

    def filled(match: re.Match[str]) -> str:
        if match[0] == VERSION:
            return VERSION
        if match[1] not in known:
            raise _wrong_output(
                job, 'has the unknown placeholder "{placeholder}". Use {known}', placeholder=match[0], known=PLACEHOLDERS
            )
        if match[1] == "folder" and match.start():
            raise _wrong_output(job, "has {{folder}} in the middle. Begin with it")
        return known[match[1]]

    text = PLACEHOLDER.sub(filled, job.output)
    if VERSION in text:
        text = text.replace(VERSION, _next_version(folder, text))
    if set("{}") & set(PLACEHOLDER.sub("", job.output)):
        raise _wrong_output(job, "has a brace that opens or closes nothing. Use {known}", known=PLACEHOLDERS)
    if ".." in re.split(r"[/\\]", text):
        raise _wrong_output(job, 'climbs up by "..". Name the folder itself')
    if "\0" in text or not text.lower().endswith(".blend") or Path(text).name.lower() == ".blend":
        raise _wrong_output(job, 'does not name a file that ends in ".blend". Name a .blend file')
    return folder / text


def _next_version(folder: Path, text: str) -> str:
    """Return one more than the highest existing version of an output that has `{version}` in its file name."""
    output = folder / text
    before, *_, after = output.name.split(VERSION)
    versioned = re.compile(f"{re.escape(before)}(\\d{{1,{LONGEST_NUMBER}}}).*{re.escape(after)}", re.IGNORECASE)
    try:
        matches = [versioned.fullmatch(name) for name in os.listdir(output.parent)]  # noqa: PTH208 - names are all that is wanted
    except OSError:
        matches = []
    return f"{max((int(match[1]) for match in matches if match), default=0) + 1:0{DIGITS}}"


def _refuse_mixed_up(job: Job, folder: Path, shots: list[Shot]) -> None:
    """Refuse outputs that two shots share, that are shots or match a pattern of shots, or that go to a folder with shots."""
    sources = {spelled(shot.path) for shot in shots}
    holding = {spelled(shot.path.parent) for shot in shots}
    patterns = PathPatterns(folder, [pattern for pattern in job.shots if glob.has_magic(pattern)])
    taken: dict[str, Shot] = {}
    for shot in shots:
        if shot.job.use in READS_ONLY:
            continue
        goal = followed(shot.goal)
        name = spelled(goal)
        if name in taken:
            raise _wrong_output(
                job,
                'saves both "{first}" and "{shot}" as "{goal}". Use {{shot}} in it',
                first=taken[name].name,
                shot=shot.name,
                goal=goal,
            )
        if name in sources or patterns.would_find(goal):
            raise _wrong_output(
                job, 'saves "{shot}" as "{goal}", which is a shot itself. Save to another folder', shot=shot.name, goal=goal
            )
        if spelled(goal.parent) in holding:
            raise _wrong_output(
                job,
                'saves "{shot}" into "{folder}", which holds shots. Save to another folder',
                shot=shot.name,
                folder=goal.parent,
            )
        taken[name] = shot


def _wrong_output(job: Job, what: str, **values: str | Path) -> UsageError:
    return UsageError(f'Job "{{path}}": the output pattern "{{pattern}}" {what}.', path=job.path, pattern=job.output, **values)


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def chosen_shot(job: Job, shots: list[Shot], asked: str) -> Shot:
    """Return the shot with this name, path, unique file name or number (from 1); `#7` is always a number.

    Raises `UsageError` if there is none, or if a file name is also the number of another shot.
    """
    digits = asked.removeprefix("#")
    number = int(digits) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else 0
    numbered = shots[number - 1] if 1 <= number <= len(shots) else None
    named = [shot for shot in shots if asked in {shot.name, str(shot.path)}]
    if named:
        return named[0]
    named = [shot for shot in shots if asked in {shot.path.name, shot.path.stem}]
    if len(named) > 1:
        raise UsageError(
            'Job "{path}" has {count} shots "{asked}". Name one as --list does.',
            path=job.path,
            count=len(named),
            asked=asked,
        )
    if named and numbered is not None and numbered is not named[0] and str(number) == asked:
        raise UsageError(
            'Job "{job}": "{asked}" is the name of "{name}" and the number of "{other}". Name it as --list does, or #{asked}.',
            job=job.path,
            asked=asked,
            name=named[0].name,
            other=numbered.name,
        )
    if named or numbered is not None:
        return named[0] if named else numbered  # type: ignore[return-value]
    if number:
        raise UsageError(
            'Job "{path}" has no shot {number}. Use a number from 1 to {count}.',
            path=job.path,
            number=number,
            count=len(shots),
        )
    raise UsageError('Job "{path}" has no shot "{shot}". Name one as --list does.', path=job.path, shot=asked[:LETTERS])


def summary_beside(job: Path, shot: str | None, kind: str) -> Path:
    """Return the path of the summary of the whole job, or of one shot; different shot names give different paths."""
    if shot is None:
        return job.with_name(f"{job.stem}.{kind}.json")
    shot = shot.removeprefix("#")
    plain = re.sub(r"[^\w.-]", "_", shot.removesuffix(".blend"))[:LETTERS]
    if plain != shot:
        plain += f"-{hashlib.sha256(shot.encode(errors='surrogateescape')).hexdigest()[:8]}"
    return job.with_name(f"{job.stem}.{plain}.{kind}.json")


def frozen_list(job: Job, shots: list[Shot], timeout: float | None) -> dict[str, Any]:
    """Return the list of shots as a JSON document, with the SHA-256 of the job, of all shots and of the files they link.

    The hash is empty for files that could not be read in time. Each shot is opened, without its scripts, since only Blender
    knows what it links.
    """
    contents = contents_of([shot.path for shot in shots], timeout)
    linked = {path: _linked_by(path) for path, content in contents.items() if content}
    contents |= contents_of({path for paths in linked.values() for path in paths}, timeout)
    entries = [
        {
            "number": number,
            "name": shot.name,
            "path": str(shot.path),
            "output": str(shot.goal),
            "sha256": contents[shot.path],
            "linked": {str(path): contents[path] for path in linked.get(shot.path, ())},
        }
        for number, shot in enumerate(shots, start=1)
    ]
    return {"version": FORMAT, "job": str(followed(job.path)), "job_sha256": content_of(job.path), "shots": entries}


def _linked_by(shot: Path) -> list[Path]:
    try:
        open_shot(shot, scripts=False)
    except FileError:
        return []  # The batch will report that the shot cannot be opened.
    return linked_files()


def frozen_shots(job: Job, path: Path) -> list[Shot]:
    """Read the shots of a frozen list, each with the SHA-256 that it must still have; raises `UsageError`.

    A job in place changes its own shots and may bake them again, so their contents are not checked.
    """
    own_job = jobs_of_shots(job)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        shots = [_frozen_shot(entry, own_job, checked=not job.in_place) for entry in document["shots"]]
        known = document["job_sha256"]
    except OSError as error:
        raise UsageError(
            '"{path}" cannot be read ({reason}). Name a list that --freeze has written.',
            path=path,
            reason=str(error.strerror),
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError('"{path}" is not a list written by --freeze. Name one that is.', path=path) from error
    if known != content_of(job.path):
        raise UsageError('Job "{job}" has changed since "{path}" was frozen. Freeze it again.', job=job.path, path=path)
    return shots


def _frozen_shot(entry: dict[str, Any], own_job: Callable[[Path], Job], *, checked: bool) -> Shot:
    path, goal, name, content = (entry[key] for key in ("path", "output", "name", "sha256"))
    linked = entry.get("linked", {})
    if not all(isinstance(text, str) and "\0" not in text for text in (path, goal, name, content, *linked, *linked.values())):
        raise TypeError(entry)
    os.fsencode(path + goal + name)  # Raises ValueError for lone surrogates, which no file name can contain.
    return Shot(Path(path), Path(goal), name, own_job(Path(path)), content if checked else None, linked)
