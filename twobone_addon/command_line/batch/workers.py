"""Worker Blenders of a batch: both ends of the pipe, and the end of a worker with the processes of its session."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import bpy

from ...errors import FileError
from ...files import SAFELY, followed
from ..exit_codes import ExitCode
from ..output import flush

TOKEN = "TWOBONE_TOKEN"  # noqa: S105 - no secret
"""Environment variable with the unique word that starts a worker's answers, so that no other output is taken for one."""

PATIENCE = 3.0
"""Seconds that a process gets to clean up after it was told to end."""

PACKAGE = __name__.rsplit(".", 3)[0]
"""The add-on's own package, whatever Blender calls the extension."""

LINES, LETTERS = 500, 2000
"""Maximum number of lines kept of a shot's log, and of bytes in each."""


@dataclass(slots=True, eq=False)
class Worker:
    """A Blender process that runs the command for one shot after another."""

    process: subprocess.Popen[bytes]
    token: bytes
    """First word of its answers."""
    reader: threading.Thread = field(init=False)
    """Reads what it prints, so that the pipe never fills up."""
    shots: int = 0
    """Number of shots it was given so far."""
    started: float = 0.0
    """Start of the present shot, by `time.monotonic`."""
    answer: int | None = None
    """Exit code of the present command; `None` while it runs."""
    lines: deque[str] = field(default_factory=deque)
    """The last lines that it printed during the present shot."""
    log: IO[bytes] | None = None

    def __post_init__(self) -> None:
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def ask(self, arguments: list[str], log: IO[bytes] | None) -> None:
        """Send the worker the arguments of its next command; if the process has died, `exit_code` will tell."""
        self.lines, self.answer, self.log = deque(maxlen=LINES), None, log
        self.started, self.shots = time.monotonic(), self.shots + 1
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def seconds(self) -> float:
        """Seconds since the present shot started."""
        return time.monotonic() - self.started

    def exit_code(self) -> int | None:
        """Return the exit code of the command, or of the process if that died (negative for a signal); `None` while it runs."""
        if self.answer is None and self.process.poll() is not None:
            self.reader.join(PATIENCE)
            return self.process.returncode if self.answer is None else self.answer
        return self.answer

    def _read(self) -> None:
        """Read the process's output into the log, and take its answers."""
        assert self.process.stdout is not None  # noqa: S101 - it was asked for
        with self.process.stdout as stream:
            for raw in iter(lambda: stream.readline(LETTERS), b""):
                if raw.startswith(self.token):
                    self.answer = int(raw.split()[1])
                    continue
                if raw.strip():
                    self.lines.append(raw.decode("utf-8", "replace").rstrip("\r\n"))
                if self.log is not None:
                    with contextlib.suppress(OSError, ValueError):  # A log that cannot be written does not fail the shot.
                        self.log.write(raw)


def end(workers: Iterable[Worker]) -> None:
    """End workers with the processes of their sessions: ask all first, and kill what has not ended after `PATIENCE` seconds."""

    def signal_session(worker: Worker, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # It has already ended.
            os.killpg(worker.process.pid, number)

    workers = list(workers)
    for worker in workers:
        if os.name == "posix":
            signal_session(worker, signal.SIGTERM)
        else:
            command = ["taskkill", "/F", "/T", "/PID", str(worker.process.pid)]
            subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a system tool
    last = time.monotonic() + PATIENCE
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(last - time.monotonic(), 0.0))
        if os.name == "posix":
            signal_session(worker, signal.SIGKILL)
        worker.process.wait()
        worker.reader.join(PATIENCE)  # An unknown process may keep the pipe open.
        for stream in filter(None, (worker.process.stdin, worker.log)):
            with contextlib.suppress(OSError):
                stream.close()


def start_worker(scratch: Path, *, user_addons: bool) -> Worker:
    """Start a worker with this Blender's executable, without the user's other add-ons unless `user_addons`.

    Its temporary files go into `scratch`, to be removed with it. Raises `FileError` if Blender cannot be started.
    """
    token = uuid.uuid4().hex
    # Workers share the cores, so NumPy threads in each would only compete with one another.
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    environment[TOKEN] = token
    if bpy.app.binary_path:
        extension = PACKAGE.rpartition(".")[0]
        if not extension:
            raise FileError("A batch needs the installed extension, because it starts more Blenders. Install the zip first.")
        settings = [] if user_addons and not bpy.app.factory_startup else ["--factory-startup"]
        command = [bpy.app.binary_path, "--background", *settings, "--addons", extension, "--command", "twobone"]
    else:  # The bpy module: `PYTHONPATH` lets Python find the add-on.
        home = str(followed(Path(sys.modules[PACKAGE].__path__[0])).parent)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
        command = [sys.executable, "-m", "twobone_addon"]
    try:
        process = subprocess.Popen(  # noqa: S603 - this very Blender, with arguments of our own
            [*command, "worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        raise FileError(
            "Blender cannot be started ({reason}). Free some memory, or use fewer --jobs.", reason=str(error)
        ) from error
    return Worker(process, token.encode())


def new_log(folder: Path | None, name: str) -> IO[bytes] | None:
    """Open a new file for a shot's log; one that is there already, or a link, is neither opened nor replaced."""
    for number in range(1000 if folder else 0):
        path = f"{folder}/{name}{f'.{number}' if number else ''}.log"
        with contextlib.suppress(OSError):
            return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o666), "wb")
    return None


def serve(run: Callable[[list[str]], int]) -> int:
    """Read the arguments of one command per line, `run` it and answer with its exit code, until standard input ends.

    If the input ends during a command, the batch has ended, for whatever reason; then this process ends too, as stopped.
    """
    requests, is_busy, is_abandoned = queue.SimpleQueue[list[str] | None](), threading.Event(), threading.Event()
    stream = os.fdopen(os.dup(0), "rb")  # Programs started by the shots' scripts must not read our input.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def listen() -> None:
        for line in stream:
            is_busy.set()  # Before the command starts, since the batch may end even before that.
            requests.put(json.loads(line))
        if is_busy.is_set():
            is_abandoned.set()  # Before anybody is told of the end.
        requests.put(None)
        if is_abandoned.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(PATIENCE)
            if os.name == "posix" and os.getpid() == os.getpgid(0):
                os.killpg(0, signal.SIGKILL)
            os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while (arguments := requests.get()) is not None:
        code = run(arguments)  # An exception from a bug ends this worker; the batch starts another.
        is_busy.clear()
        flush()  # The answer comes after everything the command has printed.
        os.write(1, f"\n{os.environ[TOKEN]} {code}\n".encode())
    return int(ExitCode.STOPPED if is_abandoned.is_set() else ExitCode.DONE)
