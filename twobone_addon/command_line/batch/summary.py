"""What became of every shot of a batch: one JSON file that a later run resumes from, and the same as a table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..files.text_files import one_line, write_text
from ..outcomes import UsageError
from ..version import FORMAT

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
    """Of the output as it was saved; `--resume` compares it."""
    linked: dict[str, str] = field(default_factory=dict)
    """Of the files that it links, see `linked_contents`; `--resume` compares them as well."""
    warnings: list[str] = field(default_factory=list)
    """What a person should know of the result."""
    log: list[str] = field(default_factory=list)
    """The last lines that Blender printed, where it is not done."""
    report: dict[str, Any] | None = None
    """The bake's report."""


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
            writer.writerow([one_line(cell) if isinstance(cell, str) else cell for cell in cells])
        return text.getvalue()


def earlier_fingerprints(path: Path | None) -> dict[tuple[str, str], ShotRecord]:
    """What an earlier batch has done, by shot and output; empty without a summary. Raises `UsageError` if it is none."""
    if path is None or not path.is_file():
        return {}
    try:
        shots = json.loads(path.read_text(encoding="utf-8"))["shots"]
        records = [ShotRecord(**entry) for entry in shots]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f'"{path}" is not a batch summary. Pass another file to --summary.') from error
    return {(record.shot, record.output): record for record in records if record.state == DONE}
