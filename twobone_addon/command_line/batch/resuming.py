"""What an earlier batch has done and nothing has changed since: `--resume` leaves it out."""

from __future__ import annotations

from pathlib import Path

from ..files.contents import contents_of
from .batch_run import Task
from .fingerprints import fingerprint
from .progress import Progress
from .summary import ShotRecord


def left_to_do(
    tasks: list[Task],
    earlier: dict[tuple[str, str], ShotRecord],
    progress: Progress,
    *,
    scripts: bool,
    timeout: float | None,
) -> list[Task]:
    """The tasks that an earlier batch has not done; the others take over its records.

    Done is a shot whose file, libraries and output all have the contents that they had then. What cannot be read within
    `timeout` seconds has not.
    """
    known = [(task, earlier.get((task.record.shot, task.record.output))) for task in tasks]
    paths = {Path(path) for task, record in known if record for path in (task.shot.path, task.shot.goal, *record.linked)}
    now = contents_of(paths, timeout)
    left, done = [], []
    for task, record in known:
        if record is not None and _is_done(task, record, now, scripts=scripts):
            task.take_over(record)
            done.append(task.shot.name)
        else:
            left.append(task)
    progress.skipped(done)
    return left


def _is_done(task: Task, record: ShotRecord, now: dict[Path, str], *, scripts: bool) -> bool:
    output = now[task.shot.goal]
    if not output or output != record.output_sha256:
        return False
    if record.fingerprint != fingerprint(task.shot.job, now[task.shot.path], scripts=scripts):
        return False
    return all(now[Path(path)] == content for path, content in record.linked.items())
