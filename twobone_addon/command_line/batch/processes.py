"""The batch's side of a worker process: start it, send it commands, watch it, and end it with all its descendants."""

from __future__ import annotations

import contextlib
import ctypes
import json
import locale
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

from ..files.text_files import followed
from ..outcomes import FileError

MARK = "TWOBONE_SHOT"
"""Environment variable that marks a worker and all processes it starts, even those in other sessions."""

TOKEN = "TWOBONE_TOKEN"  # noqa: S105 - no secret
"""Environment variable with the unique word that starts a worker's answers, so that no other output is taken for one."""

PATIENCE = 3.0
"""Seconds that a process gets to end by itself after it was told to."""

LOOK_AT_MEMORY = 0.2 if sys.platform.startswith("linux") else 2.0
"""Seconds between two measurements of a process's memory; on macOS each one starts a process."""

PACKAGE = __name__.rsplit(".", 3)[0]
"""The add-on's own package, whatever Blender calls the extension."""

OWN_WORDS = "twobone: "
"""Prefix of the command's own messages in the log."""

LINES, LETTERS = 500, 2000
"""Maximum number of lines kept, and of bytes in each."""

PROCESSES = Path("/proc")


class ShotLog:
    """What a worker prints during one shot; the last lines are kept in memory, and all of them in an optional file."""

    def __init__(self, path: Path | None = None) -> None:
        """Start an empty log, and the log file at `path` if there is one."""
        self._latest: deque[str] = deque(maxlen=LINES)
        self._own: deque[str] = deque(maxlen=LINES)
        self._file: IO[bytes] | None = None
        if path is not None:
            with contextlib.suppress(OSError):  # A log that cannot be written does not fail the shot.
                self._file = path.open("wb")

    def add(self, raw: bytes) -> None:
        """Add a line, or a part of one that is too long."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(raw)
        line = _decoded(raw).rstrip("\r\n")
        self._latest.append(line)
        if line.startswith(OWN_WORDS):
            self._own.append(line.removeprefix(OWN_WORDS))

    def close(self) -> None:
        """Close the log file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()

    def latest(self, count: int) -> list[str]:
        """Return the last `count` lines."""
        return list(self._latest)[-count:]

    def own_sentences(self) -> list[str]:
        """Return the command's own errors and warnings in order, without their common prefix."""
        return list(self._own)


@dataclass(slots=True, eq=False)
class Worker:
    """A Blender process that runs the command for one shot after another."""

    process: subprocess.Popen[Any]
    mark: str
    """Value of the environment variable `MARK` in the worker and in all processes it starts."""
    token: bytes
    """First word of its answers."""
    job: WindowsJob
    memory: int | None
    """Memory limit in bytes; `None` for no limit."""
    log: ShotLog = field(default_factory=ShotLog)
    shots: int = 0
    """Number of shots it was given so far."""
    started: float = field(default_factory=time.monotonic)
    """Start of the present shot, by `time.monotonic`."""
    looked: float = 0.0
    """Time of the last memory measurement, by `time.monotonic`."""
    held: int = 0
    """Memory in bytes at the last measurement."""
    answer: int | None = None
    """Exit code of the present command; `None` while it runs."""
    reader: threading.Thread | None = None

    def ask(self, arguments: list[str], log: ShotLog) -> None:
        """Send the worker the arguments of its next command; if the process has died, `exit_code` will tell."""
        self.log, self.answer, self.started = log, None, time.monotonic()
        self.shots += 1
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
            self._read_on()
            if self.answer is None:
                return self.process.returncode
        return self.answer

    @property
    def lives(self) -> bool:
        """Whether the process is running and can take another command."""
        return self.process.poll() is None

    def look_at_memory(self) -> int:
        """Return the process's memory in bytes, at most `LOOK_AT_MEMORY` seconds old."""
        now = time.monotonic()
        if now - self.looked >= LOOK_AT_MEMORY:
            self.looked, self.held = now, memory_of(self.process.pid)
        return self.held

    def ask_to_end(self) -> None:
        """Signal the process group to end, without waiting for it."""
        _signal_group(self.process, force=False)

    def dismiss(self) -> None:
        """Close its standard input, so that it ends by itself when idle; call `end` later nevertheless."""
        assert self.process.stdin is not None  # noqa: S101
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self) -> None:
        """End the process and all its descendants: terminate first, kill if that does not help."""
        children = descendants(self.process.pid)
        for force in (False, True):
            _signal_group(self.process, force=force)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue
            break
        for pid in children:
            _signal(os.kill, pid, force=True)
        if os.name == "posix":
            _signal_group(self.process, force=True)
        end_marked(self.mark)
        self.job.end()
        self.dismiss()
        self._read_on()
        self.log.close()

    def read(self, stream: IO[bytes]) -> None:
        """Read the process's output into the log and take its answers; runs in a thread, so that the pipe never fills up."""
        with stream:
            has_held_newline = False  # An answer is preceded by a newline that is not part of the log.
            for raw in iter(lambda: stream.readline(LETTERS), b""):
                if raw.startswith(self.token):
                    has_held_newline, self.answer = False, int(raw.split()[1])
                    continue
                if has_held_newline:
                    self.log.add(b"\n")
                has_held_newline = raw == b"\n"
                if not has_held_newline:
                    self.log.add(raw)

    def _read_on(self) -> None:
        """Wait until all output is read, but not forever, since an unknown process may keep the pipe open."""
        if self.reader is not None:
            self.reader.join(PATIENCE)


