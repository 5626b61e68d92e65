"""A Blender of its own for one shot: started, watched, and ended with everything it has started itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import bpy

from ...outcomes import FileError
from .descendants import MARK, descendants, end_marked, memory_of
from .windows_job import Job

PATIENCE = 3.0
"""Seconds that a process gets to end by itself once it was told to."""

LOOK_AT_MEMORY = 0.2
"""Seconds between two looks at how much memory a process holds."""

PACKAGE = __name__.rsplit(".", 3)[0]
"""The add-on's own package, whatever Blender calls the extension."""


OWN_WORDS = "twobone: "
"""How the command's own sentences begin in the log."""

LINES, LETTERS = 500, 2000
"""How many lines are kept, and of how many letters each."""


class ChildLog:
    """The log of one process, read by a thread, so that nobody waits for anybody."""

    def __init__(self, stream: IO[bytes]) -> None:
        """Begin to read."""
        self._latest: deque[str] = deque(maxlen=LINES)
        self._own: deque[str] = deque(maxlen=LINES)
        self._reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._reader.start()

    def end(self, patience: float) -> None:
        """Wait until everything is read; not forever, since something may hold the stream that nobody knows of."""
        self._reader.join(patience)

    def latest(self, count: int) -> list[str]:
        """The last lines."""
        return list(self._latest)[-count:]

    def own_sentences(self) -> list[str]:
        """Our command's complaints and warnings, in their order, without the words that all begin with."""
        return list(self._own)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for raw in iter(lambda: stream.readline(LETTERS), b""):
                line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
                self._latest.append(line)
                if line.startswith(OWN_WORDS):
                    self._own.append(line.removeprefix(OWN_WORDS))


@dataclass(slots=True)
class Child:
    """A running process, what it prints, and what ties it to this one."""

    process: subprocess.Popen[Any]
    log: ChildLog
    mark: str
    """What it and all that it starts carry in their environment."""
    lifeline: int | None
    """The end of the pipe that it watches; it closes when this process is no more."""
    job: Job
    memory: int | None
    """Bytes that it may hold."""
    started: float = field(default_factory=time.monotonic)
    looked: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started

    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; `None` while it runs."""
        return self.process.poll()

    def is_too_large(self) -> bool:
        """Whether it holds more memory than it may."""
        now = time.monotonic()
        if self.memory is None or now - self.looked < LOOK_AT_MEMORY:
            return False
        self.looked = now
        return memory_of(self.process.pid) > self.memory

    def ask_to_end(self) -> None:
        """Tell the process to end, and go on meanwhile."""
        _signal_group(self.process, force=False)

    def end(self) -> None:
        """End the process and all that it has started: asked first, forced when it does not listen."""
        below = descendants(self.process.pid)
        for force in (False, True):
            _signal_group(self.process, force=force)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue
            break
        for pid in below:
            _signal(os.kill, pid, force=True)
        self.clean_up()

    def clean_up(self) -> None:
        """After the process: end what it has started and left, and read the rest of its log."""
        if os.name == "posix":
            _signal_group(self.process, force=True)
        end_marked(self.mark)
        self.job.end()
        if self.lifeline is not None:
            os.close(self.lifeline)
            self.lifeline = None
        self.log.end(PATIENCE)


def start_child(arguments: list[str], scratch: Path, memory: int | None) -> Child:
    """Run `twobone` with these arguments in a Blender of its own, started as this one was.

    Its temporary files go into `scratch`, so that they are gone with it; `memory` is how many bytes it may hold.
    """
    mark = uuid.uuid4().hex
    if os.name == "posix":
        theirs, ours = os.pipe()
        words = [*_blender(), *arguments, "--lifeline", str(theirs)]
        ties: dict[str, Any] = {"start_new_session": True, "pass_fds": [theirs]}
    else:
        theirs, ours = None, None
        words = [*_blender(), *arguments]
        ties = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    process = subprocess.Popen(  # noqa: S603 - this very Blender, with arguments of our own
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment() | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)) | {MARK: mark},
        **ties,
    )
    if theirs is not None:
        os.close(theirs)
    assert process.stdout is not None  # noqa: S101 - it was asked for
    return Child(process, ChildLog(process.stdout), mark, ours, Job(int(getattr(process, "_handle", 0)), memory), memory)


def _blender() -> list[str]:
    """The command that this Blender would be started with to understand `twobone`."""
    if not bpy.app.binary_path:  # the bpy module
        return [sys.executable, "-m", "twobone_addon"]
    extension = PACKAGE.rpartition(".")[0]
    if not extension:
        raise FileError("A batch needs the installed extension, since it starts further Blenders. Install the zip first.")
    settings = ["--factory-startup"] if bpy.app.factory_startup else []
    return [bpy.app.binary_path, "--background", *settings, "--addons", extension, "--command", "twobone"]


def _environment() -> dict[str, str]:
    """Where the bpy module's Python finds the add-on; Blender's own program knows by itself."""
    if bpy.app.binary_path:
        return dict(os.environ)
    home = Path(sys.modules[PACKAGE].__path__[0]).resolve().parent
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


def _signal_group(process: subprocess.Popen[Any], *, force: bool) -> None:
    if os.name != "posix":
        words = ["taskkill", "/T", "/PID", str(process.pid), *(["/F"] if force else [])]
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # noqa: S603 - a system tool
        return
    _signal(os.killpg, process.pid, force=force)


def _signal(send: Callable[[int, int], None], number: int, *, force: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # It has ended meanwhile, which is all that was wanted.
        send(number, signal.SIGKILL if force else signal.SIGTERM)
