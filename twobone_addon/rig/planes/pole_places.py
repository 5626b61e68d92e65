"""Where a pole has to be for a limb to stay as it is: the reverse of the plane through a pole."""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ...arrays import magnitude, path_length
from ..bones import bend_area
from ..rotations import about_axis, unit

STRAIGHT_LIMB = 2e-6
"""Height of the middle joint over the line, relative to the limb, below which it points nowhere: twice the noise of single
precision, and what a pole anywhere else would move it by stays below a hundred-thousandth."""

TRIANGLE = 3
"""Joints of two links."""


def pole_places(joints: Array, sides: Array, angle: float, normals: Array) -> Array:
    """Places `(F, 3)` of poles that keep a limb's plane.

    joints : (F, n + 1, 3)
    sides : (F,) of +1 and -1: on which side of the line the bend is to be, as `plane_through_pole` counts it
    angle : radians, the pole angle that will be used
    normals : (F, 3), of the planes that are to be kept; a straight limb is to bend counter-clockwise around them

    A pole stands one length of the limb farther than its middle joint from the line through root and tip. The middle of
    a zigzag may be on either side of it: of more than two links it is the side of the first bend that counts.
    """
    root, along = joints[:, 0], unit(joints[:, -1] - joints[:, 0])
    away = _away(joints, along)
    foot = root if joints.shape[1] > TRIANGLE else joints[:, 1] - away
    aside = unit(np.cross(along, normals))
    aside = aside * (sides * np.where(np.sum(away * aside, axis=-1) < 0.0, -1.0, 1.0))[:, None]
    if angle:
        aside = (about_axis(along, np.asarray(-angle)) @ aside[..., None])[..., 0]
    return foot + aside * (magnitude(away) + path_length(joints))[:, None]


def seen_normals(joints: Array, otherwise: Array) -> Array:
    """Normals `(F, 3)` of the planes that joints `(F, n + 1, 3)` lie in, however little they are bent.

    Of the signs of those `otherwise` `(F, 3)`, which are taken where the limb is straight.
    """
    along = unit(joints[:, -1] - joints[:, 0])
    away = _away(joints, along)
    bent = magnitude(away) > STRAIGHT_LIMB * path_length(joints)
    normals = unit(np.cross(away, along))
    normals = normals * np.where(np.sum(normals * otherwise, axis=-1) < 0.0, -1.0, 1.0)[:, None]
    return np.where(bent[:, None], normals, otherwise)


def _away(joints: Array, along: Array) -> Array:
    """From the line through root and tip to the middle joint, `(F, 3)`; of more than two links what their bends come to."""
    if joints.shape[1] > TRIANGLE:
        size = path_length(joints)
        return np.cross(along, bend_area(joints)) / np.where(size > 0.0, size, 1.0)[:, None]
    middle = joints[:, 1] - joints[:, 0]
    return middle - along * np.sum(middle * along, axis=-1, keepdims=True)
