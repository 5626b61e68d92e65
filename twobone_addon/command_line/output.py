"""What the command says: sentences for people, one JSON document for machines."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from .files.outputs import STANDARD_OUTPUT
from .files.text_files import one_line, showable, write_text
from .stopping import StopRequest


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said, and where; errors are always said."""

    quiet: bool = False
    verbose: bool = False
    warnings: list[str] = field(default_factory=list)
    """What was said by `warn`, quiet or not."""
    stop: StopRequest = field(default_factory=StopRequest)
    """Whether somebody wants an end meanwhile."""

    def say(self, text: str) -> None:
        """A line that a person wants to see."""
        if not self.quiet:
            print(showable(text, sys.stdout), flush=True)  # noqa: T201 - this is a command

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(text)

    def warn(self, text: str) -> None:
        """A line for those who would trust the result too much."""
        self.warnings.append(text)
        if not self.quiet:
            complain(text)


def complain(text: str) -> None:
    """Say what went wrong."""
    line = one_line(f"twobone: {text}")
    print(showable(line, sys.stderr), file=sys.stderr, flush=True)  # noqa: T201 - this is a command


@contextmanager
def clean_standard_output(*, wanted: bool) -> Iterator[None]:
    """While, if `wanted`, a JSON document is to be the only thing on standard output, send all else to standard error.

    Blender itself prints there ("Info: Saved ..."), partly from outside Python, so the stream itself is moved as well.
    """
    if not wanted:
        yield
        return
    _flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Empty Python's buffer and that of the C library, in which Blender's own lines wait."""
    sys.stdout.flush()
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    library.fflush(None)


def hand_over(goal: str, document: object) -> None:
    """Write a JSON document to a file, or to standard output."""
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if goal == STANDARD_OUTPUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(Path(goal), text)
