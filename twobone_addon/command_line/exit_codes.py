"""The command's exit codes, and the end of a process that a signal stops before the command itself handles signals.

Nothing but Python's own modules is imported, so that a door can ask for it before anything else, which takes a second.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command."""

    DONE = 0
    COULD_NOT = 1
    """The file lacks something the command needs, or an operation failed. Nothing was saved."""
    USAGE = 2
    """The flags or the job file are invalid. Nothing was saved."""
    STRICT = 3
    """With `--strict`: the result is not good enough. The report was written, the shot was not saved."""
    INCOMPLETE = 4
    """Something that moves the chain is missing, such as a library. The report was written, the shot was not saved."""
    STOPPED = 5
    """Stopped by the user or the system (Ctrl-C, SIGTERM). No partial output is left."""
    AGAIN = 6
    """Another run is writing the file, or the disk is full: the same command may succeed later. Nothing was saved."""


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
"""The signals that ask a program to stop."""


@contextmanager
def handled_by(handler: Callable[..., None]) -> Iterator[None]:
    """Install `handler` for the stop signals during the block; does nothing outside the main thread, which alone gets signals.

    Ignored signals stay ignored: `nohup` asks for that, and so does a shell for background jobs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    earlier = {number: signal.signal(number, handler) for number in handled}
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)


def stop_at_once(*_: object) -> None:
    """End the process with `STOPPED`: the handler for before and after the command, when nothing is half-written."""
    with suppress(OSError):  # Standard error may be closed.
        os.write(2, b"twobone: Stopped.\n")
    os._exit(int(ExitCode.STOPPED))
