"""The summary of a batch: the result of every shot, as a JSON file from which a later run resumes, and as a CSV table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...pipeline.report.reports import FORMAT
from ..files.text_files import one_line, write_text
from ..outcomes import UsageError

DONE, STRICT, INCOMPLETE, FAILED, CRASHED, TIMED_OUT, WAITING = STATES = (
    "done",
    "strict",
    "incomplete",
    "failed",
    "crashed",
    "timed out",
    "waiting",
)


COLUMNS = (
    "shot",
    "output",
    "state",
    "reason",
    "seconds",
    "frames",
    "keys",
    "reached",
    "too_far",
    "too_near",
    "max_error",
    "warnings",
)


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of cells that spreadsheets take for formulas."""


@dataclass(slots=True)
class ShotRecord:
    """One shot in the summary."""

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
    """SHA-256 of job, shot and program versions when it was done; compared by `--resume`."""
    output_sha256: str = ""
    """SHA-256 of the output as saved by this or an earlier batch; an output with other contents is never replaced."""
    linked: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each linked file by path, see `linked_contents`; compared by `--resume`."""
    warnings: list[str] = field(default_factory=list)
    """Warnings about the result."""
    log: list[str] = field(default_factory=list)
    """The last lines that Blender printed; empty if the shot is done."""
    report: dict[str, Any] | None = None
    """The bake's report."""


KEYS = {entry.name for entry in fields(ShotRecord)}


@dataclass(frozen=True, slots=True)
class Summary:
    """All shots of a batch, in the job's order."""

    path: Path | None
    """Path of the JSON file; `None` if the summary is only printed at the end."""
    job: Path
    shots: list[ShotRecord]

    def write(self) -> None:
        """Write the JSON file and the table, each atomically; does nothing without a path. Raises `FileError`."""
        if self.path is not None:
            write_text(self.path, json.dumps(self.document(), indent=2) + "\n")
            write_text(self.path.with_suffix(".csv"), self._table())

    def document(self) -> dict[str, Any]:
        """Return the summary as a JSON document."""
        counts = {state: sum(record.state == state for record in self.shots) for state in STATES}
        return {"version": FORMAT, "job": str(self.job), **counts, "shots": [asdict(record) for record in self.shots]}

    def _table(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for record in self.shots:
            values = {**(record.report or {}), **asdict(record), "warnings": " ".join(record.warnings)}
            cells = [values.get(column, "") for column in COLUMNS]
            writer.writerow([_cell(cell) if isinstance(cell, str) else cell for cell in cells])
        return text.getvalue()


def _cell(text: str) -> str:
    """Return the text in one line, quoted if a spreadsheet would take it for a formula and run it."""
    line = one_line(text)
    return f"'{line}" if line.startswith(FORMULAS) else line


def refuse_foreign_table(path: Path) -> None:
    """Refuse to replace a file that is not a batch's table; raises `UsageError`."""
    try:
        with path.open("rb") as file:
            first = file.readline(1000)
    except FileNotFoundError:
        return
    except OSError:
        first = b"?"
    if first and not first.startswith(b"shot,output,state,"):
        raise UsageError('--summary would replace "{path}", which is no table of a batch. Name another file.', path=path)


def earlier_records(path: Path | None) -> dict[tuple[str, str], ShotRecord]:
    """Read the records of an earlier summary, by shot and output; empty without a file. Raises `UsageError` for other files."""
    if path is None or not path.is_file():
        return {}
    try:
        records = [_record(entry) for entry in json.loads(path.read_text(encoding="utf-8"))["shots"]]
    except OSError as error:
        raise UsageError(
            '"{path}" cannot be read ({reason}). Pass another file to --summary.', path=path, reason=error.strerror or ""
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError('"{path}" is not a batch summary. Pass another file to --summary.', path=path) from error
    return {(record.shot, record.output): record for record in records}


def _record(entry: dict[str, Any]) -> ShotRecord:
    """Read a record, ignoring keys that a later version has added; raises `TypeError` if it is invalid."""
    record = ShotRecord(**{key: value for key, value in entry.items() if key in KEYS})
    texts = (record.shot, record.output, record.state, record.reason, record.fingerprint, record.output_sha256)
    lists = (record.warnings, record.log)
    fits = all(isinstance(text, str) and "\0" not in text for text in (*texts, *record.linked, *record.linked.values()))
    fits &= all(isinstance(lines, list) and all(isinstance(line, str) for line in lines) for lines in lists)
    fits &= isinstance(record.seconds, int | float) and (record.report is None or isinstance(record.report, dict))
    if not fits or record.state not in STATES:
        raise TypeError(entry)
    return record
