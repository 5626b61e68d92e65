"""Progress output of a batch: a status line on a terminal, plain lines in a log, or JSON lines for programs."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from ...files import one_line
from ..output import complain, showable
from .records import DONE, ShotRecord

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
            left = (self.total - self.finished) * (time.monotonic() - self.begun) / worked if worked else None
            place = {"finished": self.finished, "total": self.total, "percent": percent}
            text = json.dumps({"event": event, **values, **place, "seconds_left": None if left is None else round(left, 1)})
        self.clear()
        self._write(showable(one_line(text), self.stream) + "\n")

    def _write(self, text: str) -> None:
        """Write the text; if the pipe is closed, such as after `| head`, the batch continues without output."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            self.quiet = True
