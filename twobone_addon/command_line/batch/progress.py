"""How far a batch is: one line that stays in place on a terminal, plain lines in a log, or JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from ..files.text_files import one_line, showable
from ..output import complain
from .summary import DONE, ShotRecord

BAR = 24
"""Letters of the bar."""
CLEAR_LINE = "\r\x1b[2K"

HEARTBEAT = 60.0
"""Seconds after which a shot that is still running is said to be, and so on: a log that stands still looks like a hang."""


@dataclass(slots=True)
class Progress:
    """Says what happens; `quiet` says nothing."""

    total: int
    quiet: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    as_json: bool = False
    """Whether each event is a line of JSON."""
    finished: int = 0
    failed: int = 0
    begun: float = field(default_factory=time.monotonic)
    worked: int = 0
    """How many of the finished this batch has worked at."""
    beats: dict[str, int] = field(default_factory=dict)
    """How many heartbeats were said of each shot that is running."""

    def skipped(self, names: list[str]) -> None:
        """Shots that need no work."""
        self.finished += len(names)
        if names:
            self._line(f"{len(names)} of {self.total} shots are done already", "skipped", shots=names)

    def started(self, name: str) -> None:
        """A worker has the shot now; people see that at the bottom only."""
        if self.as_json:
            self._line("", "started", shot=name)

    def ended(self, name: str, record: ShotRecord) -> None:
        """A shot is through, well or not."""
        self.finished += 1
        self.worked += 1
        self.failed += record.state != DONE
        self.beats.pop(name, None)
        result = f"done in {record.seconds:.1f} s" if record.state == DONE else f"{record.state}: {record.reason}"
        width = len(str(self.total))
        event = "done" if record.state == DONE else "failed"
        text = f"[{self.finished:{width}}/{self.total}] {name}: {result}"
        self._line(text, event, shot=name, state=record.state, reason=record.reason, seconds=record.seconds)

    def again(self, name: str, record: ShotRecord) -> None:
        """A shot is not through, but will be tried once more."""
        text = f"{name}: {record.state}: {record.reason} Trying again."
        self._line(text, "again", shot=name, state=record.state, reason=record.reason)

    def warn(self, text: str) -> None:
        """Something that ends no shot."""
        self.clear()
        complain(text)

    def running(self, names: Sequence[str], seconds: Sequence[float] = ()) -> None:
        """Redraw the line at the bottom of a terminal; in a log, say now and then which shots go on, and for how long."""
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
        """Take the line at the bottom away."""
        if not self.quiet and not self.as_json and self.stream.isatty():
            self._write(CLEAR_LINE)

    def _line(self, text: str, event: str, **values: object) -> None:
        if self.quiet:
            return
        if self.as_json:
            left = (self.total - self.finished) * (time.monotonic() - self.begun) / self.worked if self.worked else None
            far = {
                "finished": self.finished,
                "total": self.total,
                "percent": round(100.0 * self.finished / max(self.total, 1), 1),
            }
            text = json.dumps({"event": event, **values, **far, "seconds_left": None if left is None else round(left, 1)})
        self.clear()
        self._write(showable(one_line(text), self.stream) + "\n")

    def _write(self, text: str) -> None:
        """Write; when nobody reads any more, such as after `| head`, the batch goes on in silence."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.quiet = True
