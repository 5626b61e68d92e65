"""All that a shot's Blender has started, found again also where it went into sessions of its own, and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

MARK = "TWOBONE_SHOT"
"""Variable in the environment of a shot's Blender, which everything inherits that it starts."""

PROCESSES = Path("/proc")


def end_marked(mark: str) -> None:
    """Kill every process of ours that carries this mark, but for this very one; on Linux, where that can be seen."""
    if not mark or not sys.platform.startswith("linux"):
        return
    wanted = f"{MARK}={mark}".encode()
    for entry in PROCESSES.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # It has ended meanwhile, or is somebody else's.
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """The processes that hang from this one, as far as their parents live; for macOS, which shows no environments."""
    if os.name != "posix" or sys.platform.startswith("linux"):
        return []
    pairs = [line.split() for line in _ps("-axo", "pid=,ppid=")]
    below: dict[int, list[int]] = {}
    for child, parent in ((int(pair[0]), int(pair[1])) for pair in pairs if len(pair) == 2):  # noqa: PLR2004 - a pair
        below.setdefault(parent, []).append(child)
    found, waiting = list[int](), [pid]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def memory_of(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where it is no more, and on Windows, which limits it itself."""
    try:
        if sys.platform.startswith("linux"):
            pages = int((PROCESSES / str(pid) / "statm").read_text(encoding="ascii").split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        if os.name == "posix":
            return sum(int(line) for line in _ps("-o", "rss=", "-p", str(pid))) * 1024
    except (OSError, ValueError, IndexError):
        return 0
    return 0


def _ps(*words: str) -> list[str]:
    command = ["/bin/ps", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()  # noqa: S603 - a system tool
