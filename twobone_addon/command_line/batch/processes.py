"""A worker's process as the batch sees it: started, asked, watched, and ended with everything that it has started itself."""

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
"""Variable in the environment of a worker, which everything inherits that it starts, also in sessions of its own."""

TOKEN = "TWOBONE_TOKEN"  # noqa: S105 - no secret
"""Variable with the word that begins a worker's answers, which nothing else that is printed can begin with by chance."""

PATIENCE = 3.0
"""Seconds that a process gets to end by itself once it was told to."""

LOOK_AT_MEMORY = 0.2 if sys.platform.startswith("linux") else 2.0
"""Seconds between two looks at how much memory a process holds; on macOS each look is a process of its own."""

PACKAGE = __name__.rsplit(".", 3)[0]
"""The add-on's own package, whatever Blender calls the extension."""

OWN_WORDS = "twobone: "
"""How the command's own sentences begin in the log."""

LINES, LETTERS = 500, 2000
"""How many lines are kept, and of how many letters each."""

PROCESSES = Path("/proc")


class ShotLog:
    """What a worker prints while it has one shot; the last lines are kept, all of them in a file where one is wanted."""

    def __init__(self, path: Path | None = None) -> None:
        """Begin a log."""
        self._latest: deque[str] = deque(maxlen=LINES)
        self._own: deque[str] = deque(maxlen=LINES)
        self._file: IO[bytes] | None = None
        if path is not None:
            with contextlib.suppress(OSError):  # News are news: a log that cannot be written ends no shot.
                self._file = path.open("wb")

    def add(self, raw: bytes) -> None:
        """Take a line, or a part of one that is too long."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(raw)
        line = _decoded(raw).rstrip("\r\n")
        self._latest.append(line)
        if line.startswith(OWN_WORDS):
            self._own.append(line.removeprefix(OWN_WORDS))

    def close(self) -> None:
        """No line comes any more."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()

    def latest(self, count: int) -> list[str]:
        """The last lines."""
        return list(self._latest)[-count:]

    def own_sentences(self) -> list[str]:
        """Our command's complaints and warnings, in their order, without the words that all begin with."""
        return list(self._own)


@dataclass(slots=True, eq=False)
class Worker:
    """A Blender that bakes one shot after another."""

    process: subprocess.Popen[Any]
    mark: str
    """What it and all that it starts carry in their environment."""
    token: bytes
    job: WindowsJob
    memory: int | None
    """Bytes that it may hold."""
    log: ShotLog = field(default_factory=ShotLog)
    shots: int = 0
    """How many it was asked for."""
    started: float = field(default_factory=time.monotonic)
    """When it was asked last."""
    looked: float = 0.0
    held: int = 0
    """Bytes that it held when somebody looked last."""
    answer: int | None = None
    reader: threading.Thread | None = None

    def ask(self, arguments: list[str], log: ShotLog) -> None:
        """Let it run the command with these arguments; a process that is no more is found out by `exit_code`."""
        self.log, self.answer, self.started = log, None, time.monotonic()
        self.shots += 1
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def seconds(self) -> float:
        """How long it has been at the present shot."""
        return time.monotonic() - self.started

    def exit_code(self) -> int | None:
        """What the command ended with, or the whole process, then negative for a signal; `None` while it runs."""
        if self.answer is None and self.process.poll() is not None:
            self._read_on()
            if self.answer is None:
                return self.process.returncode
        return self.answer

    @property
    def lives(self) -> bool:
        """Whether it can be asked again."""
        return self.process.poll() is None

    def look_at_memory(self) -> int:
        """Bytes that it holds now, or did a moment ago."""
        now = time.monotonic()
        if now - self.looked >= LOOK_AT_MEMORY:
            self.looked, self.held = now, memory_of(self.process.pid)
        return self.held

    def ask_to_end(self) -> None:
        """Tell it to end, and go on meanwhile."""
        _signal_group(self.process, force=False)

    def dismiss(self) -> None:
        """Let it end by itself, since nothing is left for it to do; `end` it later all the same."""
        assert self.process.stdin is not None  # noqa: S101
        with contextlib.suppress(OSError):
            self.process.stdin.close()

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
        if os.name == "posix":
            _signal_group(self.process, force=True)
        end_marked(self.mark)
        self.job.end()
        self.dismiss()
        self._read_on()
        self.log.close()

    def read(self, stream: IO[bytes]) -> None:
        """Take what it prints, in a thread, so that nobody waits for anybody."""
        with stream:
            is_held = False  # An answer begins a line of its own, whatever was printed before it.
            for raw in iter(lambda: stream.readline(LETTERS), b""):
                if raw.startswith(self.token):
                    is_held, self.answer = False, int(raw.split()[1])
                    continue
                if is_held:
                    self.log.add(b"\n")
                is_held = raw == b"\n"
                if not is_held:
                    self.log.add(raw)

    def _read_on(self) -> None:
        """Wait until everything is read; not forever, since something may hold the stream that nobody knows of."""
        if self.reader is not None:
            self.reader.join(PATIENCE)


