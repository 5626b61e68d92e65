"""The command's output: sentences for people, and one JSON document for programs."""

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

from ..files import one_line
from .outputs import STANDARD_OUTPUT, write_document
from .stopping import StopRequest

OWN_WORDS = "twobone: "
"""Prefix of the command's own errors and warnings."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Prints messages at the chosen verbosity; errors are always printed."""

    quiet: bool = False
    verbose: bool = False
    warnings: list[str] = field(default_factory=list)
    """All warnings so far, whether printed or not."""
    stop: StopRequest = field(default_factory=StopRequest)
    """Whether a signal has asked the command to stop."""

    def say(self, text: str) -> None:
        """Print a line, unless quiet."""
        if not self.quiet:
            _print(text, sys.stdout)

    def detail(self, text: str) -> None:
        """Print a line only if verbose."""
        if self.verbose:
            self.say(text)

    def warn(self, text: str) -> None:
        """Record a warning about the result, and print it unless quiet."""
        self.warnings.append(text)
        if not self.quiet:
            complain(text)


def complain(text: str) -> None:
    """Print an error or a warning on standard error."""
    _print(f"{OWN_WORDS}{text}", sys.stderr)


def open_closed_streams() -> None:
    """Connect standard streams that were closed when this process started to the null device.

    Otherwise the next file that is opened would get the number of such a stream, and everything printed would land in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # Gets the lowest free number, which is this one.
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _print(line: str, stream: TextIO) -> None:
    """Print a line, whatever names are in it; a closed pipe, such as after `| head`, is no error."""
    with contextlib.suppress(OSError, ValueError):
        print(showable(one_line(line), stream), file=stream, flush=True)


def showable(text: str, stream: TextIO) -> str:
    """Return the text with characters that the stream's encoding does not have written as escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


@contextmanager
def clean_standard_output(*, wanted: bool) -> Iterator[None]:
    """If `wanted`, redirect standard output to standard error in the block, to keep it free for a JSON document.

    Blender itself prints there ("Info: Saved ..."), partly from C code, so the file descriptor is redirected as well.
    """
    if not wanted:
        yield
        return
    flush()
    original = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        flush()
        os.dup2(original, 1)
        os.close(original)


def flush() -> None:
    """Flush Python's standard output and the buffers of the C library, which hold Blender's own lines."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    library.fflush(None)


def hand_over(flag: str, goal: str, document: object) -> None:
    """Write a JSON document that `flag` names to a file, or to standard output."""
    if goal == STANDARD_OUTPUT:
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
        sys.stdout.flush()
    else:
        write_document(flag, Path(goal), document)
