"""Checks of the files that flags name: never an input, never two outputs in one file, never over a file of another kind."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from .. import files
from ..errors import FileError, refused_by_system
from ..files import followed
from .outcomes import UsageError
from .stopping import undisturbed

STANDARD_OUTPUT = "-"
ALSO_STANDARD_OUTPUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
STREAM = re.compile(r"(?:/dev/fd|/proc/self/fd)/(\d{1,4})|/dev/std(in|out|err)")

KINDS = {
    "--save": ("a .blend file", set[str]()),
    "--report": ("an earlier report", {"version", "provenance"}),
    "--summary": ("an earlier summary of a batch", {"version", "job", "shots", "done"}),
    "record": ("a record of a shot", {"version", "shot", "output_sha256"}),
}
"""For each flag that names a file to write, a description of what it may replace, and the keys of that if it is JSON."""

BLEND = (b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""First bytes of a .blend: plain, compressed with Zstandard (since 3.0), with gzip (before)."""


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
    refuse_shared_outputs(outputs, inputs)
    for flag, name in outputs.items():
        path, (what, _) = Path(name), KINDS[flag]
        is_stream = name == STANDARD_OUTPUT or _is_stream(path)
        if flag == "--save":
            if is_stream:
                raise UsageError(
                    '--save names "{name}", but a .blend file cannot be written to a stream. Name a file.', name=name
                )
            files.refuse_unwritable(path, is_blend, what)
        elif not is_stream:
            if path.suffix.lower() == ".blend":
                raise UsageError('{flag} would write text to "{name}", a .blend file. Name another file.', flag=flag, name=name)
            if path.is_file() and not path.is_symlink() and path.stat().st_size and not is_earlier(flag)(path):
                raise UsageError(
                    '{flag} would replace "{name}", which is not {what}. Name another file.', flag=flag, name=name, what=what
                )
            files.refuse_unwritable(path, is_earlier(flag), what)


def refuse_shared_outputs(outputs: dict[str, str], inputs: dict[str, Path]) -> None:
    """Refuse an output in the place of an input or of another output; raises `UsageError`."""
    for (flag, name), (other_flag, other_name) in itertools.combinations(outputs.items(), 2):
        if (name == other_name) if STANDARD_OUTPUT in {name, other_name} else is_same(Path(name), Path(other_name)):
            raise UsageError('{one} and {other} both name "{name}". Name two files.', one=flag, other=other_flag, name=name)
    for flag, name in outputs.items():
        for source, path in inputs.items():
            if name != STANDARD_OUTPUT and not (flag == "--save" and source == "--file") and is_same(Path(name), path):
                raise UsageError(
                    '{flag} would replace "{name}", which {source} reads. Name another file.', flag=flag, name=name, source=source
                )


def refuse_used_outputs(names: Iterable[str], used: Iterable[Path]) -> None:
    """Refuse outputs that would overwrite files used by the open shot, such as its libraries; raises `FileError`."""
    existing = [Path(name) for name in names if name != STANDARD_OUTPUT and Path(name).exists()]
    for path in used if existing else ():
        for name in existing:
            if is_same(name, path):
                raise FileError('"{name}" is used by the shot, so it cannot be overwritten. Name another file.', name=name)


def is_same(first: Path, second: Path) -> bool:
    """Whether two paths name the same file, also through links; files that do not exist yet are compared by spelling."""
    try:
        return first.samefile(second)
    except OSError:  # One of them does not exist yet.
        return spelled(first) == spelled(second)


def spelled(path: Path) -> str:
    """Return the path, links followed, in a canonical spelling: paths that the system treats alike become equal."""
    text = str(followed(path))
    if sys.platform == "darwin":  # Its file systems treat composed and decomposed accented letters alike.
        text = unicodedata.normalize("NFC", text)
    return os.path.normcase(text).casefold() if sys.platform in {"win32", "darwin"} else text


def is_earlier(flag: str) -> Callable[[Path], bool]:
    """Return the test whether a file is an earlier output of this flag."""
    _, keys = KINDS[flag]

    def has_its_keys(path: Path) -> bool:
        try:
            document = json.loads(files.read(path))
        except (FileError, ValueError, RecursionError):
            return False
        return isinstance(document, dict) and keys <= document.keys()

    return has_its_keys


def is_blend(path: Path) -> bool:
    """Whether a file begins with a magic number of .blend files."""
    try:
        with path.open("rb") as file:
            return file.read(7).startswith(BLEND)
    except OSError:
        return False


def write_document(flag: str, goal: Path, document: object) -> None:
    """Write a JSON document that `flag` names; a stream is written into. Raises `FileError`.

    Characters that UTF-8 cannot encode (from undecodable file names) are written as backslash escapes.
    """
    data = (json.dumps(document, indent=2, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
    try:
        stream_name = STREAM.fullmatch(str(goal))
        if stream_name is not None:
            # Not by its name: the shell may have opened a file for appending, which would be replaced.
            sys.stdout.flush()
            sys.stderr.flush()
            handle = int(stream_name[1] or {"in": 0, "out": 1, "err": 2}[stream_name[2]])
            while data:
                data = data[os.write(handle, data) :]
        elif _is_stream(goal):
            with goal.open("ab") as stream:
                stream.write(data)
        else:
            with undisturbed():
                files.write(goal, data, is_earlier(flag), KINDS[flag][0])
    except OSError as error:
        raise refused_by_system(goal, "written", error) from error


def _is_stream(path: Path) -> bool:
    """Whether the path is a pipe or a character device, to be written to rather than replaced."""
    if STREAM.fullmatch(str(path)):
        return True
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
