"""What a shot's Blender prints, taken in as it comes: the latest lines, however many there are, and all of ours."""

from __future__ import annotations

import threading
from collections import deque
from typing import IO

OWN_WORDS = "twobone: "
"""How the command's own sentences begin in the log."""

LINES, LETTERS = 500, 2000
"""How many lines are kept, and of how many letters each."""


class ChildLog:
    """The log of one process, read by a thread, so that nobody waits for anybody."""

    def __init__(self, stream: IO[bytes]) -> None:
        """Begin to read."""
        self._latest: deque[str] = deque(maxlen=LINES)
        self._own: deque[str] = deque(maxlen=LINES)
        self._reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._reader.start()

    def end(self, patience: float) -> None:
        """Wait until everything is read; not forever, since something may hold the stream that nobody knows of."""
        self._reader.join(patience)

    def latest(self, count: int) -> list[str]:
        """The last lines."""
        return list(self._latest)[-count:]

    def own_sentences(self) -> list[str]:
        """Our command's complaints and warnings, in their order, without the words that all begin with."""
        return list(self._own)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for raw in iter(lambda: stream.readline(LETTERS), b""):
                line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
                self._latest.append(line)
                if line.startswith(OWN_WORDS):
                    self._own.append(line.removeprefix(OWN_WORDS))
