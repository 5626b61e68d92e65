"""The command `batch`: process many shots, several in parallel, so that a failure, hang or crash affects no other shot."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...pipeline.machine import cores, free_memory
from ..files.claims import claimed, is_abandoned
from ..files.outputs import STANDARD_OUTPUT, refuse_unwritable, refuse_wrong_outputs, spelled
from ..files.shot_files import scripts_of_this_run
from ..files.text_files import one_line, write_text
from ..job import Job, load_job
from ..outcomes import ExitCode, Outcome, UsageError, refused_by_system
from ..output import Voice, clean_standard_output, complain, hand_over
from ..stopping import stop_requests
from .progress import Progress
from .resuming import Earlier, QueuedShot, Saved, left_to_do, sibling_records
from .shots import Shot, chosen_shot, find_shots, frozen_list, frozen_shots, summary_beside
from .summary import DONE, INCOMPLETE, STRICT, ShotRecord, Summary, earlier_records, refuse_foreign_table
from .work import BatchRun, work

GIGABYTE = 1 << 30

USUAL = 1.0
"""Estimated memory of a Blender in gigabytes without `--memory`."""


def shots_at_once(memory: float | None) -> int:
    """Return how many shots to run in parallel: at most one per core and per `memory` gigabytes of free memory, at least 1."""
    free = free_memory()
    room = cores() if free is None else int(free / ((memory or USUAL) * GIGABYTE))
    return max(min(cores(), room), 1)


PREFIX = "twobone-batch-"
OWNER = "owner"
"""Name in a scratch folder that its batch has claimed."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a temporary folder for the block, and remove those that killed batches left behind."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with claimed(folder / OWNER):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove our scratch folders whose batch has ended, but not other users' or those just being created."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            is_ours = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
            if is_ours and not folder.is_symlink() and is_abandoned(folder / OWNER):
                shutil.rmtree(folder, ignore_errors=True)


