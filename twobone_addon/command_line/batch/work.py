"""The shots of a batch side by side, until all are through or somebody wants an end."""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque

from ..outcomes import StoppedError
from ..stopping import StopRequest
from .batch_run import BatchRun, QueuedShot, Running, give_up
from .progress import Progress
from .summary import CRASHED, DONE, TIMED_OUT, Summary

LOOK_AGAIN = 0.05
"""Seconds between two looks at the running processes."""

SHARE = 10.0
"""How many times as long as writing the summary takes, at least, lies between two times it is written."""


def work(
    run: BatchRun,
    waiting: list[QueuedShot],
    summary: Summary,
    progress: Progress,
    stop: StopRequest,
    *,
    at_once: int,
    retries: int,
) -> None:
    """Keep `at_once` shots running until all are through; whatever happens, no process is left behind."""
    queue, numbers, running = deque(waiting), itertools.count(), list[Running]()
    tried, writing = Counter[str](), _Writing(summary)
    try:
        while (queue or running) and not stop.wanted:
            ended = list[QueuedShot]()
            while queue and len(running) < at_once and not stop.wanted:
                queued = queue.popleft()
                begun = run.start(queued, next(numbers))
                running += [begun] if begun else []
                ended += [] if begun else [queued]
            through = [entry for entry in running if run.has_ended(entry)]
            running = [entry for entry in running if entry not in through]
            for entry in through:
                queued = entry.queued
                tried[queued.record.shot] += 1
                if queued.record.state in {CRASHED, TIMED_OUT} and tried[queued.record.shot] <= retries:
                    progress.again(queued.shot.name, queued.record)
                    queue.append(queued)
                else:
                    ended.append(queued)
            for queued in ended:
                progress.ended(queued.shot.name, queued.record)
            writing.write(now=False, changed=bool(ended))
            progress.running([entry.queued.shot.name for entry in running])
            time.sleep(0.0 if ended else LOOK_AGAIN)
    finally:
        progress.clear()
        for entry in running:
            entry.child.ask_to_end()
        for entry in running:
            give_up(entry)
    writing.write(now=True, changed=True)
    if stop.wanted:
        done = sum(record.state == DONE for record in summary.shots)
        raise StoppedError(f"Stopped with {done} of {len(summary.shots)} shots done. Go on with --resume.")


class _Writing:
    """Keeps the summary up to date, without spending more on that than on the shots, however many there are."""

    def __init__(self, summary: Summary) -> None:
        self._summary, self._due, self._is_old = summary, 0.0, False

    def write(self, *, now: bool, changed: bool) -> None:
        self._is_old |= changed
        start = time.monotonic()
        if self._is_old and (now or start >= self._due):
            self._summary.write()
            self._due = start + (1.0 + SHARE) * (time.monotonic() - start)
            self._is_old = False
