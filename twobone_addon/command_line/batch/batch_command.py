"""`batch`: many shots, each in a Blender of its own, so that one that fails, hangs or crashes harms no other."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..files.outputs import STANDARD_OUTPUT, refuse_wrong_outputs
from ..files.shot_files import scripts_of_this_run
from ..files.text_files import one_line
from ..jobs.job import Job, load_job
from ..outcomes import ExitCode, Outcome, UsageError
from ..output import Voice, clean_standard_output, hand_over
from ..stopping import stop_requests
from .batch_run import BatchRun, QueuedShot
from .frozen import freeze, frozen_shots
from .progress import Progress
from .resuming import left_to_do
from .scratch import claimed_summary, scratch_folder
from .shots import Shot, chosen_shot, find_shots, summary_beside
from .summary import DONE, INCOMPLETE, STRICT, ShotRecord, Summary, earlier_fingerprints
from .work import work


def batch_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Bake every shot of the job; returns the worst outcome. The summary is kept up to date all along."""
    with clean_standard_output(wanted=arguments.summary == STANDARD_OUTPUT):
        code, summary = _batch(arguments, voice)
    if summary is not None and arguments.summary == STANDARD_OUTPUT:
        hand_over(STANDARD_OUTPUT, summary.document())
    return Outcome(code)


def _batch(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, Summary | None]:
    job = load_job(arguments.job)
    shots = frozen_shots(job, arguments.frozen) if arguments.frozen else find_shots(job)
    if arguments.list:
        return _listed(shots, voice)
    if arguments.freeze is not None:
        return _frozen(job, shots, arguments, voice)
    if arguments.shot is not None:
        if arguments.shot.isdecimal() and not arguments.frozen:
            voice.warn("Numbers shift when shots come or go. Name the shot, or count by a list: --freeze, --frozen.")
        shots = [chosen_shot(job, shots, arguments.shot)]
    path = _summary_path(arguments)
    _refuse_mixed_up_summary(path, job, shots)
    earlier = earlier_fingerprints(path) if arguments.resume else {}
    summary = Summary(path, job.path, [ShotRecord(str(shot.path), str(shot.goal)) for shot in shots])
    progress = Progress(len(shots), quiet=voice.quiet)
    scripts = scripts_of_this_run() if arguments.scripts is None else arguments.scripts
    with claimed_summary(path), scratch_folder() as scratch:
        run = BatchRun(
            job,
            scratch,
            scripts=scripts,
            dry_run=arguments.dry_run,
            allow_incomplete=arguments.allow_incomplete,
            upgrade=arguments.upgrade,
            timeout=arguments.timeout,
            memory=arguments.memory,
        )
        queued_shots = [QueuedShot(shot, record) for shot, record in zip(shots, summary.shots, strict=True)]
        waiting = left_to_do(queued_shots, earlier, progress, scripts=scripts, timeout=arguments.timeout)
        summary.write()
        with stop_requests() as stop:
            work(run, waiting, summary, progress, stop, at_once=arguments.jobs or _cores(), retries=arguments.retries)
    return _outcome(summary, voice), summary


def _listed(shots: list[Shot], voice: Voice) -> tuple[ExitCode, None]:
    width = len(str(len(shots)))
    for number, shot in enumerate(shots, start=1):
        voice.say(one_line(f"{number:{width}}  {shot.name} -> {shot.goal}"))
    return ExitCode.DONE, None


def _frozen(job: Job, shots: list[Shot], arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, None]:
    goal = arguments.freeze
    refuse_wrong_outputs({"--freeze": goal}, {"the batch": job.path})
    freeze(job, shots, Path(goal), arguments.timeout)
    voice.say(one_line(f'{len(shots)} shots are listed in "{goal}"'))
    return ExitCode.DONE, None


def _summary_path(arguments: argparse.Namespace) -> Path | None:
    """Where the summary goes; `None` for standard output."""
    if arguments.summary == STANDARD_OUTPUT:
        if arguments.resume:
            raise UsageError("--resume goes on from the summary, but --summary names standard output. Name a file.")
        return None
    kind = "dry_run" if arguments.dry_run else "summary"
    path = Path(arguments.summary) if arguments.summary else summary_beside(arguments.job, arguments.shot, kind)
    if path.suffix != ".json":
        raise UsageError(f'"{path}" does not end in ".json". Name a .json file; the table is written next to it.')
    return path


def _refuse_mixed_up_summary(path: Path | None, job: Job, shots: list[Shot]) -> None:
    """Refuse a summary, or its table, in place of what the batch reads or saves."""
    if path is None:
        return
    taken = {place for shot in shots for place in (shot.path, shot.goal)}
    for name in (path, path.with_suffix(".csv")):
        refuse_wrong_outputs({"--summary": str(name)}, {"the batch": job.path})
        if name.resolve() in taken:
            raise UsageError(f'--summary names "{name}", which is a shot, or the output of one. Name another file.')


def _outcome(summary: Summary, voice: Voice) -> ExitCode:
    states = [record.state for record in summary.shots]
    voice.say(f'{states.count(DONE)} of {len(states)} shots done, summary in "{summary.path}"')
    if all(state == DONE for state in states):
        return ExitCode.DONE
    if not all(state in {DONE, STRICT, INCOMPLETE} for state in states):
        return ExitCode.COULD_NOT
    return ExitCode.INCOMPLETE if INCOMPLETE in states else ExitCode.STRICT


def _cores() -> int:
    """Cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
