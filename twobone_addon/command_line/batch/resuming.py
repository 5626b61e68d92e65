"""What an earlier batch has done and nothing has changed since: `--resume` leaves it out."""

from __future__ import annotations

from pathlib import Path

from ..files.contents import contents_of
from .batch_run import QueuedShot
from .fingerprints import fingerprint
from .progress import Progress
from .summary import ShotRecord


def left_to_do(
    queued_shots: list[QueuedShot],
    earlier: dict[tuple[str, str], ShotRecord],
    progress: Progress,
    *,
    scripts: bool,
    timeout: float | None,
) -> list[QueuedShot]:
    """The shots that an earlier batch has not done; the others take over its records.

    Done is a shot whose file, libraries and output all have the contents that they had then. What cannot be read within
    `timeout` seconds has not.
    """
    known = [(queued, earlier.get((queued.record.shot, queued.record.output))) for queued in queued_shots]
    paths = {Path(path) for queued, record in known if record for path in (queued.shot.path, queued.shot.goal, *record.linked)}
    now = contents_of(paths, timeout)
    left, done = [], []
    for queued, record in known:
        if record is not None and _is_done(queued, record, now, scripts=scripts):
            queued.take_over(record)
            done.append(queued.shot.name)
        else:
            left.append(queued)
    progress.skipped(done)
    return left


def _is_done(queued: QueuedShot, record: ShotRecord, now: dict[Path, str], *, scripts: bool) -> bool:
    output = now[queued.shot.goal]
    if not output or output != record.output_sha256:
        return False
    if record.fingerprint != fingerprint(queued.shot.job, now[queued.shot.path], scripts=scripts):
        return False
    return all(now[Path(path)] == content for path, content in record.linked.items())