def start_worker(scratch: Path, memory: int | None, journal: dict[str, str], *, user_addons: bool) -> Worker:
    """A Blender that waits for shots, started as this one was, but without the user's other add-ons unless they are wanted.

    Its temporary files go into `scratch`, so that they are gone with it; `memory` is how many bytes it may hold, and
    `journal` are further variables of its environment.
    """
    mark, token = uuid.uuid4().hex, uuid.uuid4().hex
    # Workers share the cores: threads of each one's NumPy would only wait for those of the others.
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
    """The command that this Blender would be started with to understand `twobone`."""
    if not bpy.app.binary_path:  # the bpy module
        return [sys.executable, "-m", "twobone_addon"]
    extension = PACKAGE.rpartition(".")[0]
    if not extension:
        raise FileError("A batch needs the installed extension, because it starts more Blenders. Install the zip first.")
    settings = [] if user_addons and not bpy.app.factory_startup else ["--factory-startup"]
    return [bpy.app.binary_path, "--background", *settings, "--addons", extension, "--command", "twobone"]


def _environment() -> dict[str, str]:
    """Where the bpy module's Python finds the add-on; Blender's own program knows by itself."""
    if bpy.app.binary_path:
        return dict(os.environ)
    home = followed(Path(sys.modules[PACKAGE].__path__[0])).parent
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


def _decoded(raw: bytes) -> str:
    """A line of a log: UTF-8, or what the system's own programs write."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(locale.getpreferredencoding(do_setlocale=False) if os.name == "nt" else "utf-8", errors="replace")


def _signal_group(process: subprocess.Popen[Any], *, force: bool) -> None:
    if os.name == "posix":
        _signal(os.killpg, process.pid, force=force)
        return
    with contextlib.suppress(OSError):  # Ctrl-Break reaches the group that was made for it, and nobody else.
        process.kill() if force else process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))


def _signal(send: Callable[[int, int], None], number: int, *, force: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # It has ended meanwhile, which is all that was wanted.
        send(number, signal.SIGKILL if force else signal.SIGTERM)


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
    """The processes that this one has started, as far as their parents live; for macOS, which shows no environments."""
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
    """A job of Windows: what is in it ends with whoever holds it, however that ends, and takes no more memory than it may.

    Where the system refuses one, nothing is held. The numbers are those of `winnt.h`; see "Job Objects" in Microsoft's
    documentation.
    """

    SUSPENDED = 0x4
    """A process is created so and goes on once it is in its job: else it could start something outside of it."""
    KILL_ON_CLOSE, PROCESS_MEMORY = 0x2000, 0x100
    EXTENDED_LIMITS = 9

    def __init__(self, process: int, memory: int | None) -> None:
        """Take the handle of a process just created, and the bytes that it, and each it starts, may hold; let it run."""
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
        """End everything in the job."""
        if self._handle is not None:
            self._kernel.TerminateJobObject(ctypes.c_void_p(self._handle), 1)
            self._kernel.CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None
