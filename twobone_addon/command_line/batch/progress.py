"""How far a batch is: one line that stays in place on a terminal, plain lines in a log."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from typing import TextIO

from ..files.text_files import one_line, showable
from .summary import DONE, ShotRecord

BAR = 24
"""Letters of the bar."""
CLEAR_LINE = "\r\x1b[2K"


@dataclass(slots=True)
class Progress:
    """Says what happens; `quiet` says nothing."""

    total: int
    quiet: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    finished: int = 0
    failed: int = 0

    def skipped(self, names: list[str]) -> None:
        """Shots that need no work."""
        self.finished += len(names)
        if names:
            self._line(f"{len(names)} of {self.total} shots are done already")

    def ended(self, name: str, record: ShotRecord) -> None:
        """A shot is through, well or not."""
        self.finished += 1
        self.failed += record.state != DONE
        result = f"done in {record.seconds:.1f} s" if record.state == DONE else f"{record.state}: {record.reason}"
        width = len(str(self.total))
        self._line(f"[{self.finished:{width}}/{self.total}] {name}: {result}")

    def again(self, name: str, record: ShotRecord) -> None:
        """A shot is not through, but will be tried once more."""
        self._line(f"{name}: {record.state}: {record.reason} Trying again.")

    def running(self, names: list[str]) -> None:
        """Redraw the line at the bottom; only on a terminal."""
        if self.quiet or not self.stream.isatty():
            return
        full = BAR * self.finished // max(self.total, 1)
        failed = f", {self.failed} not done" if self.failed else ""
        text = f"[{'#' * full}{'.' * (BAR - full)}] {self.finished}/{self.total}{failed}  {one_line(', '.join(names))}"
        self.stream.write(CLEAR_LINE + showable(text, self.stream)[: shutil.get_terminal_size().columns - 1])
        self.stream.flush()

    def clear(self) -> None:
        """Take the line at the bottom away."""
        if not self.quiet and self.stream.isatty():
            self.stream.write(CLEAR_LINE)
            self.stream.flush()

    def _line(self, text: str) -> None:
        if not self.quiet:
            self.clear()
            self.stream.write(showable(one_line(text), self.stream) + "\n")
            self.stream.flush()
