"""What a picture of the window shows at places in the window."""

from pathlib import Path

import bpy
import numpy as np

CLOSE = 0.12
"""Difference in red, green or blue by which what is drawn may miss its colour: smooth edges, 8 bits."""

AROUND = 3
"""Pixels around a place: lines are a few pixels wide."""


class Picture:
    """A picture that was taken from outside; places count from the window's bottom left, as those of events do."""

    def __init__(self, path: Path, window: bpy.types.Window) -> None:
        image = bpy.data.images.load(str(path))
        width, height = image.size
        pixels = np.empty(width * height * image.channels, dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        self.colors = pixels.reshape(height, width, -1)[window.y :, window.x :, :3]

    def shows(self, color: tuple[float, float, float], place: tuple[int, int]) -> bool:
        """Whether this colour is seen at the place."""
        return bool((np.abs(self.around(place) - color).max(axis=-1) <= CLOSE).any())

    def differs(self, other: "Picture", place: tuple[int, int]) -> bool:
        """Whether the place looks otherwise than in another picture."""
        return bool((np.abs(self.around(place) - other.around(place)).max(axis=-1) > CLOSE).any())

    def around(self, place: tuple[int, int]) -> np.ndarray:
        """The colours at a place."""
        x, y = place
        return self.colors[y - AROUND : y + AROUND + 1, x - AROUND : x + AROUND + 1]
