"""Files by patterns: like Python's `glob`, but links that lead in a circle come to an end."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator
from pathlib import Path

FOLDERS = "**"
"""Stands for any number of folders."""


def matching_files(folder: Path, pattern: str) -> Iterator[Path]:
    """Every file that a pattern means, seen from `folder`; hidden ones only where it names them so. Links are followed."""
    whole = Path(pattern)
    start = Path(whole.anchor) if whole.anchor else folder
    parts = [part for part in whole.parts if part != whole.anchor]
    for path in _below(start, parts):
        if path.is_file():
            yield path


class PathPatterns:
    """Many patterns at once: whether any of them would find a path once it is there, without trying them all."""

    def __init__(self, folder: Path, patterns: list[str]) -> None:
        """Take patterns as seen from `folder`."""
        self._by_start: dict[tuple[str, ...], list[list[str]]] = {}
        for pattern in patterns:
            parts = list((folder / pattern).parts)
            first = next((place for place, part in enumerate(parts) if glob.has_magic(part)), len(parts))
            self._by_start.setdefault(tuple(parts[:first]), []).append(parts[first:])

    def would_find(self, path: Path) -> bool:
        """Whether one of the patterns means this path."""
        parts = path.parts
        for end in range(len(parts) + 1):
            for pattern in self._by_start.get(parts[:end], ()):
                if _fits(list(parts[end:]), pattern):
                    return True
        return False


def _below(folder: Path, parts: list[str]) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if first == FOLDERS:
        for each in _folders(folder):
            yield from _below(each, rest or ["*"])
    elif glob.has_magic(first):
        for name in _names(folder):
            if fnmatch.fnmatch(name, first) and (not name.startswith(".") or first.startswith(".")):
                yield from _below(folder / name, rest)
    else:
        yield from _below(folder / first, rest)


def _folders(top: Path) -> Iterator[Path]:
    """The folder and all below it, each once, by whatever link it is reached first."""
    seen, waiting = set[tuple[int, int]](), [top]
    while waiting:
        folder = waiting.pop()
        try:
            found = folder.stat()
        except OSError:
            continue
        if (found.st_dev, found.st_ino) in seen:
            continue
        seen.add((found.st_dev, found.st_ino))
        yield folder
        waiting += [folder / name for name in reversed(_names(folder, folders=True)) if not name.startswith(".")]


def _names(folder: Path, *, folders: bool = False) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not folders or entry.is_dir())
    except OSError:
        return []


def _fits(parts: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a path fit those of a pattern: by how much of the pattern each further part may have used."""
    used = {0}
    for part in [*parts, None]:
        waiting = list(used)
        while waiting:  # `**` may stand for nothing.
            place = waiting.pop()
            if place < len(pattern) and pattern[place] == FOLDERS and place + 1 not in used:
                used.add(place + 1)
                waiting.append(place + 1)
        if part is None:
            return len(pattern) in used
        stay = {place for place in used if place < len(pattern) and pattern[place] == FOLDERS}
        step = {place + 1 for place in used - stay if place < len(pattern) and fnmatch.fnmatch(part, pattern[place])}
        used = stay | step
    return False
