"""How a shot's Blender gets to know that its batch is no more: a pipe that ends when the batch does, however it does."""

from __future__ import annotations

import os
import signal
import threading
import time

from .descendants import MARK, end_marked

PATIENCE = 3.0
"""Seconds to put things back in, before the process ends without."""


def end_with_parent(pipe: int) -> None:
    """End this process, and what it has started, as soon as nobody holds the other end of `pipe` any more."""
    threading.Thread(target=_watch, args=(pipe,), daemon=True).start()


def _watch(pipe: int) -> None:
    try:
        while os.read(pipe, 1):
            continue
    except OSError:  # No such pipe: nobody to watch.
        return
    mark = os.environ.get(MARK, "")
    end_marked(mark)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    end_marked(mark)
    os._exit(1)
