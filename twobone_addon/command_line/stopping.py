"""Ctrl-C and the farm's wish to stop, noticed at a moment of our choosing."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


@dataclass(slots=True)
class StopRequest:
    """Whether somebody wants an end."""

    wanted: bool = False


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """While the block runs, signals to stop are noted instead of obeyed; afterwards all is as before.

    Nothing is interrupted in the middle, so that every process that was started is known and can be ended.
    """
    request = StopRequest()

    def note(*_: object) -> None:
        request.wanted = True

    earlier = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in earlier.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
