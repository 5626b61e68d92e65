"""`batch`: many shots, each in a Blender of its own, so that one that fails, hangs or crashes harms no other."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from .batch_run import BatchRun, Running, Task, give_up
from .fingerprints import are_as_they_were, fingerprint
from .jobs import Job, load_job
from .outcomes import ExitCode, StoppedError, UsageError
from .output import Voice
from .progress import Progress
from .shots import Shot, find_shots
from .stopping import StopRequest, stop_requests
from .summary import DONE, STRICT, ShotRecord, Summary, earlier_fingerprints

LOOK_AGAIN = 0.05
"""Seconds between two looks at the running processes."""


def batch_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    """Bake every shot of the job; returns the worst outcome. The summary is kept up to date all along."""
    job = load_job(arguments.job)
    shots = find_shots(job)
    if arguments.list:
        return _listed(shots, voice)
    shots = _only(job, shots, arguments.shot)
    path = _summary_path(arguments)
    earlier = earlier_fingerprints(path) if arguments.resume else {}
    summary = Summary(path, job.path, [ShotRecord(str(shot.path), str(shot.goal)) for shot in shots])
    progress = Progress(len(shots), quiet=voice.quiet)
    with tempfile.TemporaryDirectory(prefix="twobone-batch-") as scratch:
        job_copy = Path(scratch) / f"job{job.path.suffix}"  # What was checked is what every shot gets.
        shutil.copyfile(job.path, job_copy)
        run = BatchRun(job, job_copy, Path(scratch), scripts=arguments.scripts, timeout=arguments.timeout)
        tasks = [Task(shot, record) for shot, record in zip(shots, summary.shots, strict=True)]
        waiting = _left_to_do(job, tasks, earlier, progress, scripts=arguments.scripts)
        summary.write()
        with stop_requests() as stop:
            _work(run, waiting, summary, progress, stop, at_once=arguments.jobs or _cores())
    return _outcome(summary, voice), {}


def _listed(shots: list[Shot], voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    width = len(str(len(shots)))
    for number, shot in enumerate(shots, start=1):
        voice.say(f"{number:{width}}  {shot.name} -> {shot.goal}")
    return ExitCode.DONE, {}


def _only(job: Job, shots: list[Shot], number: int | None) -> list[Shot]:
    if number is None:
        return shots
    if number > len(shots):
        raise UsageError(f'Job "{job.path}" has no shot {number}. Use a number from 1 to {len(shots)}.')
    return [shots[number - 1]]


def _summary_path(arguments: argparse.Namespace) -> Path:
    number = "" if arguments.shot is None else f".{arguments.shot}"
    path: Path = arguments.summary or arguments.job.with_name(f"{arguments.job.stem}{number}.summary.json")
    if path.suffix != ".json":
        raise UsageError(f'"{path}" does not end in ".json". Name a .json file; the table is written beside it.')
    return path


def _left_to_do(
    job: Job, tasks: list[Task], earlier: dict[tuple[str, str], ShotRecord], progress: Progress, *, scripts: bool
) -> list[Task]:
    """The tasks that an earlier batch has not done; the others take over its records."""
    left, done, seen = [], [], dict[str, str]()
    for task in tasks:
        known = earlier.get((task.record.shot, task.record.output))
        same = known is not None and known.fingerprint == fingerprint(job, task.shot.path, scripts=scripts)
        if known and same and task.shot.goal.is_file() and are_as_they_were(known.linked, seen):
            task.take_over(known)
            done.append(task.shot.name)
        else:
            left.append(task)
    progress.skipped(done)
    return left


def _work(run: BatchRun, waiting: list[Task], summary: Summary, progress: Progress, stop: StopRequest, *, at_once: int) -> None:
    """Keep `at_once` shots running until all are through; whatever happens, no process is left behind."""
    queue, numbers, running = list(waiting), itertools.count(), list[Running]()
    try:
        while (queue or running) and not stop.wanted:
            while queue and len(running) < at_once:
                running.append(run.start(queue.pop(0), next(numbers)))
            ended = [entry for entry in running if run.has_ended(entry)]
            running = [entry for entry in running if entry not in ended]
            for entry in ended:
                progress.ended(entry.task.shot.name, entry.task.record)
            if ended:
                summary.write()
            progress.running([entry.task.shot.name for entry in running])
            time.sleep(0.0 if ended else LOOK_AGAIN)
    finally:
        progress.clear()
        for entry in running:
            give_up(entry)
    if stop.wanted:
        summary.write()
        done = sum(record.state == DONE for record in summary.shots)
        raise StoppedError(f"Stopped with {done} of {len(summary.shots)} shots done. Go on with --resume.")


def _outcome(summary: Summary, voice: Voice) -> ExitCode:
    states = [record.state for record in summary.shots]
    voice.say(f'{states.count(DONE)} of {len(states)} shots done, summary in "{summary.path}"')
    if all(state == DONE for state in states):
        return ExitCode.DONE
    return ExitCode.STRICT if all(state in {DONE, STRICT} for state in states) else ExitCode.COULD_NOT


def _cores() -> int:
    """Cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