def batch_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Process every shot of the job and return the worst outcome; the summary is updated while shots end."""
    with clean_standard_output(wanted=STANDARD_OUTPUT in {arguments.summary, arguments.freeze}):
        code, document = _batch(arguments, voice)
    if document is not None:
        hand_over(STANDARD_OUTPUT, document)
    return Outcome(code)


def _batch(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, object]:
    """Run the batch; return the exit code and the JSON document for standard output, `None` for none."""
    job = load_job(arguments.job)
    shots = frozen_shots(job, arguments.frozen) if arguments.frozen else find_shots(job)
    if arguments.list:
        return _listed(shots, voice), None
    if arguments.freeze is not None:
        return _frozen(job, shots, arguments, voice)
    if arguments.shot is not None:
        chosen = chosen_shot(job, shots, arguments.shot)
        if arguments.shot not in {chosen.name, str(chosen.path), chosen.path.name, chosen.path.stem} and not arguments.frozen:
            voice.warn("Numbers shift when shots come or go. Name the shot, or count by a list: --freeze, --frozen.")
        shots = [chosen]
    path = _summary_path(arguments)
    _refuse_mixed_up_summary(path, arguments, shots)
    earlier = _earlier(path, arguments)
    summary = Summary(path, job.path, [_begun(shot, earlier) for shot in shots])
    progress = Progress(len(shots), quiet=voice.quiet, as_json=arguments.progress == "json")
    scripts = scripts_of_this_run() if arguments.scripts is None else arguments.scripts
    saved = Saved(job.path, path, replace=arguments.replace, no_clobber=arguments.no_clobber)
    saved.learn(earlier)
    exclusive = claimed(path, role="batch", everything=False) if path else contextlib.nullcontext()
    with exclusive, scratch_folder() as scratch:
        run = BatchRun(
            job,
            scratch,
            saved,
            scripts=scripts,
            dry_run=arguments.dry_run,
            allow_incomplete=arguments.allow_incomplete,
            upgrade=arguments.upgrade,
            timeout=arguments.timeout,
            memory=arguments.memory,
            shots_per_blender=arguments.shots_per_blender,
            user_addons=arguments.user_addons,
            logs=_folder_for_logs(arguments.logs),
        )
        queued_shots = [QueuedShot(shot, record) for shot, record in zip(shots, summary.shots, strict=True)]
        allowed = arguments.allow_incomplete
        done_before = earlier if arguments.resume else {}
        waiting = left_to_do(
            queued_shots, done_before, progress, scripts=scripts, allow_incomplete=allowed, timeout=arguments.timeout
        )
        summary.write()
        at_once = arguments.jobs or shots_at_once(arguments.memory)
        with stop_requests() as stop:
            is_written = work(run, waiting, summary, progress, stop, at_once=at_once, retries=arguments.retries)
    code = _outcome(summary, voice, is_written=is_written)
    if code is ExitCode.DONE and not is_written:
        code = ExitCode.AGAIN
    return code, summary.document() if path is None else None


def _listed(shots: list[Shot], voice: Voice) -> ExitCode:
    width = len(str(len(shots)))
    for number, shot in enumerate(shots, start=1):
        voice.say(one_line(f"{number:{width}}  {shot.name} -> {shot.goal}"))
    return ExitCode.DONE


def _frozen(job: Job, shots: list[Shot], arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, object]:
    goal = arguments.freeze
    read = {"the batch": job.path} | ({"--frozen": arguments.frozen} if arguments.frozen else {})
    refuse_wrong_outputs({"--freeze": goal}, read)
    _refuse_over_shots("--freeze", Path(goal), shots)
    document = frozen_list(job, shots, arguments.timeout)
    for entry in document["shots"]:
        if not entry["sha256"]:
            complain(f'Shot "{entry["path"]}" cannot be read, so it will fail with this list. Freeze it again when it is there.')
    if goal == STANDARD_OUTPUT:
        return ExitCode.DONE, document
    write_text(Path(goal), json.dumps(document, indent=2) + "\n")
    voice.say(one_line(f'{len(shots)} shots are listed in "{goal}"'))
    return ExitCode.DONE, None


def _summary_path(arguments: argparse.Namespace) -> Path | None:
    """Return the path of the summary; `None` for standard output. Raises `UsageError`."""
    if arguments.summary == STANDARD_OUTPUT:
        if arguments.resume:
            raise UsageError("--resume reads the summary, but --summary names standard output. Name a file.")
        return None
    kind = "dry_run" if arguments.dry_run else "summary"
    path = Path(arguments.summary) if arguments.summary else summary_beside(arguments.job, arguments.shot, kind)
    if path.suffix != ".json":
        raise UsageError('"{path}" does not end in ".json". Name a .json file; the table is written next to it.', path=path)
    return path


def _refuse_mixed_up_summary(path: Path | None, arguments: argparse.Namespace, shots: list[Shot]) -> None:
    """Refuse a summary, or its table, that would overwrite a file the batch reads or saves, or any other foreign file."""
    if path is None:
        return
    read = {"the batch": arguments.job} | ({"--frozen": arguments.frozen} if arguments.frozen else {})
    table = path.with_suffix(".csv")
    _refuse_over_shots("--summary", path, shots)
    _refuse_over_shots("--summary", table, shots)
    # With --resume, reading the earlier summary already refuses other files; a dry run does not read it.
    refuse_wrong_outputs({"--summary": str(path)} if arguments.dry_run or not arguments.resume else {}, read)
    refuse_foreign_table(table)


def _refuse_over_shots(flag: str, path: Path, shots: list[Shot]) -> None:
    if spelled(path) in {spelled(place) for shot in shots for place in (shot.path, shot.goal)}:
        raise UsageError('{flag} names "{path}", which is a shot, or the output of one. Name another file.', flag=flag, path=path)


def _earlier(path: Path | None, arguments: argparse.Namespace) -> Earlier:
    """Return the records of earlier batches: none for a dry run; with `--resume`, also those of batches of single shots."""
    if arguments.dry_run:
        return {}
    records = earlier_records(path)
    for key, record in sibling_records(arguments.job) if arguments.resume else ():
        if record.state == DONE and (key not in records or records[key].state != DONE):
            records[key] = record
    return records


def _begun(shot: Shot, earlier: Earlier) -> ShotRecord:
    """Return the record of a waiting shot; it keeps the SHA-256 of an earlier output, in case this batch ends before the shot."""
    record = ShotRecord(str(shot.path), str(shot.goal))
    known = earlier.get((record.shot, record.output))
    record.output_sha256 = known.output_sha256 if known and shot.goal != shot.path else ""
    return record


def _folder_for_logs(folder: Path | None) -> Path | None:
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            refuse_unwritable(folder / "shot.log")
    except OSError as error:
        raise refused_by_system(folder or Path(), "made", error) from error
    return folder


def _outcome(summary: Summary, voice: Voice, *, is_written: bool) -> ExitCode:
    states = [record.state for record in summary.shots]
    news = f'summary in "{summary.path}"' if is_written else "not in the summary yet; --resume writes it"
    voice.say(f"{states.count(DONE)} of {len(states)} shots done, {news}")
    if all(state == DONE for state in states):
        return ExitCode.DONE
    if all(record.state == DONE or record.exit_code == ExitCode.AGAIN for record in summary.shots):
        return ExitCode.AGAIN
    if not all(state in {DONE, STRICT, INCOMPLETE} for state in states):
        return ExitCode.COULD_NOT
    return ExitCode.INCOMPLETE if INCOMPLETE in states else ExitCode.STRICT
