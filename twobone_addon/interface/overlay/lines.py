"""The overlay as arrays of line segments with colours; nothing is drawn here."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...pipeline.pose.pictures import ASIDE, SOFT, ChainPicture, PathPicture
from ..live.nudging import NudgeDrag

Color = tuple[float, float, float, float]
"""Red, green, blue, opacity."""

REACHED, TOO_FAR, TOO_NEAR, DEGENERATE = 0, 1, 2, 3
"""Codes of a path's reach, see `pipeline.pose.pictures.PathPicture`."""

FAINT = 0.35
"""Opacity of the other solution, relative to the chosen one."""

GUIDING = 0.6
"""Opacity of the line to the pole, relative to the chain's."""

MARK = 0.03
"""Half the size of a joint's cross, relative to the chain's length."""

QUIET = 0.25
"""Opacity of the bounds of the reach while the target is far from them, relative to their full opacity."""

NEAR = 0.1
"""Distance of the target from a bound, relative to the chain's length, below which the bounds become more opaque."""

MOST_MISSES = 40
"""Maximum number of lines from tip to target at missed frames; of more frames, evenly spaced ones are drawn."""

PLANE_CELLS = 2
"""Number of grid lines on each side of the plane's axes."""

BEFORE_NUDGE = 0.5
"""Opacity of the path before a nudge and of the connecting lines, relative to the path after it."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The overlay's colours; made from the user's theme in `drawing`."""

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
    """`N` line segments."""

    points: Array
    """`(2 N, 3)` start and end of each segment, world space."""
    colors: Array
    """`(2 N, 4)` colour of each point."""


def joined(parts: Iterable[Lines]) -> Lines:
    """Concatenate lines."""
    drawn = [part for part in parts if len(part.points)]
    if not drawn:
        return Lines(np.empty((0, 3)), np.empty((0, 4)))
    return Lines(np.concatenate([part.points for part in drawn]), np.concatenate([part.colors for part in drawn]))


def plane_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """Return a grid around the root joint, as wide as the chain reaches, with its positive axes in their colours."""
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
    """Return the bounds of the tip's reach, faint unless the target is near one of them or is missed."""
    gaps = [np.sqrt(np.sum((bound - picture.target) ** 2, axis=-1)).min() for bound in picture.reach_bounds]
    nearness = 1.0 if picture.is_missed else np.clip(1.0 - min(gaps) / (NEAR * picture.length), 0.0, 1.0)
    red, green, blue, opacity = palette.reach
    color = (red, green, blue, opacity * float(QUIET + (1.0 - QUIET) * nearness))
    return joined(strip(bound, color) for bound in picture.reach_bounds)


def solution_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """Return the chain bent to both sides: the chosen one opaque with its joints marked, the other one faint."""
    size = MARK * picture.length
    return joined(
        [
            strip(picture.other_joints, faint(palette.chosen)),
            strip(picture.joints, palette.chosen),
            *(cross(joint, size, palette.chosen) for joint in picture.joints),
        ]
    )


def guide_lines(picture: ChainPicture, palette: Palette) -> Lines:
    """Return a line from the middle joint to the pole, and one from the tip to its aim if it misses the target."""
    lines = []
    if picture.pole is not None:
        lines.append(_line(picture.joints[1], picture.pole, faint(palette.chosen, GUIDING)))
    if picture.is_missed:
        lines.append(_line(picture.joints[-1], picture.aim, palette.too_far))
    return joined(lines)


def miss_lines(picture: PathPicture, palette: Palette) -> Lines:
    """Return lines from tip to target at the frames at which the tip misses it.

    There are none if the target never moves: it is not keyed yet, and a fan of lines would hide everything else.
    """
    if len(picture.frames) > 1 and np.ptp(picture.targets, axis=0).max() == 0.0:
        return joined(())
    missed = np.flatnonzero(~np.isin(picture.reach, (REACHED, SOFT)))
    missed = missed[np.unique(np.linspace(0, len(missed) - 1, min(len(missed), MOST_MISSES)).astype(int))]
    pairs = np.stack([picture.tips[missed], picture.targets[missed]], axis=1).reshape(-1, 3)
    return Lines(pairs, np.repeat([faint(palette.too_far)], len(pairs), axis=0))


def path_lines(picture: PathPicture, palette: Palette) -> Lines:
    """Return the target's path coloured by reach, and the tip's path."""
    colors = np.array(
        [
            {
                TOO_FAR: palette.too_far,
                TOO_NEAR: palette.too_near,
                DEGENERATE: palette.too_near,
                SOFT: palette.soft,
                ASIDE: palette.too_far,
            }.get(code, palette.reached)
            for code in range(ASIDE + 1)
        ]
    )
    return joined([strip(picture.tips, palette.tip), colored_strip(picture.targets, colors[picture.reach])])


def nudge_lines(drag: NudgeDrag, palette: Palette) -> Lines:
    """Return the lines of a nudge in progress: the tip's old and new path over the range, connected at each frame."""
    _, before, after = drag.paths()
    quiet = faint(palette.chosen, BEFORE_NUDGE)
    between = np.stack([before, after], axis=1).reshape(-1, 3)
    connecting = Lines(between, np.tile(quiet, (len(between), 1)))
    return joined([strip(before, quiet), strip(after, palette.reached), connecting])


def strip(points: Array, color: Color) -> Lines:
    """Return segments from each point `(P, 3)` to the next, in one colour."""
    return colored_strip(points, np.broadcast_to(np.array(color), (len(points), 4)))


def cross(center: Array, size: float, color: Color) -> Lines:
    """Return three lines through a position `(3,)` along the world axes, extending `size` to both sides."""
    return joined(_line(center - arm, center + arm, color) for arm in size * np.eye(3))


def colored_strip(points: Array, colors: Array) -> Lines:
    """Return segments from each point `(P, 3)` to the next, each in the colour, of `(P, 4)`, of its start.

    A segment is not a gradient: one that starts out of reach is entirely shown as out of reach.
    """
    order = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], axis=-1).reshape(-1)
    return Lines(points[order], colors[np.repeat(order[::2], 2)])


def _line(start: Array, end: Array, color: Color) -> Lines:
    return Lines(np.stack([start, end]), np.array([color, color]))


def faint(color: Color, factor: float = FAINT) -> Color:
    """Return a colour with its opacity multiplied by `factor`."""
    red, green, blue, opacity = color
    return red, green, blue, opacity * factor
