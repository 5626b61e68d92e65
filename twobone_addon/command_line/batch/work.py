"""Run the shots of a batch in parallel on worker processes, until all have ended or the batch is stopped."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..files.claims import remove_litter
from ..files.text_files import contents_of, refuse_long
from ..job import Job, job_text
from ..job_values import READS_ONLY
from ..outcomes import AgainError, ExitCode, FileError, StoppedError, refused_by_system
from ..provenance import fingerprint
from ..stopping import StopRequest
from .processes import ShotLog, Worker, start_worker
from .progress import Progress
from .resuming import QueuedShot, Saved
from .shots import Shot
from .summary import CRASHED, DONE, FAILED, INCOMPLETE, STRICT, TIMED_OUT, WAITING, Summary

GIGABYTE = 1 << 30

LINES_IN_SUMMARY = 20
"""Number of last log lines that the summary keeps of a shot that is not done."""

LOOK_AGAIN = 0.05
"""Maximum polling interval of the running processes, in seconds."""
LOOK_SOON = 0.002
"""Polling interval right after a shot has ended, in seconds, for shots that only take milliseconds."""

SHARE = 10.0
"""Minimum interval between two writes of the summary, relative to how long a write takes."""

LARGE = 2 * GIGABYTE
"""Memory in bytes above which a worker is replaced after a shot."""

WINDOWS_CRASHES = {
    0xC0000005: "an access violation",
    0xC0000017: "no memory left",
    0xC00000FD: "a stack overflow",
    0xC0000142: "a library that cannot be loaded",
    0xC000013A: "Ctrl-C",
    0xC0000374: "a damaged heap",
    0xC0000409: "a damaged stack",
}


@dataclass(frozen=True, slots=True)
class BatchRun:
    """Settings and state shared by all shots of a batch."""

    job: Job
    scratch: Path
    """Folder for reports and other temporary files."""
    saved: Saved
    """The outputs that batches of this job have saved so far."""
    scripts: bool
    """Whether to run the shots' own scripts."""
    dry_run: bool
    """Whether to open the shots and save nothing."""
    timeout: float | None
    """Time limit per shot in seconds; `None` for no limit."""
    allow_incomplete: bool
    """Whether to save shots even if something that moves the chains is missing."""
    upgrade: bool
    """Whether to save over files of other Blender versions."""
    memory: float | None
    """Memory limit per Blender in gigabytes; `None` for no limit."""
    shots_per_blender: int = 100
    """Number of shots after which a Blender is replaced."""
    user_addons: bool = False
    """Whether to start Blenders with the user's add-ons and settings."""
    logs: Path | None = None
    """Folder for complete logs; `None` for no log files."""
    linked_now: dict[Path, str] = field(default_factory=dict)
    """Cache of the current SHA-256 of linked files, by path."""

    def arguments(self, queued: QueuedShot, number: int) -> list[str]:
        """Return the command's arguments for a shot; `number` is unique for each try. Raises `FileError` if it cannot start."""
        shot, use = queued.shot, queued.shot.job.use
        if shot.content == "":
            raise FileError(
                'Shot "{shot}" could not be read when the list of shots was frozen. Freeze the list again.', shot=shot.path
            )
        self._refuse_changed_links(shot)
        if not self.dry_run and use not in READS_ONLY:
            refuse_long(shot.goal, is_written=True)
            self.saved.refuse_foreign(shot)
            try:
                shot.goal.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise refused_by_system(shot.goal.parent, "made", error) from error
        words = [use, "--file", str(shot.path), "--report", str(self.report(number))]
        words += ["--scripts" if self.scripts else "--no-scripts"]
        if use == "chains":
            return words + (["--scene", shot.job.scene] if shot.job.scene else [])
        try:
            job = self.scratch / f"{number}.job.json"
            job.write_text(job_text(shot.job), encoding="utf-8")
        except OSError as error:
            raise refused_by_system(self.scratch, "written to", error) from error
        words += ["--job", str(job)]
        words += ["--allow-incomplete"] if self.allow_incomplete and use not in {"clear", "limbs"} else []
        if use in READS_ONLY:
            return words
        words += ["--linked", str(self.linked(number))]
        words += ["--sha256", shot.content] if shot.content else []
        words += ["--upgrade"] if self.upgrade else []
        words += ["--again"] if use == "convert" and shot.job.in_place else []
        # A dry run saves nothing; of the batch's commands, only a bake gets --dry-run and reports what it would write.
        return words + (["--save", str(shot.goal)] if not self.dry_run else ["--dry-run"] if use == "bake" else [])

    def _refuse_changed_links(self, shot: Shot) -> None:
        """Raise `FileError` if a file that a frozen shot links has changed since, including one that was missing then."""
        links = {Path(path): content for path, content in shot.linked.items()}
        self.linked_now.update(contents_of(links.keys() - self.linked_now.keys(), self.timeout))
        for path, content in links.items():
            if self.linked_now[path] != content:
                raise FileError(
                    '"{path}", which shot "{shot}" links, has changed since the list of shots was frozen. Freeze the list again.',
                    path=path,
                    shot=shot.path,
                )

    def report(self, number: int) -> Path:
        """Return the path of a shot's report."""
        return self.scratch / f"{number}.json"

    def linked(self, number: int) -> Path:
        """Return the path of the list of files that a shot links."""
        return self.scratch / f"{number}.linked.json"

    def log(self, queued: QueuedShot, number: int) -> ShotLog:
        """Return the log for what a worker prints while it processes this shot."""
        if self.logs is None:
            return ShotLog()
        return ShotLog(self.logs / f"{number + 1:04}.{queued.shot.path.stem[:60]}.log")

    def new_worker(self) -> Worker:
        """Start another worker."""
        memory = int(self.memory * GIGABYTE) if self.memory else None
        return start_worker(self.scratch, memory, self.saved.environment(), user_addons=self.user_addons)

    def can_go_on(self, worker: Worker) -> bool:
        """Whether the worker can take another shot; never after scripts, which may leave Blender in any state."""
        has_shots_left = worker.shots < (1 if self.scripts else self.shots_per_blender)
        return has_shots_left and worker.lives and worker.look_at_memory() < min(LARGE, (worker.memory or LARGE) / 2)


