"""Checks of output files: never an input, never two outputs in one file, never over a file of another kind."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import stat
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..outcomes import FileError, UsageError
from .text_files import followed, is_stream, refuse_long

STANDARD_OUTPUT = "-"
ALSO_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

KINDS = {
    "--report": ("an earlier report", {"version", "provenance"}),
    "--linked": ("an earlier list of linked files", set[str]()),
    "--summary": ("an earlier summary of a batch", {"version", "job", "shots", "done"}),
    "--freeze": ("an earlier list of shots", {"version", "job_sha256", "shots"}),
}
"""For each flag, a description of the file it writes and the keys of its JSON object; a list of linked files has only paths."""

COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""Magic numbers of a compressed .blend: Zstandard since Blender 3.0, gzip before."""
BLEND = (b"BLENDER", *COMPRESSED)


def file_name(text: str) -> str:
    """Parse a file name given to a flag, or `-` for standard output; raises `ArgumentTypeError` if it is empty or unusable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the file is empty. Name one, or leave the flag out")
    if "\0" in text:
        raise argparse.ArgumentTypeError("the file name contains a NUL character")
    return STANDARD_OUTPUT if text in ALSO_STANDARD_OUTPUT else text


def file_path(text: str) -> Path:
    """Parse a file name given to a flag that does not accept standard output; raises `ArgumentTypeError`."""
    return Path(file_name(text))


def refuse_wrong_outputs(outputs: dict[str, str], inputs: dict[str, Path]) -> None:
    """Refuse outputs that would destroy something or cannot be written, before anything is opened.

    `outputs` and `inputs` are keyed by the flags that name them; `-` is standard output. Raises `UsageError` or `FileError`.
    """
    for (one, name), (other, same) in itertools.combinations(outputs.items(), 2):
        if is_same_place(name, same):
            raise UsageError('{one} and {other} both name "{name}". Name two files.', one=one, other=other, name=name)
    for flag, name in outputs.items():
        for source, path in inputs.items():
            if name != STANDARD_OUTPUT and not (flag == "--save" and source == "--file") and is_same(Path(name), path):
                raise UsageError(
                    '{flag} would replace "{name}", which {source} reads. Name another file.', flag=flag, name=name, source=source
                )
        (_refuse_shot_goal if flag == "--save" else _refuse_text_goal)(flag, name)


def refuse_used_outputs(names: Iterable[str], used: Iterable[Path]) -> None:
    """Refuse outputs that would overwrite files used by the open shot, such as its libraries; raises `FileError`."""
    existing = [Path(name) for name in names if name != STANDARD_OUTPUT and Path(name).exists()]
    for path in used if existing else ():
        for name in existing:
            if is_same(name, path):
                raise FileError('"{name}" is used by the shot, so it cannot be overwritten. Name another file.', name=name)


def is_same_place(one: str, other: str) -> bool:
    """Whether two outputs would go to the same file or both to standard output."""
    if STANDARD_OUTPUT in {one, other}:
        return one == other
    return is_same(Path(one), Path(other))


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths name the same file, also through links; files that do not exist yet are compared by spelling."""
    try:
        return one.samefile(other)
    except OSError:  # One of them does not exist yet.
        return spelled(one) == spelled(other)


def spelled(path: Path) -> str:
    """Return the path, links followed, in a canonical spelling: paths that the system treats alike become equal."""
    text = str(followed(path))
    if sys.platform == "darwin":  # Its file systems treat composed and decomposed accented letters alike.
        text = unicodedata.normalize("NFC", text)
    return os.path.normcase(text).casefold() if sys.platform in {"win32", "darwin"} else text


def refuse_foreign_text(flag: str, name: str) -> None:
    """Refuse to replace a file that is not an earlier output of this flag; raises `UsageError`."""
    path = Path(name)
    if name == STANDARD_OUTPUT or is_stream(path) or not path.is_file() or not path.stat().st_size:
        return
    what, keys = KINDS[flag]
    try:
        found: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError):
        found = None
    is_one = isinstance(found, dict) and (keys <= found.keys() if keys else all(isinstance(each, str) for each in found.values()))
    if not is_one:
        raise UsageError(
            '{flag} would replace "{name}", which is not {what}. Name another file.', flag=flag, name=name, what=what
        )


def looks_like_blend(path: Path) -> bool:
    """Whether a file begins with a magic number of .blend files."""
    try:
        with path.open("rb") as file:
            return file.read(7).startswith(BLEND)
    except OSError:
        return False


def _refuse_text_goal(flag: str, name: str) -> None:
    path = Path(name)
    if name == STANDARD_OUTPUT or is_stream(path):
        return
    refuse_unwritable(path)
    if path.suffix.lower() == ".blend" or (path.exists() and looks_like_blend(path)):
        raise UsageError('{flag} would write text to "{name}", a .blend file. Name another file.', flag=flag, name=name)
    refuse_foreign_text(flag, name)


def _refuse_shot_goal(flag: str, name: str) -> None:
    path = Path(name)
    if name == STANDARD_OUTPUT or is_stream(path):
        raise UsageError(
            '{flag} names "{name}", but a .blend file cannot be written to a stream. Name a file.', flag=flag, name=name
        )
    refuse_unwritable(path)
    if path.exists() and path.stat().st_size and not looks_like_blend(path):
        raise FileError('"{name}" is not a .blend file, so it cannot be saved over. Name another file.', name=name)


def refuse_unwritable(asked: Path) -> None:
    """Refuse a path where no file can be written; raises `FileError`."""
    goal = followed(asked)
    refuse_long(goal, is_written=True)
    if goal.is_dir():
        raise FileError('"{asked}" is a folder. Name a file to write to.', asked=asked)
    if not goal.parent.is_dir():
        raise FileError('The folder "{folder}" does not exist. Make it first, or write elsewhere.', folder=goal.parent)
    if not _may(goal.parent, os.W_OK | os.X_OK):
        raise FileError(
            'The folder "{folder}" may not be written to by this user. Allow it, or write elsewhere.', folder=goal.parent
        )
    if not goal.exists():
        return
    mode = goal.stat().st_mode
    if not stat.S_ISREG(mode):
        raise FileError('"{asked}" is a socket or a disk, not a file. Name a file to write to.', asked=asked)
    if not (_may(goal, os.W_OK) and mode & 0o222):
        raise FileError('"{asked}" is read-only. Make it writable, or write to another file.', asked=asked)


def _may(path: Path, mode: int) -> bool:
    """Whether the effective user has access with this `mode`, a mask of `os.access`."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
