"""Pictures of the virtual screen, and what they show at places in the window."""

import os
import struct
import zlib
from pathlib import Path

import numpy as np

SCREEN_VARIABLE = "TWOBONE_SCREEN"
"""Environment variable: the file in which Xvfb keeps what its screen shows, as xwd would write it."""

CLOSE = 0.12
"""Difference in red, green or blue by which what is drawn may miss its colour: smooth edges, 8 bits."""

AROUND = 3
"""Pixels around a place: lines are a few pixels wide."""

PATCH = 1000
"""Pixels that a patch has at least: less than a button, more than what is drawn smoothly beside it."""

# Numbers at the head of an X window dump, as they follow on each other in XWDFile.h.
HEADER_SIZE, WIDTH, HEIGHT, BYTES_PER_LINE, COLORS = 0, 4, 5, 12, 19
HEADER = struct.Struct(">25I")
BYTES_PER_COLOR = 12


def seen_on_screen() -> np.ndarray | None:
    """What the screen shows now, `(height, width, 3)`, 8 bits of red, green and blue; `None` where nobody can tell."""
    path = os.environ.get(SCREEN_VARIABLE)
    if path is None:
        return None
    dump = Path(path).read_bytes()
    header = HEADER.unpack_from(dump)
    height, pitch = header[HEIGHT], header[BYTES_PER_LINE]
    start = header[HEADER_SIZE] + header[COLORS] * BYTES_PER_COLOR
    rows = np.frombuffer(dump, np.uint8, height * pitch, start).reshape(height, pitch // 4, 4)
    return rows[:, : header[WIDTH], 2::-1]


def save_png(path: Path, pixels: np.ndarray) -> None:
    """Write colours `(height, width, 3)` as a picture."""
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 1)), (b"IEND", b"")]
    packed = [struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))


class Picture:
    """What the screen showed; places count from the window's bottom left, as those of events do."""

    def __init__(self, pixels: np.ndarray, corner: tuple[int, int]) -> None:
        x, y = corner
        self.colors = pixels[::-1][y:, x:].astype(np.float32) / 255

    def shows(self, color: tuple[float, float, float], place: tuple[int, int]) -> bool:
        """Whether this colour is seen at the place."""
        return bool((np.abs(self.around(place) - color).max(axis=-1) <= CLOSE).any())

    def differs(self, other: "Picture", place: tuple[int, int]) -> bool:
        """Whether the place looks otherwise than in another picture."""
        return bool((np.abs(self.around(place) - other.around(place)).max(axis=-1) > CLOSE).any())

    def new_patch(self, color: tuple[float, float, float], other: "Picture") -> tuple[int, int] | None:
        """The middle of what has this colour and had not in another picture, such as a button; `None` where nothing has."""
        here, there = (np.abs(seen.colors - color).max(axis=-1) <= CLOSE for seen in (self, other))
        rows, columns = np.nonzero(here & ~there)
        return (int(np.median(columns)), int(np.median(rows))) if len(rows) > PATCH else None

    def around(self, place: tuple[int, int]) -> np.ndarray:
        """The colours at a place."""
        x, y = place
        return self.colors[y - AROUND : y + AROUND + 1, x - AROUND : x + AROUND + 1]
