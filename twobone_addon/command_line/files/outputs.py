"""Where results may go: never over something that is read, never two into one file, never in place of a device."""

from __future__ import annotations

import argparse
import itertools
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from ..outcomes import FileError, UsageError
from .text_files import is_stream

STANDARD_OUTPUT = "-"
ALSO_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""First bytes of a compressed .blend: Zstandard since Blender 3.0, gzip before."""
BLEND = (b"BLENDER", *COMPRESSED)


def file_name(text: str) -> str:
    """A file's name as flags take it, or `-`; raises `ArgumentTypeError` where nothing is named."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the file is empty. Name one, or leave the flag out")
    if "\0" in text:
        raise argparse.ArgumentTypeError("the name of the file has a zero in it. Name one that can be")
    return STANDARD_OUTPUT if text in ALSO_STANDARD_OUTPUT else text


def file_path(text: str) -> Path:
    """The same as a path, for what is not written to standard output."""
    return Path(file_name(text))


def refuse_wrong_outputs(outputs: dict[str, str], inputs: dict[str, Path]) -> None:
    """Refuse outputs that would destroy something, and those that cannot be written; nothing has been opened yet.

    Both are by the flags that name them; `-` is standard output. Raises `UsageError` or `FileError`.
    """
    for (one, name), (other, same) in itertools.combinations(outputs.items(), 2):
        if is_same_place(name, same):
            raise UsageError(f'{one} and {other} both name "{name}". Name two files.')
    for flag, name in outputs.items():
        for source, path in inputs.items():
            if name != STANDARD_OUTPUT and not (flag == "--save" and source == "--file") and is_same(Path(name), path):
                raise UsageError(f'{flag} would replace "{name}", which {source} reads. Name another file.')
        (_refuse_shot_goal if flag == "--save" else _refuse_text_goal)(flag, name)


def refuse_used_outputs(names: Iterable[str], used: Iterable[Path]) -> None:
    """Refuse outputs in place of files that the open shot uses, such as its libraries; raises `FileError`."""
    there = [Path(name) for name in names if name != STANDARD_OUTPUT and Path(name).exists()]
    for path in used if there else ():
        for name in there:
            if is_same(name, path):
                raise FileError(f'"{name}" is used by the shot, so it cannot be written over. Name another file.')


def is_same_place(one: str, other: str) -> bool:
    """Whether two outputs would end in one place."""
    if STANDARD_OUTPUT in {one, other}:
        return one == other
    return is_same(Path(one), Path(other))


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, also through links, and as names of a file to be."""
    try:
        return one.samefile(other)
    except OSError:  # One of them is not there yet.
        return spelled(one) == spelled(other)


def spelled(path: Path) -> str:
    """The path in the one spelling that the system takes for all that it treats alike; links followed."""
    text = str(path.resolve())
    return os.path.normcase(text).casefold() if sys.platform in {"win32", "darwin"} else text


def looks_like_blend(path: Path) -> bool:
    """Whether a file begins as Blender's do."""
    try:
        with path.open("rb") as file:
            return file.read(7).startswith(BLEND)
    except OSError:
        return False


def _refuse_text_goal(flag: str, name: str) -> None:
    path = Path(name)
    if name == STANDARD_OUTPUT or is_stream(path):
        return
    _refuse_unwritable(path)
    if path.suffix.lower() == ".blend" or (path.exists() and looks_like_blend(path)):
        raise UsageError(f'{flag} would write text to "{name}", a .blend file. Name another file.')


def _refuse_shot_goal(flag: str, name: str) -> None:
    path = Path(name)
    if name == STANDARD_OUTPUT or is_stream(path):
        raise UsageError(f'{flag} names "{name}", but a .blend file cannot be written to a stream. Name a file.')
    _refuse_unwritable(path)
    if path.exists() and path.stat().st_size and not looks_like_blend(path):
        raise FileError(f'"{name}" is not a .blend file, so it cannot be saved over. Name another file.')


def _refuse_unwritable(asked: Path) -> None:
    goal = asked.resolve()
    if goal.is_dir():
        raise FileError(f'"{asked}" is a folder. Name a file to write to.')
    if not goal.parent.is_dir():
        raise FileError(f'The folder "{goal.parent}" does not exist. Make it first, or write elsewhere.')
    if not goal.exists():
        return
    mode = goal.stat().st_mode
    if not stat.S_ISREG(mode):
        raise FileError(f'"{asked}" is a socket or a disk, not a file. Name a file to write to.')
    if not (os.access(goal, os.W_OK) and mode & 0o222):
        raise FileError(f'"{asked}" is read-only. Make it writable, or write to another file.')
