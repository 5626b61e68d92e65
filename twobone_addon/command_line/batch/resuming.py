"""Results of earlier batches: `--resume` skips unchanged shots, and only outputs that batches of the job saved are replaced."""

from __future__ import annotations

import contextlib
import glob
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from ..files.claims import SAFELY
from ..files.shot_files import JOURNAL, is_whole
from ..files.text_files import content_of, contents_of
from ..job import Job
from ..outcomes import FileError, UsageError
from ..provenance import fingerprint
from .progress import Progress
from .shots import Shot
from .summary import DONE, ShotRecord, earlier_records

Earlier = dict[tuple[str, str], ShotRecord]
"""Records of an earlier batch, by shot and output."""


@dataclass(frozen=True, slots=True)
class QueuedShot:
    """A shot to process and its record in the summary."""

    shot: Shot
    record: ShotRecord

    def take_over(self, known: ShotRecord) -> None:
        """Copy the record of an earlier batch."""
        for entry in fields(ShotRecord):
            setattr(self.record, entry.name, getattr(known, entry.name))


@dataclass(slots=True)
class Saved:
    """The outputs saved by batches of one job, recognized by contents; any other file may be someone's work, so it is kept.

    In addition to the summaries, which a killed batch cannot complete, each Blender records in a journal what it is about
    to save.
    """

    job: Path
    summary: Path | None
    known: dict[str, set[str]] = field(default_factory=dict)
    """SHA-256 of all known saved versions of each output, by path."""
    replace: bool = False
    """Whether any existing file may be replaced."""
    no_clobber: bool = False
    """Whether no existing file may be replaced."""
    knows_siblings: bool = False
    """Whether the job's other summaries, of single shots or of all, have been read."""

    @property
    def journal(self) -> Path | None:
        """Path of the journal in which Blenders record what they save; `None` without a summary file."""
        return None if self.summary is None else self.summary.with_name(f".{self.summary.stem}.saved")

    def environment(self) -> dict[str, str]:
        """Return the environment variables that tell a Blender the journal's path."""
        return {} if self.journal is None else {JOURNAL: str(self.journal)}

    def learn(self, earlier: Earlier) -> None:
        """Add the outputs in the records of earlier batches, and in the journal."""
        self._learn_records(earlier.values())
        if self.journal is not None:
            self._learn_journal(self.journal)

    def refuse_foreign(self, shot: Shot) -> None:
        """Raise `FileError` if the shot's output exists and may not be replaced."""
        goal = shot.goal
        if self.replace or goal == shot.path or not goal.exists():
            return
        if self.no_clobber:
            raise FileError('"{goal}" already exists, and --no-clobber replaces nothing. Move it away.', goal=goal)
        if not is_whole(goal):
            return
        content = content_of(goal)
        if content not in self.known.get(str(goal), set()) and not self.knows_siblings:
            self._learn_records(record for _, record in sibling_records(self.job))
            for path in self.job.parent.glob(f".{glob.escape(self.job.stem)}*.summary.saved"):
                self._learn_journal(path)
            self.knows_siblings = True
        if content not in self.known.get(str(goal), set()):
            raise FileError(
                '"{goal}" was not saved by this job, or somebody has changed it since. Move it away, or use --replace.',
                goal=goal,
            )

    def note_unfinished(self, records: Iterable[ShotRecord]) -> None:
        """Store the SHA-256 of outputs that batches of this job have saved in the records of shots that are not done."""
        if self.journal is not None:
            self._learn_journal(self.journal)
        for record in records:
            known = self.known.get(record.output, set())
            content = content_of(Path(record.output)) if known else ""
            if content in known:
                record.output_sha256 = content

    def forget_journal(self) -> None:
        """Remove the journal, once the summary contains all its entries."""
        if self.journal is not None:
            with contextlib.suppress(OSError):
                self.journal.unlink()

    def _learn_records(self, records: Iterable[ShotRecord]) -> None:
        for record in records:
            if record.output_sha256:
                self.known.setdefault(record.output, set()).add(record.output_sha256)

    def _learn_journal(self, path: Path) -> None:
        """Add the outputs in a journal; ignore an incomplete line, whose Blender was killed before it saved."""
        try:
            handle = os.open(path, os.O_RDONLY | SAFELY)
        except OSError:
            return
        with os.fdopen(handle, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                with contextlib.suppress(ValueError, TypeError):
                    output, content = json.loads(line)
                    self.known.setdefault(output, set()).add(content)


def sibling_records(job: Path) -> Iterator[tuple[tuple[str, str], ShotRecord]]:
    """Yield the records of all summaries beside a job, of the whole batch and of single shots, with shot and output."""
    for path in sorted(job.parent.glob(f"{glob.escape(job.stem)}*.summary.json")):
        with contextlib.suppress(UsageError):  # Another file with a matching name.
            yield from earlier_records(path).items()


def left_to_do(
    queued_shots: list[QueuedShot],
    earlier: Earlier,
    progress: Progress,
    *,
    scripts: bool,
    allow_incomplete: bool,
    timeout: float | None,
) -> list[QueuedShot]:
    """Return the shots that no earlier batch has done; the others take over its records.

    A shot is done if its file, linked files and output are unchanged. Files that cannot be read within `timeout` seconds
    count as changed.
    """
    # With {version} in the pattern, each output is a new file, so the latest record of the shot counts.
    by_shot = {record.shot: record for record in earlier.values() if record.state == DONE}
    known = [(queued, _record_of(queued, earlier, by_shot)) for queued in queued_shots]
    paths = {Path(path) for queued, record in known if record for path in (queued.shot.path, record.output, *record.linked)}
    now = contents_of(paths, timeout)
    left, done = [], []
    for queued, record in known:
        is_done = record is not None and _is_done(queued.shot.job, record, now, scripts=scripts)
        incomplete = record is not None and bool((record.report or {}).get("incomplete"))
        if record is not None and is_done and (not incomplete or allow_incomplete or queued.shot.job.allow_incomplete):
            queued.take_over(record)
            done.append(queued.shot.name)
        else:
            left.append(queued)
    progress.skipped(done)
    return left


def _record_of(queued: QueuedShot, earlier: Earlier, by_shot: dict[str, ShotRecord]) -> ShotRecord | None:
    record = earlier.get((queued.record.shot, queued.record.output))
    if record is None and "{version}" in queued.shot.job.output:
        record = by_shot.get(queued.record.shot)
    return record if record is not None and record.state == DONE else None


def _is_done(job: Job, record: ShotRecord, now: dict[Path, str], *, scripts: bool) -> bool:
    if record.output_sha256 and record.output_sha256 != now[Path(record.output)]:
        return False
    if record.fingerprint != fingerprint(job, now[Path(record.shot)], scripts=scripts):
        return False
    return all(now[Path(path)] == content for path, content in record.linked.items())