@dataclass(frozen=True, slots=True)
class Running:
    """A shot that a worker is processing."""

    queued: QueuedShot
    worker: Worker
    number: int


def work(
    run: BatchRun,
    waiting: list[QueuedShot],
    summary: Summary,
    progress: Progress,
    stop: StopRequest,
    *,
    at_once: int,
    retries: int,
) -> bool:
    """Keep `at_once` shots running until all have ended; no process is left behind, whatever happens.

    Returns whether the summary is written; a failed write does not stop the shots. Raises `StoppedError` if stopped.
    """
    shots, writing = _Shots(run, progress, stop, deque(waiting), at_once, retries), _Writing(summary, progress)
    pause = LOOK_SOON
    try:
        while shots.left and not stop.wanted:
            ended = [*shots.begin(), *shots.collect()]
            for queued in ended:
                progress.ended(queued.shot.name, queued.record)
            writing.write(now=False, changed=bool(ended))
            names = [entry.queued.shot.name for entry in shots.running]
            progress.running(names, [entry.worker.seconds for entry in shots.running])
            pause = LOOK_SOON if ended else min(1.5 * pause, LOOK_AGAIN)
            time.sleep(pause)
    finally:
        progress.clear()
        shots.end()
    run.saved.note_unfinished([record for record in summary.shots if record.state == WAITING])
    is_written = writing.write(now=True, changed=True)
    if is_written:
        run.saved.forget_journal()
    if stop.wanted:
        done = sum(record.state == DONE for record in summary.shots)
        raise StoppedError(
            "Stopped with {done} of {count} shots done. Continue with --resume.", done=done, count=len(summary.shots)
        )
    return is_written


