"""What the command says: sentences for people, one JSON document for machines."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

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
            _print(text, sys.stdout)

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
    _print(one_line(f"twobone: {text}"), sys.stderr)


def open_closed_streams() -> None:
    """Let the standard streams that this process was started without lead nowhere.

    Else the next file that is opened gets the number of such a stream, and whatever is printed lands in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # Gets the least number that is free, which is this one.
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _print(line: str, stream: TextIO) -> None:
    """Print a line; one that nobody reads any more, such as after `| head`, ends nothing."""
    with contextlib.suppress(OSError, ValueError):
        print(showable(line, stream), file=stream, flush=True)


@contextmanager
def clean_standard_output(*, wanted: bool) -> Iterator[None]:
    """While, if `wanted`, a JSON document must be the only thing on standard output, send all else to standard error.

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
    with contextlib.suppress(OSError, ValueError):
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
