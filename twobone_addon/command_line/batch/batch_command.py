"""The command `batch`: process many shots, several in parallel, so that a failure, hang or crash affects no other shot."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ... import files
from ...errors import AgainError, FileError, refused_by_system
from ...files import one_line
from ...pipeline.machine import cores, free_memory
from ..exit_codes import ExitCode
from ..job import OF_COMMAND, READS_ONLY, Job, job_text, load_job
from ..outcomes import Outcome, StoppedError, UsageError
from ..output import OWN_WORDS, Voice, clean_standard_output, complain, hand_over, showable
from ..outputs import KINDS, STANDARD_OUTPUT, is_earlier, refuse_wrong_outputs, spelled, write_document
from ..shot_files import scripts_of_this_run
from ..stopping import StopRequest, stop_requests
from .shots import (
    CRASHED,
    DONE,
    FAILED,
    INCOMPLETE,
    STRICT,
    TIMED_OUT,
    WAITING,
    Shot,
    ShotRecord,
    chosen_shot,
    damage_of,
    done_before,
    expected,
    find_shots,
    fingerprint,
    summary,
    summary_beside,
    taken_for_outputs,
    write_record,
)
from .workers import Worker, end, new_log, start_worker

BAR = 24
"""Width of the progress bar in characters."""
CLEAR_LINE = "\r\x1b[2K"

HEARTBEAT = 60.0
"""Interval in seconds at which a log reports a shot that is still running, since a silent log looks like a hang."""


@dataclass(slots=True)
class Progress:
    """Prints the events of a batch, unless `quiet`."""

    total: int
    """Number of shots."""
    quiet: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    as_json: bool = False
    """Whether to print each event as a line of JSON."""
    finished: int = 0
    """Number of shots that have ended, including skipped ones."""
    failed: int = 0
    begun: float = field(default_factory=time.monotonic)
    """Start of the batch, by `time.monotonic`."""
    passed_over: int = 0
    """Number of shots that were done already."""
    beats: dict[str, int] = field(default_factory=dict)
    """Number of heartbeats printed for each running shot."""
    warned: set[str] = field(default_factory=set)
    """Subjects that a warning was printed about which stands once."""

    def skipped(self, names: list[str]) -> None:
        """Report shots that are already done."""
        self.finished = self.passed_over = len(names)
        if names:
            self._line(f"{len(names)} of {self.total} shots are done already", "skipped", shots=names)

    def started(self, name: str) -> None:
        """Report that a worker has started the shot; only printed as JSON, since the status line shows it otherwise."""
        if self.as_json:
            self._line("", "started", shot=name)

    def ended(self, name: str, record: ShotRecord) -> None:
        """Report that a shot has ended, successfully or not."""
        self.finished += 1
        self.failed += record.state != DONE
        self.beats.pop(name, None)
        result = f"done in {record.seconds:.1f} s" if record.state == DONE else f"{record.state}: {record.reason}"
        text = f"[{self.finished:{len(str(self.total))}}/{self.total}] {name}: {result}"
        event = "done" if record.state == DONE else "failed"
        self._line(text, event, shot=name, state=record.state, reason=record.reason, seconds=record.seconds)

    def warn(self, text: str) -> None:
        """Print a warning that does not end a shot."""
        self.clear()
        complain(text)

    def warn_once(self, subject: str, text: str) -> None:
        """Print the first warning about a subject: what holds for one shot holds for all."""
        if subject not in self.warned:
            self.warned.add(subject)
            self.warn(text)

    def running(self, names: Sequence[str], seconds: Sequence[float] = ()) -> None:
        """Redraw the status line of a terminal; in a log, print a heartbeat for shots that have been running for long."""
        if self.quiet:
            return
        if self.as_json or not self.stream.isatty():
            for name, passed in zip(names, seconds, strict=False):
                if passed >= HEARTBEAT * (self.beats.get(name, 0) + 1):
                    self.beats[name] = int(passed / HEARTBEAT)
                    self._line(f"{name}: running for {passed:.0f} s", "running", shot=name, seconds=round(passed, 1))
            return
        full = BAR * self.finished // max(self.total, 1)
        failed = f", {self.failed} not done" if self.failed else ""
        text = f"[{'#' * full}{'.' * (BAR - full)}] {self.finished}/{self.total}{failed}  {one_line(', '.join(names))}"
        self._write(CLEAR_LINE + showable(text, self.stream)[: shutil.get_terminal_size().columns - 1])

    def clear(self) -> None:
        """Remove the status line of a terminal."""
        if not self.quiet and not self.as_json and self.stream.isatty():
            self._write(CLEAR_LINE)

    def _line(self, text: str, event: str, **values: object) -> None:
        if self.quiet:
            return
        if self.as_json:
            worked, percent = self.finished - self.passed_over, round(100.0 * self.finished / max(self.total, 1), 1)
            seconds_left = (self.total - self.finished) * (time.monotonic() - self.begun) / worked if worked else None
            counts = {"finished": self.finished, "total": self.total, "percent": percent}
            text = json.dumps(
                {"event": event, **values, **counts, "seconds_left": None if seconds_left is None else round(seconds_left, 1)}
            )
        self.clear()
        self._write(showable(one_line(text), self.stream) + "\n")

    def _write(self, text: str) -> None:
        """Write the text; if the pipe is closed, such as after `| head`, the batch continues without output."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.quiet = True


