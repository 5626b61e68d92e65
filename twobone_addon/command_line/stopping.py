"""Deferred handling of Ctrl-C (SIGINT) and SIGTERM."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .outcomes import StoppedError

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


PATIENCE = 2.0
"""Seconds between two signals after which the second means that the first was of no use."""


class _Stop(BaseException):
    """Thrown where the program happens to be; no `except` but our own takes it for something else."""


@dataclass(slots=True, eq=False)
class StopRequest:
    """Whether somebody wants an end."""

    wanted: bool = False
    last: float = 0.0
    """When it was said last, by `time.monotonic`."""
    number: int = 0
    """Of the last signal."""

    def obey(self) -> None:
        """End here, if somebody wants it: what a signal threw may have been caught, by Blender around a script in the file."""
        if self.wanted:
            raise _Stop

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """While the block runs, a signal ends it wherever it is, unless `undisturbed`; one that came before ends it now."""
        self.obey()
        _interrupting.append(self)
        try:
            yield
        finally:
            _interrupting.clear()


_interrupting: list[StopRequest] = []
"""The request whose signals end what is going on at once, if there is one; else they are noted."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """What claims, writes and releases a file is not to be cut in two: a signal ends what comes after the block."""
    held = _interrupting[:]
    _interrupting.clear()
    try:
        yield
    finally:
        _interrupting.extend(held)
    for request in held:
        request.obey()


@contextmanager
def stopped_by_signals(request: StopRequest) -> Iterator[None]:
    """A signal to stop is noted in `request` and ends what is `interrupting` in the block; raises `StoppedError`.

    Where nothing was interrupting any more, it does after the block what it would have done without it.
    """

    def stop(number: int, _frame: object) -> None:
        request.number = number
        first, since = not request.wanted, time.monotonic() - request.last
        request.wanted, request.last = True, time.monotonic()
        if request in _interrupting and (first or since > PATIENCE):  # One right after another would end what puts things back.
            raise _Stop

    try:
        with _handled(stop):
            yield
    except _Stop as stopped:
        raise StoppedError("Stopped. What was being written has been removed.") from stopped
    if request.wanted:
        signal.raise_signal(request.number)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """While the block runs, signals to stop are noted instead of obeyed; afterwards all is as before.

    Nothing is interrupted in the middle, so that every process that was started is known and can be ended.
    """
    request = StopRequest()

    def note(*_: object) -> None:
        request.wanted = True

    with _handled(note):
        yield request


@contextmanager
def _handled(handler: Callable[..., None]) -> Iterator[None]:
    """While the block runs, `handler` is called by the signals to stop. Only a process's main thread gets signals.

    What is ignored stays so: `nohup` asks for that, and a shell for what it starts in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    earlier = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
