"""Whole files or none: text written beside its goal and moved there when complete."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from .outcomes import FileError

UNFINISHED = "unfinished"
"""Last part of the name of a file that is being written."""


def unfinished(goal: Path) -> Path:
    """A new name beside the goal, hidden, unlike any other process's."""
    return goal.with_name(f".{goal.name}.{uuid.uuid4().hex}.{UNFINISHED}")


def remove_unfinished(goal: Path) -> None:
    """Remove what a process that was ended while writing `goal` has left beside it."""
    for left in goal.parent.glob(f".{glob_escaped(goal.name)}.*.{UNFINISHED}*"):
        left.unlink(missing_ok=True)


def glob_escaped(name: str) -> str:
    """The name as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def write_text(goal: Path, text: str) -> None:
    """Write a text file, whole or not at all; raises `FileError`."""
    draft = unfinished(goal)
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        publish(draft, goal)
    except OSError as error:
        raise FileError(
            f'"{goal}" cannot be written ({error.strerror}). Choose a folder that exists and can be written to.'
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def publish(draft: Path, goal: Path) -> None:
    """Move a complete and flushed file to its goal in one step, and make the move itself lasting."""
    draft.replace(goal)
    if os.name == "posix":  # Windows has no handle on a folder that could be flushed.
        folder = os.open(goal.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
