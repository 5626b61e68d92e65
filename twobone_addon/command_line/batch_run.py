"""One shot of a batch, from starting its Blender to its line in the summary."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, fields
from pathlib import Path

from .child_process import Child, start_child
from .fingerprints import fingerprint
from .jobs import Job
from .outcomes import ExitCode
from .shots import Shot
from .summary import CRASHED, DONE, FAILED, STRICT, TIMED_OUT, ShotRecord
from .text_files import remove_unfinished

OWN_WORDS = "twobone: "
"""How the command's own sentences begin in the log."""

LINES_IN_SUMMARY = 20
"""Last lines of the log that the summary keeps of a shot that is not done."""


@dataclass(frozen=True, slots=True)
class Task:
    """A shot to bake and its record in the summary."""

    shot: Shot
    record: ShotRecord

    def take_over(self, known: ShotRecord) -> None:
        """Copy what an earlier batch found out."""
        for entry in fields(ShotRecord):
            setattr(self.record, entry.name, getattr(known, entry.name))


@dataclass(frozen=True, slots=True)
class Running:
    """A task whose Blender has been started."""

    task: Task
    child: Child
    fingerprint: str
    """Of the shot as it was then."""
    report: Path
    """Where its Blender writes the report."""
    linked: Path
    """Where its Blender writes which files the shot links."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """What all shots of a batch share."""

    job: Job
    job_copy: Path
    """The job file as it was when the batch began."""
    scratch: Path
    """Folder for logs and reports."""
    scripts: bool
    timeout: float | None

    def start(self, task: Task, number: int) -> Running:
        """Start the shot's Blender; `number` is unlike any other task's."""
        shot, report, linked = task.shot, self.scratch / f"{number}.json", self.scratch / f"{number}.linked.json"
        before = fingerprint(self.job, shot.path, scripts=self.scripts)
        shot.goal.parent.mkdir(parents=True, exist_ok=True)
        words = ["bake", "--file", str(shot.path), "--job", str(self.job_copy), "--save", str(shot.goal)]
        words += ["--report", str(report), "--linked", str(linked), *(["--scripts"] if self.scripts else [])]
        child = start_child(words, self.scratch / f"{number}.log")
        return Running(task, child, before, report, linked)

    def has_ended(self, running: Running) -> bool:
        """Whether the shot is through; then its record is complete. One that takes too long is ended."""
        code = running.child.exit_code()
        if code is not None:
            remove_unfinished(running.task.shot.goal)
            self._judge(running, code)
        elif self.timeout is not None and running.child.seconds > self.timeout:
            give_up(running)
            _note(running, TIMED_OUT, f"It took longer than {self.timeout:g} s.", None)
        else:
            return False
        return True

    def _judge(self, running: Running, code: int) -> None:
        record = running.task.record
        if running.report.is_file():
            record.report = json.loads(running.report.read_text(encoding="utf-8"))
        words = _own_sentences(running.child)
        if code == ExitCode.DONE and record.report is not None:
            _note(running, DONE, "", code)
            record.fingerprint = self._fingerprint_afterwards(running)
            record.linked = json.loads(running.linked.read_text(encoding="utf-8"))
        elif code == ExitCode.STRICT and words:
            _note(running, STRICT, " ".join(words), code)
        elif code in {ExitCode.COULD_NOT, ExitCode.USAGE} and words:
            _note(running, FAILED, words[-1], code)
        else:
            _note(running, CRASHED, f"Blender ended with {_ending(code)}. See the log in the summary.", code)

    def _fingerprint_afterwards(self, running: Running) -> str:
        """What the shot will look like to `--resume`: baked in place, it is another file than before."""
        if not self.job.in_place:
            return running.fingerprint
        return fingerprint(self.job, running.task.shot.path, scripts=self.scripts)


def give_up(running: Running) -> None:
    """End the shot's Blender and remove what it was writing; its record stays as it is."""
    running.child.end()
    remove_unfinished(running.task.shot.goal)


def _note(running: Running, state: str, reason: str, code: int | None) -> None:
    record = running.task.record
    record.state, record.reason, record.exit_code = state, reason, code
    record.seconds = round(running.child.seconds, 3)
    record.log = [] if state == DONE else running.child.log_lines()[-LINES_IN_SUMMARY:]


def _own_sentences(child: Child) -> list[str]:
    return [line.removeprefix(OWN_WORDS) for line in child.log_lines() if line.startswith(OWN_WORDS)]


def _ending(code: int) -> str:
    """An exit code in words; below zero it is a signal."""
    if code >= 0:
        return f"exit code {code}"
    names = {int(known): known.name for known in signal.Signals}
    return names.get(-code, f"signal {-code}")