def start_worker(scratch: Path, memory: int | None, journal: dict[str, str], *, user_addons: bool) -> Worker:
    """Start a worker with this Blender's executable, without the user's other add-ons unless `user_addons`.

    Its temporary files go into `scratch`, to be removed with it; `memory` is its limit in bytes, `journal` further
    environment variables. Raises `FileError` if Blender cannot be started.
    """
    mark, token = uuid.uuid4().hex, uuid.uuid4().hex
    # Workers share the cores, so NumPy threads in each would only compete with one another.
    environment = {"OPENBLAS_NUM_THREADS": "1"} | _environment()
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)) | {MARK: mark, TOKEN: token} | journal
    new_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | WindowsJob.SUSPENDED
    ties: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": new_group}
    try:
        process = subprocess.Popen(  # noqa: S603 - this very Blender, with arguments of our own
            [*_blender(user_addons=user_addons), "worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            **ties,
        )
    except OSError as error:
        raise FileError(
            "Blender cannot be started ({reason}). Free some memory, or use fewer --jobs.", reason=str(error)
        ) from error
    assert process.stdout is not None  # noqa: S101 - it was asked for
    job = WindowsJob(int(getattr(process, "_handle", 0)), memory)
    worker = Worker(process, mark, token.encode(), job, memory)
    worker.reader = threading.Thread(target=worker.read, args=(process.stdout,), daemon=True)
    worker.reader.start()
    return worker


def _blender(*, user_addons: bool) -> list[str]:
    """Return the command line that starts this Blender with the command `twobone`."""
    if not bpy.app.binary_path:  # the bpy module
        return [sys.executable, "-m", "twobone_addon"]
    extension = PACKAGE.rpartition(".")[0]
    if not extension:
        raise FileError("A batch needs the installed extension, because it starts more Blenders. Install the zip first.")
    settings = [] if user_addons and not bpy.app.factory_startup else ["--factory-startup"]
    return [bpy.app.binary_path, "--background", *settings, "--addons", extension, "--command", "twobone"]


def _environment() -> dict[str, str]:
    """Return the environment of workers; with the bpy module, `PYTHONPATH` lets Python find the add-on."""
    if bpy.app.binary_path:
        return dict(os.environ)
    home = followed(Path(sys.modules[PACKAGE].__path__[0])).parent
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


def _decoded(raw: bytes) -> str:
    """Decode a log line from UTF-8, or else from the encoding of Windows programs."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(locale.getpreferredencoding(do_setlocale=False) if os.name == "nt" else "utf-8", errors="replace")


def _signal_group(process: subprocess.Popen[Any], *, force: bool) -> None:
    if os.name == "posix":
        _signal(os.killpg, process.pid, force=force)
        return
    with contextlib.suppress(OSError):  # Ctrl-Break only reaches the process group created for the worker.
        process.kill() if force else process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))


def _signal(send: Callable[[int, int], None], number: int, *, force: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # It has already ended.
        send(number, signal.SIGKILL if force else signal.SIGTERM)


def end_marked(mark: str) -> None:
    """Kill every process of this user with this mark, except the present one; only on Linux, which shows environments."""
    if not mark or not sys.platform.startswith("linux"):
        return
    variable = f"{MARK}={mark}".encode()
    for entry in PROCESSES.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # It has already ended, or belongs to another user.
            if variable in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """Return the descendants of a process that are still connected to it by living parents; only on macOS, empty elsewhere."""
    if os.name != "posix" or sys.platform.startswith("linux"):
        return []
    pairs = [line.split() for line in _ps("-axo", "pid=,ppid=")]
    children_of: dict[int, list[int]] = {}
    for child, parent in ((int(pair[0]), int(pair[1])) for pair in pairs if len(pair) == 2):  # noqa: PLR2004 - a pair
        children_of.setdefault(parent, []).append(child)
    found, waiting = list[int](), [pid]
    while waiting:
        children = children_of.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended, and on Windows, where the job limits memory."""
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


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t),
        ("greatest_working_set", ctypes.c_size_t),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class WindowsJob:
    """A Windows job object: its processes end with the process that holds it, however that ends, and have a memory limit.

    Does nothing on other systems or if Windows refuses the job. The numbers are from `winnt.h`; see "Job Objects" in
    Microsoft's documentation.
    """

    SUSPENDED = 0x4
    """Creation flag: the process starts suspended and resumes in its job, so that it cannot start processes outside of it."""
    KILL_ON_CLOSE, PROCESS_MEMORY = 0x2000, 0x100
    EXTENDED_LIMITS = 9

    def __init__(self, process: int, memory: int | None) -> None:
        """Put a suspended process, given by its handle, into a job and resume it; `memory` limits each process, in bytes."""
        self._handle: int | None = None
        self._kernel: Any = None
        if sys.platform != "win32":
            return
        self._kernel = ctypes.WinDLL("kernel32")
        self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        limits = _ExtendedLimits()
        limits.basic.flags = self.KILL_ON_CLOSE | (self.PROCESS_MEMORY if memory else 0)
        limits.process_memory = memory or 0
        self._kernel.SetInformationJobObject(handle, self.EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
        if self._kernel.AssignProcessToJobObject(handle, ctypes.c_void_p(process)):
            self._handle = handle.value
        ctypes.WinDLL("ntdll").NtResumeProcess(ctypes.c_void_p(process))

    def end(self) -> None:
        """End all processes in the job."""
        if self._handle is not None:
            self._kernel.TerminateJobObject(ctypes.c_void_p(self._handle), 1)
            self._kernel.CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None