USUAL = 1 << 30
"""Estimated memory of a Blender in bytes."""

LINES_IN_SUMMARY = 20
"""Number of last log lines that the summary keeps of a shot that is not done."""

LOOK_AGAIN = 0.01
"""Polling interval of the running processes, in seconds."""


def batch_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Process every shot of the job and return the worst outcome."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(clean_standard_output(wanted=arguments.summary == STANDARD_OUTPUT))
        job = load_job(arguments.job)
        shots = find_shots(job)
        _say_left_out(job, voice)
        if arguments.list:
            width = len(str(len(shots)))
            for number, shot in enumerate(shots, start=1):
                voice.say(f"{number:{width}}  {shot.name} -> {shot.goal}")
            return Outcome(ExitCode.DONE)
        if arguments.shot is not None:
            shots = [chosen_shot(job, shots, arguments.shot)]
        path = _summary_path(arguments, shots)
        arguments.scripts = scripts_of_this_run() if arguments.scripts is None else arguments.scripts
        progress = Progress(len(shots), quiet=voice.quiet, as_json=arguments.progress == "json")
        # Before anything is made that must be removed.
        stop = stack.enter_context(stop_requests())
        if path is not None:
            stack.enter_context(files.locked(path.absolute(), role="batch"))
        if arguments.logs is not None:
            _make(arguments.logs)
        _warn_of_damaged(shots, progress)
        done = [done_before(shot, vars(arguments)) if arguments.resume else None for shot in shots]
        entries = [
            Entry(number, shot, before or ShotRecord(str(shot.path), str(shot.goal)))
            for number, (shot, before) in enumerate(zip(shots, done, strict=True), start=1)
        ]
        progress.skipped([shot.name for shot, before in zip(shots, done, strict=True) if before])
        remove_left_scratch()
        begin = f"{SCRATCH}{os.getpid()}-"
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=begin, ignore_cleanup_errors=True)))
        (scratch / OWNER).write_text(files.owner(), encoding="utf-8")
        waiting = deque(entry for entry in entries if entry.record.state != DONE)
        Batch(arguments, scratch, progress, stop, waiting).work(at_once=arguments.jobs or _shots_at_once())
        document = summary(job.path, [entry.record for entry in entries])
        if path is not None:
            write_document("--summary", path, document)
        count = document[DONE]
        if stop.wanted:
            raise StoppedError("Stopped with {done} of {count} shots done. Continue with --resume.", done=count, count=len(shots))
        voice.say(f"{count} of {len(shots)} shots done" + (f', summary in "{path}"' if path is not None else ""))
    if arguments.summary == STANDARD_OUTPUT:
        hand_over("--summary", STANDARD_OUTPUT, document)
    return Outcome(_code([entry.record for entry in entries]))


def _say_left_out(job: Job, voice: Voice) -> None:
    if left_out := taken_for_outputs(job):
        voice.say(f'No shots, since they lie where outputs go: {len(left_out)} files, such as "{left_out[0]}"')


def _warn_of_damaged(shots: Sequence[Shot], progress: Progress) -> None:
    for damage in filter(None, map(damage_of, shots)):
        progress.warn(damage)


SCRATCH, OWNER = "twobone-batch-", "owner"
"""Beginning of the names of the batches' temporary folders, and the file in each that tells whose it is."""


