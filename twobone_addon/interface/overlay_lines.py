"""The overlay as lines: pairs of points with colours. Plain numbers, nothing is drawn here."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..baking.preview import SOFT, ChainPicture, PathPicture

Color = tuple[float, float, float, float]
"""Red, green, blue, opacity."""

TOO_FAR, TOO_NEAR, DEGENERATE = 1, 2, 3
"""Codes of a path's reach, see `baking.preview.PathPicture`."""

FAINT = 0.35
"""Opacity of what is not chosen, relative to what is."""

MARK = 0.03
"""Half the size of a cross, relative to the chain's length."""

PLANE_CELLS = 2
"""Lines of the plane's grid on each side of its axes."""


@dataclass(frozen=True, slots=True)
class Palette:
    """What the overlay is coloured with; taken from the user's theme where it is drawn."""

    axis_u: Color
    axis_v: Color
    plane: Color
    reach: Color
    chosen: Color
    reached: Color
    soft: Color
    too_far: Color
    too_near: Color
    tip: Color


@dataclass(frozen=True, slots=True)
class Lines:
    """Single lines, `N` of them."""

    points: Array
    """`(2 N, 3)` world space: start and end of each line."""
    colors: Array
    """`(2 N, 4)`"""


def joined(parts: Iterable[Lines]) -> Lines:
    """All lines in one."""
    found = [part for part in parts if len(part.points)]
    if not found:
        return Lines(np.empty((0, 3)), np.empty((0, 4)))
    return Lines(np.concatenate([part.points for part in found]), np.concatenate([part.colors for part in found]))


def plane_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """A grid around the root joint as wide as the chain reaches, with both axes in their colours."""
    u, v = picture.axes.T
    steps = [step / PLANE_CELLS for step in range(-PLANE_CELLS, PLANE_CELLS + 1) if step]
    grid = [(picture.root + step * a - b, picture.root + step * a + b) for a, b in ((u, v), (v, u)) for step in steps]
    return joined(
        [
            *(_line(start, end, palette.plane) for start, end in grid),
            _line(picture.root - u, picture.root, palette.plane),
            _line(picture.root - v, picture.root, palette.plane),
            _line(picture.root, picture.root + u, palette.axis_u),
            _line(picture.root, picture.root + v, palette.axis_v),
        ]
    )


def reach_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """The bounds of where the tip can be."""
    return joined(strip(bound, palette.reach) for bound in picture.reach_bounds)


def solution_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """The chain bent to both sides: the chosen one strong with its joints marked, the other one faint."""
    size = MARK * float(np.sqrt(picture.axes[:, 0] @ picture.axes[:, 0]))
    return joined(
        [
            strip(picture.other_joints, _faint(palette.chosen)),
            strip(picture.joints, palette.chosen),
            *(cross(joint, size, palette.chosen) for joint in picture.joints),
        ]
    )


def path_lines(picture: PathPicture, palette: Palette) -> Lines:
    """The target's way coloured by reach, and the tip's."""
    colors = np.array(
        [
            {TOO_FAR: palette.too_far, TOO_NEAR: palette.too_near, DEGENERATE: palette.too_near, SOFT: palette.soft}.get(
                code, palette.reached
            )
            for code in range(SOFT + 1)
        ]
    )
    return joined([strip(picture.tips, palette.tip), _colored_strip(picture.targets, colors[picture.reach])])


def strip(points: Array, color: Color) -> Lines:
    """Lines from each point `(P, 3)` to the next."""
    return _colored_strip(points, np.broadcast_to(np.array(color), (len(points), 4)))


def cross(place: Array, size: float, color: Color) -> Lines:
    """Three short lines through a place."""
    return joined(_line(place - arm, place + arm, color) for arm in size * np.eye(3))


def _colored_strip(points: Array, colors: Array) -> Lines:
    """A line takes the colours of both its points; a line that starts out of reach is out of reach."""
    order = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], axis=-1).reshape(-1)
    return Lines(points[order], colors[np.repeat(order[::2], 2)])


def _line(start: Array, end: Array, color: Color) -> Lines:
    return Lines(np.stack([start, end]), np.array([color, color]))


def _faint(color: Color) -> Color:
    red, green, blue, opacity = color
    return red, green, blue, opacity * FAINT
