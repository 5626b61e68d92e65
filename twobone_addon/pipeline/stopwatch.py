"""How long each stage of a run takes, and the wish not to wait for the last one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class SkipCheckError(Exception):
    """Thrown into a run by somebody who does not want to wait for the proof; before the first write, it stops the run."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage. A stage inside another one stops the outer one meanwhile, so that nothing counts twice."""

    seconds: dict[str, float] = field(default_factory=dict)
    _running: list[str] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        self._count()
        self._running.append(name)
        try:
            yield
        finally:
            self._count()
            self._running.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        if self._running:
            self.seconds[self._running[-1]] = self.seconds.get(self._running[-1], 0.0) + now - self._since
        self._since = now
