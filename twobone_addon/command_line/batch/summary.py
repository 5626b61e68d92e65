"""What became of every shot of a batch: one JSON file that a later run resumes from, and the same as a table."""

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
"""How a cell begins that spreadsheets take for a formula."""


@dataclass(slots=True)
class ShotRecord:
    """One shot in the summary."""

    shot: str
    """Its path."""
    output: str
    """The path it is saved as."""
    state: str = WAITING
    """`done`, `strict`, `incomplete`, `failed`, `crashed`, `timed out` or `waiting` (not begun, or stopped)."""
    reason: str = ""
    """Why it is not done, in one sentence."""
    exit_code: int | None = None
    seconds: float = 0.0
    fingerprint: str = ""
    """Of job, shot and programs when it was done; `--resume` compares it."""
    output_sha256: str = ""
    """Of the output as it was saved, now or by an earlier batch; any other that lies there is somebody's and not replaced."""
    linked: dict[str, str] = field(default_factory=dict)
    """Of the files that it links, see `linked_contents`; `--resume` compares them as well."""
    warnings: list[str] = field(default_factory=list)
    """What a person should know of the result."""
    log: list[str] = field(default_factory=list)
    """The last lines that Blender printed, where it is not done."""
    report: dict[str, Any] | None = None
    """The bake's report."""


KEYS = {entry.name for entry in fields(ShotRecord)}


@dataclass(frozen=True, slots=True)
class Summary:
    """All shots of a batch, in the job's order."""

    path: Path | None
    """`None` where it is only handed over at the end."""
    job: Path
    shots: list[ShotRecord]

    def write(self) -> None:
        """Write JSON and table, each whole or not at all."""
        if self.path is not None:
            write_text(self.path, json.dumps(self.document(), indent=2) + "\n")
            write_text(self.path.with_suffix(".csv"), self._table())

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
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
    """A text in one line, with a quote before what a spreadsheet would take for a formula and run."""
    line = one_line(text)
    return f"'{line}" if line.startswith(FORMULAS) else line


def refuse_foreign_table(path: Path) -> None:
    """Refuse to replace a table that no batch has written; raises `UsageError`."""
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
    """What an earlier batch knows, by shot and output; empty without a summary. Raises `UsageError` if it is none."""
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
    """A record as it was written, keys that a later version has added left out; raises `TypeError` for anything else."""
    record = ShotRecord(**{key: value for key, value in entry.items() if key in KEYS})
    texts = (record.shot, record.output, record.state, record.reason, record.fingerprint, record.output_sha256)
    lists = (record.warnings, record.log)
    fits = all(isinstance(text, str) and "\0" not in text for text in (*texts, *record.linked, *record.linked.values()))
    fits &= all(isinstance(lines, list) and all(isinstance(line, str) for line in lines) for lines in lists)
    fits &= isinstance(record.seconds, int | float) and (record.report is None or isinstance(record.report, dict))
    if not fits or record.state not in STATES:
        raise TypeError(entry)
    return record
