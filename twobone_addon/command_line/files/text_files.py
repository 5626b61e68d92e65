"""Whole files or none: text written beside its goal and moved there when complete."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TextIO

from ..outcomes import FileError
from ..stopping import undisturbed
from .claims import claimed, unfinished

PATIENCE = 10.0
"""Seconds to wait for another process that writes the same text; it needs a few thousandths."""


def write_text(goal: Path, text: str) -> None:
    """Write a text file, whole or not at all, links followed; into a pipe or a device, which stay what they are.

    What UTF-8 cannot hold (parts of file names that are no text) is written with a backslash. Raises `FileError`.
    """
    try:
        if is_stream(goal):
            with goal.open("a", encoding="utf-8", errors="backslashreplace", newline="") as stream:
                stream.write(text)
            return
        goal = goal.resolve()
        with undisturbed(), claimed(goal, patience=PATIENCE, everything=False):
            _replace(goal, text)
    except OSError as error:
        raise FileError(
            f'"{goal}" cannot be written ({error.strerror}). Choose a folder that exists and can be written to.'
        ) from error


def is_stream(path: Path) -> bool:
    """Whether what is there is to be written into, not replaced: a pipe or a device that takes text as it comes."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def one_line(text: str) -> str:
    """The text as one line that any stream can show: what is no letter or sign, such as a new line, as its number."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def showable(text: str, stream: TextIO) -> str:
    """The text as the stream can write it; what its encoding does not have, or no encoding has, as its number."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def publish(draft: Path, goal: Path) -> list[str]:
    """Move a complete and flushed file to its goal in one step, and make the move itself lasting.

    Returns a sentence for each property of the file that was there before and could not be kept.
    """
    lost = _keep_properties(goal, draft) if goal.exists() else []
    draft.replace(goal)
    if os.name == "posix":  # Windows has no handle on a folder that could be flushed.
        folder = os.open(goal.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return lost


def _replace(goal: Path, text: str) -> None:
    draft = unfinished(goal)
    try:
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        publish(draft, goal)
    finally:
        draft.unlink(missing_ok=True)


def _keep_properties(goal: Path, draft: Path) -> list[str]:
    """Give the draft the owner, group, permissions and attributes that the goal has."""
    before, lost = goal.stat(), list[str]()
    if hasattr(os, "chown"):
        for owner, group, what in ((before.st_uid, -1, "owner"), (-1, before.st_gid, "group")):
            try:
                os.chown(draft, owner, group)
            except OSError:
                lost.append(f'The {what} of "{goal}" could not be kept, since only an administrator may set it.')
    try:
        shutil.copystat(goal, draft)
        os.utime(draft)
    except OSError as error:
        lost.append(f'The permissions of "{goal}" could not be kept ({error.strerror}).')
    if before.st_nlink > 1:
        lost.append(f'"{goal}" had {before.st_nlink} names (hard links). The others keep the file as it was before.')
    return lost
