"""A worker from within: runs one command after another, as its batch asks on standard input, and ends with the batch."""

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
"""Seconds to put things back in, once the batch is no more, before the process ends without."""


def serve(run: Callable[[list[str]], int]) -> int:
    """Take lines with the arguments of one command each, `run` it, and answer with its exit code, until the lines end.

    When they end in the middle of a command, the batch is no more, however it ended: then this process ends too, with
    everything that it has started.
    """
    requests, is_busy = queue.SimpleQueue[list[str] | None](), threading.Event()
    stream = os.fdopen(os.dup(0), "rb")  # What the shots' scripts start must not read what is meant for us.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_listen, args=(stream, requests, is_busy), daemon=True).start()
    while (arguments := requests.get()) is not None:
        code = run(arguments)  # A bug ends the worker as it would end a Blender of the shot's own; the batch starts another.
        is_busy.clear()
        _answer(code)
    return int(ExitCode.DONE)


def _listen(stream: IO[bytes], requests: queue.SimpleQueue[list[str] | None], is_busy: threading.Event) -> None:
    for line in stream:
        is_busy.set()  # Asked for is begun: a batch may be no more before anything else happens here.
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
    """Say on standard output, behind all that was printed there, that the command has ended."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    os.write(1, f"\n{os.environ[TOKEN]} {code}\n".encode())
