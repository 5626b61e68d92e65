"""Stop requests by signals such as Ctrl-C (SIGINT) and SIGTERM, handled at once or deferred."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .exit_codes import handled_by
from .outcomes import StoppedError

PATIENCE = 2.0
"""Seconds after the previous signal from which another one interrupts again, because the previous one had no effect."""


class _Stop(BaseException):
    """Raised by a signal wherever the program is; not an `Exception`, so that only our own handler catches it."""


@dataclass(slots=True, eq=False)
class StopRequest:
    """Whether a signal has asked the program to stop."""

    wanted: bool = False
    last: float = 0.0
    """Time of the last signal, by `time.monotonic`."""
    number: int = 0
    """Number of the last signal."""

    def obey(self) -> None:
        """Stop here if requested; the exception raised by the signal may have been swallowed by Blender around a script."""
        if self.wanted:
            raise _Stop

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let signals interrupt the block at any point that is not `undisturbed`; an earlier signal stops it right away."""
        self.obey()
        _interrupting.append(self)
        try:
            yield
        finally:
            _interrupting.clear()


_interrupting: list[StopRequest] = []
"""The request whose signals interrupt at once; while empty, signals are only recorded."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Defer interruption by signals to the end of the block, so that claiming, writing and releasing a file is not cut short."""
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
    """Record stop signals in `request` during the block; raises `StoppedError` if one interrupts an `interrupting` part.

    A signal outside such a part takes its usual effect after the block.
    """

    def stop(number: int, _frame: object) -> None:
        request.number = number
        first, since = not request.wanted, time.monotonic() - request.last
        request.wanted, request.last = True, time.monotonic()
        # A second signal right after the first would interrupt the cleanup that the first one started.
        if request in _interrupting and (first or since > PATIENCE):
            raise _Stop

    try:
        with handled_by(stop):
            yield
    except _Stop as stopped:
        raise StoppedError("Stopped. What was being written has been removed.") from stopped
    if request.wanted:
        signal.raise_signal(request.number)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Record stop signals during the block instead of interrupting it; restore the previous handlers afterwards.

    Without interruptions, every process that was started is known and can be ended.
    """
    request = StopRequest()

    def note(*_: object) -> None:
        request.wanted = True

    with handled_by(note):
        yield request
