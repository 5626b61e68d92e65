"""The worker's side of a batch: run the commands that arrive on standard input, and end when the batch ends."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from ..outcomes import ExitCode
from .processes import MARK, TOKEN, end_marked

PATIENCE = 3.0
"""Seconds for the running command to clean up after the batch has ended, before this process is killed."""


def serve(run: Callable[[list[str]], int]) -> int:
    """Read the arguments of one command per line, `run` it and answer with its exit code, until standard input ends.

    If the input ends during a command, the batch has ended, for whatever reason; then this process ends too, with all
    processes that it has started.
    """
    requests, is_busy = queue.SimpleQueue[list[str] | None](), threading.Event()
    stream = os.fdopen(os.dup(0), "rb")  # Programs started by the shots' scripts must not read our input.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_listen, args=(stream, requests, is_busy), daemon=True).start()
    while (arguments := requests.get()) is not None:
        code = run(arguments)  # An exception from a bug ends this worker; the batch starts another.
        is_busy.clear()
        _answer(code)
    return int(ExitCode.DONE)


def _listen(stream: IO[bytes], requests: queue.SimpleQueue[list[str] | None], is_busy: threading.Event) -> None:
    for line in stream:
        is_busy.set()  # Before the command starts, since the batch may end even before that.
        requests.put(json.loads(line))
    requests.put(None)
    if is_busy.is_set():
        mark = os.environ.get(MARK, "")
        end_marked(mark)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        end_marked(mark)
        os._exit(1)


def _answer(code: int) -> None:
    """Print the command's exit code on standard output, after everything the command has printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    os.write(1, f"\n{os.environ[TOKEN]} {code}\n".encode())
