"""A nudge in progress as lines: the tip's old and new path over the range, connected at each frame."""

import numpy as np

from ...core.array_types import Array
from ..live.nudging import NudgeDrag
from .lines import Color, Lines, Palette, joined

QUIET = 0.5
"""Opacity of the old path and of the connecting lines, relative to the new path."""


def nudge_lines(drag: NudgeDrag, palette: Palette) -> Lines:
    """Return the lines of both paths over the range, and a line between them at each frame."""
    _, before, after = drag.ways()
    faint = (*palette.chosen[:3], QUIET * palette.chosen[3])
    pairs = [*zip(before, after, strict=True)]
    between = np.array([place for pair in pairs for place in pair]).reshape(-1, 3)
    return joined([_path(before, faint), _path(after, palette.reached), _colored(between, faint)])


def _path(places: Array, color: Color) -> Lines:
    return _colored(np.stack([places[:-1], places[1:]], axis=1).reshape(-1, 3), color)


def _colored(points: Array, color: Color) -> Lines:
    return Lines(points, np.tile(color, (len(points), 1)))
