"""What is in a file, as a number that no other contents have."""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Collection
from pathlib import Path

AT_ONCE = 8
"""Files read side by side: what they wait for is the disk or the network."""


def content_of(path: Path) -> str:
    """SHA-256 of a plain file's bytes; empty where there is none, or where it cannot be read. Pipes are not waited for."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def contents_of(paths: Collection[Path], timeout: float | None) -> dict[Path, str]:
    """`content_of` each; when no file has been read for `timeout` seconds, the rest count as unreadable."""
    found = dict.fromkeys(paths, "")
    waiting, read = queue.SimpleQueue[Path](), queue.SimpleQueue[tuple[Path, str]]()
    for path in found:
        waiting.put(path)
    for _ in range(min(len(found), AT_ONCE, (os.cpu_count() or 1) + 1)):
        # A daemon: a file system that no longer answers must not keep this process alive.
        threading.Thread(target=_read_all, args=(waiting, read), daemon=True).start()
    for _ in range(len(found)):
        try:
            path, content = read.get(timeout=timeout)
        except queue.Empty:
            break
        found[path] = content
    return found


def _read_all(waiting: queue.SimpleQueue[Path], read: queue.SimpleQueue[tuple[Path, str]]) -> None:
    while True:
        try:
            path = waiting.get_nowait()
        except queue.Empty:
            return
        read.put((path, content_of(path)))
