"""What a batch knows of its shots: a record of each, beside the job, by which a later batch resumes; and one summary."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import FileError
from ...files import NOTHING, content_of, read_table
from ...pipeline.completeness import version_text
from ...pipeline.report.reports import FORMAT
from ...version import addon_version
from ..files.outputs import write_document
from ..job import Job
from .shots import Shot

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
        found = read_table(shot.record)
    except FileError:
        return None
    names = [entry.name for entry in fields(ShotRecord)]
    if not isinstance(found, dict) or not set(names) <= found.keys() or not isinstance(found["output"], str):
        return None
    return ShotRecord(**{name: found[name] for name in names})


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