@dataclass(slots=True)
class _Shots:
    """The waiting and running shots of a batch, and their workers."""

    run: BatchRun
    progress: Progress
    stop: StopRequest
    queue: deque[QueuedShot]
    at_once: int
    retries: int
    running: list[Running] = field(default_factory=list)
    idle: list[Worker] = field(default_factory=list)
    leaving: list[Worker] = field(default_factory=list)
    """Dismissed workers that may not have ended yet."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    """Unique numbers for the files of each try."""
    tried: Counter[str] = field(default_factory=Counter)
    """Number of tries of each shot, by its path."""

    @property
    def left(self) -> bool:
        """Whether any shot is waiting or running."""
        return bool(self.queue or self.running)

    def begin(self) -> list[QueuedShot]:
        """Start waiting shots while fewer than `at_once` run; return those that failed to start."""
        ended = []
        while self.queue and len(self.running) < self.at_once and not self.stop.wanted:
            queued, number = self.queue.popleft(), next(self.numbers)
            try:
                arguments = self.run.arguments(queued, number)
                worker = self.idle.pop() if self.idle else self.run.new_worker()
            except FileError as error:
                code = int(ExitCode.AGAIN if isinstance(error, AgainError) else ExitCode.COULD_NOT)
                queued.record.state, queued.record.reason, queued.record.exit_code = FAILED, str(error), code
                ended.append(queued)
                continue
            worker.ask(arguments, self.run.log(queued, number))
            self.progress.started(queued.shot.name)
            self.running.append(Running(queued, worker, number))
        for worker in self.idle if not self.queue else ():
            worker.dismiss()
            self.leaving.append(worker)
        if not self.queue:
            self.idle = []
        return ended

    def collect(self) -> list[QueuedShot]:
        """Return the shots that have ended and get no further try; kill those that exceed their limits."""
        ended = [entry for entry in self.running if self._has_ended(entry)]
        self.running = [entry for entry in self.running if entry not in ended]
        return [entry.queued for entry in ended if not self._tries_again(entry.queued)]

    def _has_ended(self, running: Running) -> bool:
        """Whether the shot has ended, or has just been killed for exceeding a limit; completes its record if so."""
        worker, run = running.worker, self.run
        code = worker.exit_code()
        if code is not None:
            worker.log.close()
            remove_litter(running.queued.shot.goal.parent)
            _judge(run, running, code)
            goes_on = code >= 0 and running.queued.record.state not in {CRASHED, TIMED_OUT} and run.can_go_on(worker)
            if goes_on:
                self.idle.append(worker)
            elif worker.lives and running.queued.record.state != CRASHED and not run.scripts:
                worker.dismiss()
                self.leaving.append(worker)
            else:
                worker.end()
        elif run.timeout is not None and worker.seconds > run.timeout:
            _give_up(running)
            _note(running, TIMED_OUT, f"It took longer than {run.timeout:g} s.", None)
        elif worker.memory is not None and worker.look_at_memory() > worker.memory:
            _give_up(running)
            _note(running, CRASHED, f"It took more than {run.memory:g} GB of memory.", None)
        else:
            return False
        return True

    def _tries_again(self, queued: QueuedShot) -> bool:
        """Queue the shot again if a retry may help and it has tries left; return whether it was queued."""
        record = queued.record
        self.tried[record.shot] += 1
        may_help = record.state in {CRASHED, TIMED_OUT} or record.exit_code == ExitCode.AGAIN
        if not may_help or self.tried[record.shot] > self.retries:
            return False
        self.progress.again(queued.shot.name, record)
        self.queue.append(queued)
        return True

    def end(self) -> None:
        """End all workers: idle ones by closing their input, busy ones by a signal."""
        for entry in self.running:
            entry.worker.ask_to_end()
        for worker in self.idle:
            worker.dismiss()
        for entry in self.running:
            _give_up(entry)
        for worker in [*self.idle, *self.leaving]:
            worker.end()


def _judge(run: BatchRun, running: Running, code: int) -> None:
    """Complete the record of a shot whose command has ended with this exit code."""
    record, shot, log = running.queued.record, running.queued.shot, running.worker.log
    report = run.report(running.number)
    record.report = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else None
    record.warnings = record.report["provenance"]["warnings"] if record.report else []
    words = [sentence for sentence in log.own_sentences() if sentence not in record.warnings]
    if code == ExitCode.DONE and record.report is not None:
        _note(running, DONE, "", code)
        if not run.dry_run:
            provenance = record.report["provenance"]
            source, output = provenance["source"]["sha256"], (provenance["output"] or {}).get("sha256", "")
            # Baking in place has changed the shot, so a resumed batch will see the output's contents.
            record.fingerprint = fingerprint(shot.job, output if output and shot.job.in_place else source, scripts=run.scripts)
            record.output_sha256 = output
            linked = run.linked(running.number)
            record.linked = json.loads(linked.read_text(encoding="utf-8")) if linked.is_file() else {}
    elif code == ExitCode.STRICT and words:
        _note(running, STRICT, " ".join(words), code)
    elif code == ExitCode.INCOMPLETE and words:
        _note(running, INCOMPLETE, " ".join(words), code)
    elif code in {ExitCode.COULD_NOT, ExitCode.USAGE, ExitCode.AGAIN} and words:
        _note(running, FAILED, words[-1], code)
    else:
        _note(running, CRASHED, f"Blender ended with {_ending(code)}. See the log in the summary.", code)
    for path in (report, run.linked(running.number)):
        with contextlib.suppress(OSError):
            path.unlink()


def _give_up(running: Running) -> None:
    """End the shot's worker and remove its drafts; the record is left unchanged."""
    running.worker.end()
    remove_litter(running.queued.shot.goal.parent)


def _note(running: Running, state: str, reason: str, code: int | None) -> None:
    record, worker = running.queued.record, running.worker
    record.state, record.reason, record.exit_code = state, reason, code
    record.seconds = round(worker.seconds, 3)
    record.log = [] if state == DONE else worker.log.latest(LINES_IN_SUMMARY)


def _ending(code: int) -> str:
    """Describe an exit code: negative codes are signals, and on Windows very large ones are crashes."""
    if sys.platform == "win32" and code & 0xFFFFFFFF in WINDOWS_CRASHES:
        return WINDOWS_CRASHES[code & 0xFFFFFFFF]
    if code >= 0:
        return f"exit code {code}"
    names = {int(known): known.name for known in signal.Signals}
    return names.get(-code, f"signal {-code}")


class _Writing:
    """Keeps the summary file up to date, rarely enough that writing takes a small share of the time, however many shots.

    A failed write is reported once and retried later, so that it does not stop the shots.
    """

    def __init__(self, summary: Summary, progress: Progress) -> None:
        self._summary, self._progress = summary, progress
        self._due, self._is_old, self._fails = 0.0, False, False

    def write(self, *, now: bool, changed: bool) -> bool:
        self._is_old |= changed
        start = time.monotonic()
        if self._is_old and (now or start >= self._due):
            try:
                self._summary.write()
                self._is_old = self._fails = False
            except FileError as error:
                if not self._fails or now:
                    self._progress.warn(str(error))
                self._fails = True
            self._due = start + (1.0 + SHARE) * (time.monotonic() - start) + self._fails
        return not self._is_old
