"""Turn a bone axis into a hinge by Euler order and roll, and convert limits about bone axes to limits in the plane."""

from __future__ import annotations

import numpy as np

from ..array_types import Array
from .bones import RestChain
from .rotations import about_axis

QUARTER = 0.5 * np.pi

ORDERS = ("YZX", "ZXY", "XYZ")
"""Euler order, for each axis, that applies it last, so that its angle is a turn about that axis whatever the others are."""

Y_AXIS = np.array([0.0, 1.0, 0.0])


def roll_to_axis(axis: Array) -> float:
    """Smallest change of roll (radians) that turns a local axis `(3,)`, perpendicular to Y, into +-X or +-Z.

    Rolling turns the bone about its Y axis: a vector `v` in its space becomes `rolled(change).T @ v`.
    """
    change = np.arctan2(-axis[2], axis[0])
    return float(change - QUARTER * np.round(change / QUARTER))


def roll_rotation(change: float) -> Array:
    """Rotation `(3, 3)` of the bone's axes by a change of roll (radians), in the space of the unrolled bone."""
    return about_axis(Y_AXIS, np.asarray(change))


def joint_limits_in_plane(chain: RestChain, normal: Array, turns: Array) -> Array:
    """Least and greatest angle `(n, 2)` of each joint in the plane, radians; -pi and pi where nothing limits it.

    normal : (3,), unit normal of the chain's plane at rest, armature space
    turns : (n, 3, 2), least and greatest turn of each turning bone from rest about its local axes

    For each bone the axis nearest to the normal counts, about which it turns while the chain bends. The first joint's limits are
    turns from rest; the other joints' limits are angles between links, so the angle at rest is added.
    """
    limits = np.empty((len(chain.turning), 2))
    for number, index in enumerate(chain.turning):
        axis = chain.bones[index].rest[:3, :3].T @ normal
        nearest = int(np.argmax(np.abs(axis)))
        low, high = turns[number, nearest]
        limits[number] = (low, high) if axis[nearest] > 0.0 else (-high, -low)
    links = np.diff(chain.rest_joints(), axis=0)
    flat = links - (links @ normal)[:, None] * normal
    before, after = flat[:-1], flat[1:]
    limits[1:] += np.arctan2(np.cross(before, after) @ normal, np.sum(before * after, axis=-1))[:, None]
    wide = ~(limits[:, 1] - limits[:, 0] < 2.0 * np.pi)
    return np.where(wide[:, None], np.array([-np.pi, np.pi]), limits)
