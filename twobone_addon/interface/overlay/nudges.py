"""The range of a nudge along the tip's way, as lines: the way as it is, the new one, and how far apart they are at each frame."""

import numpy as np

from ...core.array_types import Array
from ..live.nudging import NudgeDrag
from .lines import Color, Lines, Palette, joined

QUIET = 0.5
"""Opacity of the way as it was, and of what joins both ways."""


def nudge_lines(drag: NudgeDrag, palette: Palette) -> Lines:
    """Lines of both ways over the range, and one for each frame from the one to the other."""
    _, before, after = drag.ways()
    faint = (*palette.chosen[:3], QUIET * palette.chosen[3])
    pairs = [*zip(before, after, strict=True)]
    between = np.array([place for pair in pairs for place in pair]).reshape(-1, 3)
    return joined([_way(before, faint), _way(after, palette.reached), _colored(between, faint)])


def _way(places: Array, color: Color) -> Lines:
    return _colored(np.stack([places[:-1], places[1:]], axis=1).reshape(-1, 3), color)


def _colored(points: Array, color: Color) -> Lines:
    return Lines(points, np.tile(color, (len(points), 1)))