def remove_left_scratch() -> None:
    """Remove temporary folders of batches that were killed before they could do it; of other users and computers none."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if files.has_owner_ended((folder / OWNER).read_text(encoding="utf-8")):
                shutil.rmtree(folder, ignore_errors=True)


def _shots_at_once() -> int:
    """Return how many shots to run in parallel: at most one per core and per gigabyte of free memory, at least 1."""
    free = free_memory()
    return max(min(cores(), cores() if free is None else int(free / USUAL)), 1)


def _summary_path(arguments: argparse.Namespace, shots: list[Shot]) -> Path | None:
    """Return the path of the summary; raises `UsageError` if it may not be written.

    `None` for standard output, and where nobody named one and what only reads may not write beside the job.
    """
    if arguments.summary == STANDARD_OUTPUT:
        return None
    kind = "dry_run" if arguments.dry_run else "summary"
    path = Path(arguments.summary) if arguments.summary else summary_beside(arguments.job, arguments.shot, kind)
    reads = all(shot.job.use in READS_ONLY for shot in shots) or arguments.dry_run
    if arguments.summary is None and reads and not os.access(path.absolute().parent, os.W_OK):
        complain(f'No summary is kept, since the folder of "{arguments.job}" may not be written to. Name one with --summary.')
        return None
    if path.suffix != ".json":
        raise UsageError('"{path}" does not end in ".json". Name a .json file.', path=path)
    if spelled(path) in {spelled(taken) for shot in shots for taken in (shot.path, shot.goal)}:
        raise UsageError('--summary names "{path}", which is a shot, or the output of one. Name another file.', path=path)
    refuse_wrong_outputs({"--summary": str(path)}, {"the batch": arguments.job})
    return path


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused_by_system(folder, "made", error) from error


def _code(records: Sequence[ShotRecord]) -> ExitCode:
    states = {record.state for record in records}
    if states == {DONE}:
        return ExitCode.DONE
    if all(record.state == DONE or record.exit_code == ExitCode.AGAIN for record in records):
        return ExitCode.AGAIN
    if not states <= {DONE, STRICT, INCOMPLETE}:
        return ExitCode.COULD_NOT
    return ExitCode.INCOMPLETE if INCOMPLETE in states else ExitCode.STRICT


@dataclass(slots=True, eq=False)
class Entry:
    """A shot of the batch with its number, and its record in the summary."""

    number: int
    shot: Shot
    record: ShotRecord


@dataclass(slots=True)
class Batch:
    """The waiting and running shots of a batch, and their workers."""

    arguments: argparse.Namespace
    scratch: Path
    """Folder for jobs, reports and the workers' temporary files."""
    progress: Progress
    stop: StopRequest
    queue: deque[Entry]
    running: dict[Worker, Entry] = field(default_factory=dict)
    idle: list[Worker] = field(default_factory=list)

    def work(self, *, at_once: int) -> None:
        """Keep `at_once` shots running until all have ended or a stop is wanted; no process is left behind, whatever happens."""
        try:
            while (self.queue or self.running) and not self.stop.wanted:
                while self.queue and len(self.running) < at_once and not self.stop.wanted:
                    self._begin(self.queue.popleft())
                ended = [worker for worker in self.running if self._has_ended(worker)]
                for worker in ended:
                    entry = self.running.pop(worker)
                    self.progress.ended(entry.shot.name, entry.record)
                names = [entry.shot.name for entry in self.running.values()]
                self.progress.running(names, [worker.seconds for worker in self.running])
                if not ended:
                    time.sleep(LOOK_AGAIN)
        finally:
            self.progress.clear()
            self._end(*self.running, *self.idle)

    def _end(self, *workers: Worker) -> None:
        """End workers, and remove what those that were killed have left beside their outputs."""
        end(workers)
        for entry in [self.running[worker] for worker in workers if worker in self.running]:
            if entry.record.state in {WAITING, CRASHED, TIMED_OUT}:
                # To take a lock removes what a killed run has left of it.
                with contextlib.suppress(FileError), files.locked(entry.shot.goal):
                    pass

    def _begin(self, entry: Entry) -> None:
        """Give a shot to a worker, or record why it cannot start."""
        arguments, record = self.arguments, entry.record
        try:
            words = self._words(entry)
            worker = self.idle.pop() if self.idle else start_worker(self.scratch, user_addons=arguments.user_addons)
        except FileError as error:
            code = int(ExitCode.AGAIN if isinstance(error, AgainError) else ExitCode.COULD_NOT)
            record.state, record.reason, record.exit_code = FAILED, str(error), code
            self.progress.ended(entry.shot.name, record)
            return
        worker.ask(words, new_log(arguments.logs, f"{entry.number:04}.{entry.shot.path.stem[:60]}"))
        self.progress.started(entry.shot.name)
        self.running[worker] = entry

    def _report(self, entry: Entry) -> Path:
        return self.scratch / f"{entry.number}.json"

    def _words(self, entry: Entry) -> list[str]:
        """Return the command's arguments for a shot; raises `FileError` if it cannot start."""
        arguments, shot, use = self.arguments, entry.shot, entry.shot.job.use
        words = [use, "--file", str(shot.path), "--report", str(self._report(entry))]
        words += ["--scripts" if arguments.scripts else "--no-scripts"]
        if use == "chains":
            return words + (["--scene", shot.job.scene] if shot.job.scene else [])
        job = self.scratch / f"{entry.number}.job.json"
        try:
            job.write_text(job_text(shot.job), encoding="utf-8")
        except OSError as error:
            raise refused_by_system(self.scratch, "written to", error) from error
        words += ["--job", str(job)]
        words += ["--allow-incomplete"] if arguments.allow_incomplete and use not in {"clear", "limbs"} else []
        if use in READS_ONLY:
            return words + (["--dry-run"] if arguments.dry_run and use in OF_COMMAND else [])
        words += ["--upgrade"] if arguments.upgrade else []
        words += ["--again"] if use == "convert" and shot.job.in_place else []
        if arguments.dry_run:
            return [*words, "--dry-run"]
        digest = expected(shot, replace=arguments.replace, no_clobber=arguments.no_clobber)
        for folder in (shot.goal.parent, shot.record.parent):
            _make(folder)
        files.refuse_unwritable(shot.record, is_earlier("record"), KINDS["record"][0])
        return [*words, "--expects", digest, "--record", str(shot.record), "--save", str(shot.goal)]

    def _has_ended(self, worker: Worker) -> bool:
        """Whether the worker's shot has ended, or has just been ended for taking too long; completes its record if so."""
        record, limit, code = self.running[worker].record, self.arguments.timeout, worker.exit_code()
        if code is None and (limit is None or worker.seconds <= limit):
            return False
        record.exit_code, record.seconds = code, round(worker.seconds, 3)
        if code is None:
            record.state, record.reason = TIMED_OUT, f"It took longer than {limit:g} s."
        else:
            self._judge(worker, code)
        record.log = [] if record.state == DONE else list(worker.lines)[-LINES_IN_SUMMARY:]
        most = 1 if self.arguments.scripts else self.arguments.shots_per_blender  # Scripts may leave processes behind.
        is_alive = record.state not in {TIMED_OUT, CRASHED} and worker.process.poll() is None
        if is_alive and worker.shots < most and self.queue:
            if worker.log is not None:
                worker.log.close()
            self.idle.append(worker)
        else:
            self._end(worker)
        return True

    def _judge(self, worker: Worker, code: int) -> None:
        """Note the state of a shot whose command has ended with this exit code, and the reason; keep its record if it is done."""
        entry, arguments = self.running[worker], self.arguments
        record, shot = entry.record, entry.shot
        with contextlib.suppress(OSError, ValueError):
            record.report = json.loads(self._report(entry).read_text(encoding="utf-8"))
        record.warnings = record.report["provenance"]["warnings"] if record.report else []
        complaints = [line.removeprefix(OWN_WORDS) for line in worker.lines if line.startswith(OWN_WORDS)]
        sentences = [sentence for sentence in complaints if sentence not in record.warnings]
        if code in {ExitCode.STRICT, ExitCode.INCOMPLETE} and sentences:
            record.state, record.reason = STRICT if code == ExitCode.STRICT else INCOMPLETE, " ".join(sentences)
        elif code in {ExitCode.COULD_NOT, ExitCode.USAGE, ExitCode.AGAIN} and sentences:
            record.state, record.reason = FAILED, sentences[-1]
        elif code != ExitCode.DONE or record.report is None:
            ending = {-int(known): known.name for known in signal.Signals}.get(code, f"exit code {code}")
            record.state, record.reason = CRASHED, f"Blender ended with {ending}. See the log in the summary."
        else:
            record.state = DONE
            if arguments.dry_run:
                return
            provenance = record.report["provenance"]
            record.output_sha256 = (provenance["output"] or {}).get("sha256", "")
            # Baking in place has changed the shot, so a resumed batch will see the output's contents.
            in_place = record.output_sha256 if shot.goal == shot.path else ""
            record.fingerprint = fingerprint(shot.job, vars(arguments), in_place or provenance["source"]["sha256"])
            try:
                _make(shot.record.parent)
                write_record(shot.record, record)
            except FileError as error:  # Then the shot is only done again.
                self.progress.warn_once("record", str(error))
