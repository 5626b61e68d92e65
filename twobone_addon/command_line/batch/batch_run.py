"""One shot of a batch, from starting its Blender to its line in the summary."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, fields
from pathlib import Path

from ..files.claims import remove_litter
from ..jobs.job import Job, job_text
from ..outcomes import ExitCode
from .fingerprints import fingerprint
from .processes.child_process import Child, start_child
from .shots import Shot
from .summary import CRASHED, DONE, FAILED, INCOMPLETE, STRICT, TIMED_OUT, ShotRecord

GIGABYTE = 1 << 30

LINES_IN_SUMMARY = 20
"""Last lines of the log that the summary keeps of a shot that is not done."""


@dataclass(frozen=True, slots=True)
class QueuedShot:
    """A shot to bake and its record in the summary."""

    shot: Shot
    record: ShotRecord

    def take_over(self, known: ShotRecord) -> None:
        """Copy what an earlier batch found out."""
        for entry in fields(ShotRecord):
            setattr(self.record, entry.name, getattr(known, entry.name))


@dataclass(frozen=True, slots=True)
class Running:
    """A shot whose Blender has been started."""

    queued: QueuedShot
    child: Child
    report: Path
    """Where its Blender writes the report."""
    linked: Path
    """Where its Blender writes which files the shot links."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """What all shots of a batch share."""

    job: Job
    scratch: Path
    """Folder for reports."""
    scripts: bool
    """Whether the shots' own scripts run."""
    dry_run: bool
    """Whether shots are opened and looked at only; nothing is saved."""
    timeout: float | None
    """Seconds that a shot may take."""
    allow_incomplete: bool
    """Whether shots are saved where something that moves the chains is missing."""
    upgrade: bool
    """Whether files of other versions of Blender are saved over."""
    memory: float | None
    """Gigabytes that its Blender may hold."""

    def start(self, queued: QueuedShot, number: int) -> Running | None:
        """Start the shot's Blender; `number` is unlike any other shot's. `None` where it cannot: the record says why."""
        shot, report, linked = queued.shot, self.scratch / f"{number}.json", self.scratch / f"{number}.linked.json"
        try:
            if not self.dry_run:
                shot.goal.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            queued.record.state = FAILED
            queued.record.reason = f'The folder "{shot.goal.parent}" cannot be made ({error.strerror}). Choose another.'
            return None
        job = self.scratch / f"{number}.job.json"
        job.write_text(job_text(shot.job), encoding="utf-8")
        words = [self.job.use, "--file", str(shot.path), "--job", str(job), *self._saving(shot)]
        words += ["--report", str(report), "--linked", str(linked), "--scripts" if self.scripts else "--no-scripts"]
        words += ["--sha256", shot.content] if shot.content else []
        words += ["--allow-incomplete"] if self.allow_incomplete and self.job.use not in {"clear", "limbs"} else []
        words += ["--upgrade"] if self.upgrade else []
        child = start_child(words, self.scratch, int(self.memory * GIGABYTE) if self.memory else None)
        return Running(queued, child, report, linked)

    def _saving(self, shot: Shot) -> list[str]:
        """Flags that save the shot; in a dry run none, since only a bake can say beforehand what it would write."""
        if not self.dry_run:
            return ["--save", str(shot.goal)]
        return ["--dry-run"] if self.job.use == "bake" else []

    def has_ended(self, running: Running) -> bool:
        """Whether the shot is through; then its record is complete. One that takes too long is ended."""
        code = running.child.exit_code()
        if code is not None:
            running.child.clean_up()
            remove_litter(running.queued.shot.goal.parent)
            self._judge(running, code)
        elif self.timeout is not None and running.child.seconds > self.timeout:
            give_up(running)
            _note(running, TIMED_OUT, f"It took longer than {self.timeout:g} s.", None)
        elif running.child.is_too_large():
            give_up(running)
            _note(running, CRASHED, f"It took more than {self.memory:g} GB of memory.", None)
        else:
            return False
        return True

    def _judge(self, running: Running, code: int) -> None:
        record = running.queued.record
        if running.report.is_file():
            record.report = json.loads(running.report.read_text(encoding="utf-8"))
        record.warnings = record.report["provenance"]["warnings"] if record.report else []
        words = [sentence for sentence in running.child.log.own_sentences() if sentence not in record.warnings]
        if code == ExitCode.DONE and record.report is not None:
            _note(running, DONE, "", code)
            if self.dry_run:
                return
            provenance = record.report["provenance"]
            source, output = provenance["source"]["sha256"], provenance["output"]["sha256"]
            # Baked in place, the shot is another file than before.
            record.fingerprint = fingerprint(
                running.queued.shot.job, output if self.job.in_place else source, scripts=self.scripts
            )
            record.output_sha256 = output
            record.linked = json.loads(running.linked.read_text(encoding="utf-8"))
        elif code == ExitCode.STRICT and words:
            _note(running, STRICT, " ".join(words), code)
        elif code == ExitCode.INCOMPLETE and words:
            _note(running, INCOMPLETE, " ".join(words), code)
        elif code in {ExitCode.COULD_NOT, ExitCode.USAGE} and words:
            _note(running, FAILED, words[-1], code)
        else:
            _note(running, CRASHED, f"Blender ended with {_ending(code)}. See the log in the summary.", code)


def give_up(running: Running) -> None:
    """End the shot's Blender and remove what it was writing; its record stays as it is."""
    running.child.end()
    remove_litter(running.queued.shot.goal.parent)


def _note(running: Running, state: str, reason: str, code: int | None) -> None:
    record = running.queued.record
    record.state, record.reason, record.exit_code = state, reason, code
    record.seconds = round(running.child.seconds, 3)
    record.log = [] if state == DONE else running.child.log.latest(LINES_IN_SUMMARY)


def _ending(code: int) -> str:
    """An exit code in words; below zero it is a signal."""
    if code >= 0:
        return f"exit code {code}"
    names = {int(known): known.name for known in signal.Signals}
    return names.get(-code, f"signal {-code}")
