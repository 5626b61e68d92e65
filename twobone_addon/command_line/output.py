"""What the command says: sentences for people, one JSON document for machines."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from .text_files import write_text

TO_STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said, and where; errors are always said."""

    quiet: bool = False
    verbose: bool = False

    def say(self, text: str) -> None:
        """A line that a person wants to see."""
        if not self.quiet:
            print(text, flush=True)  # noqa: T201 - this is a command

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(text)

    def warn(self, text: str) -> None:
        """A line for those who would trust the result too much."""
        if not self.quiet:
            print(f"twobone: {text}", file=sys.stderr, flush=True)  # noqa: T201 - this is a command


def complain(text: str) -> None:
    """Say what went wrong."""
    print(f"twobone: {text}", file=sys.stderr, flush=True)  # noqa: T201 - this is a command


@contextmanager
def clean_standard_output(report: str | None) -> Iterator[None]:
    """While a JSON document is to be the only thing on standard output, send all else to standard error.

    Blender itself prints there ("Info: Saved ..."), partly from outside Python, so the stream itself is moved as well.
    """
    if report != TO_STANDARD_OUTPUT:
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


def hand_over(report: str | None, document: object) -> None:
    """Write the JSON document where `--report` says."""
    if report is None:
        return
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if report == TO_STANDARD_OUTPUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(Path(report), text)
