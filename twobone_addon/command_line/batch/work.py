"""The shots of a batch side by side, until all are through or somebody wants an end."""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    shots, writing = _Shots(run, progress, stop, deque(waiting), at_once, retries), _Writing(summary)
    try:
        while shots.left and not stop.wanted:
            ended = [*shots.begin(), *shots.collect()]
            for queued in ended:
                progress.ended(queued.shot.name, queued.record)
            writing.write(now=False, changed=bool(ended))
            progress.running([entry.queued.shot.name for entry in shots.running])
            time.sleep(0.0 if ended else LOOK_AGAIN)
    finally:
        progress.clear()
        shots.end()
    writing.write(now=True, changed=True)
    if stop.wanted:
        done = sum(record.state == DONE for record in summary.shots)
        raise StoppedError(f"Stopped with {done} of {len(summary.shots)} shots done. Go on with --resume.")


@dataclass(slots=True)
class _Shots:
    """The shots that wait and those that run."""

    run: BatchRun
    progress: Progress
    stop: StopRequest
    queue: deque[QueuedShot]
    at_once: int
    retries: int
    running: list[Running] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    tried: Counter[str] = field(default_factory=Counter)

    @property
    def left(self) -> bool:
        """Whether any shot is not through."""
        return bool(self.queue or self.running)

    def begin(self) -> list[QueuedShot]:
        """Start what there is room for; returns those that ended there and then."""
        ended = []
        while self.queue and len(self.running) < self.at_once and not self.stop.wanted:
            queued = self.queue.popleft()
            begun = self.run.start(queued, next(self.numbers))
            if begun:
                self.running.append(begun)
            else:
                ended.append(queued)
        return ended

    def collect(self) -> list[QueuedShot]:
        """Those whose Blender has ended, but for those that get another try."""
        through = [entry for entry in self.running if self.run.has_ended(entry)]
        self.running = [entry for entry in self.running if entry not in through]
        return [entry.queued for entry in through if not self._tries_again(entry.queued)]

    def _tries_again(self, queued: QueuedShot) -> bool:
        self.tried[queued.record.shot] += 1
        if queued.record.state not in {CRASHED, TIMED_OUT} or self.tried[queued.record.shot] > self.retries:
            return False
        self.progress.again(queued.shot.name, queued.record)
        self.queue.append(queued)
        return True

    def end(self) -> None:
        """End what still runs."""
        for entry in self.running:
            entry.child.ask_to_end()
        for entry in self.running:
            give_up(entry)


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
