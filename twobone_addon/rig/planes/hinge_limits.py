"""Limits of bones about their own axes, as limits of a chain's joints in its plane."""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ..bones import RestChain

HALF_TURN = np.pi


def joint_limits_in_plane(chain: RestChain, normal: Array, turns: Array) -> Array:
    """Least and greatest angle `(n, 2)` of each joint, radians, whole turns where nothing limits it.

    normal : (3,), unit normal of the chain's plane at rest, armature space
    turns : (n, 3, 2), least and greatest turn of each turning bone from rest about its own axes

    Of each bone the axis nearest to the normal counts: about it the bone turns while the chain bends. The first joint's
    limits are turns from rest; those of the others are angles between links, so the angle at rest is added.
    """
    limits = np.empty((len(chain.turning), 2))
    for number, index in enumerate(chain.turning):
        axis = chain.bones[index].rest[:3, :3].T @ normal
        nearest = int(np.argmax(np.abs(axis)))
        low, high = turns[number, nearest]
        limits[number] = (low, high) if axis[nearest] > 0.0 else (-high, -low)
    limits[1:] += _rest_angles(chain, normal)[:, None]
    wide = ~(limits[:, 1] - limits[:, 0] < 2.0 * HALF_TURN)
    return np.where(wide[:, None], np.array([-HALF_TURN, HALF_TURN]), limits)


def _rest_angles(chain: RestChain, normal: Array) -> Array:
    """Angles `(n - 1,)` between the links at rest, counter-clockwise as seen from the normal."""
    links = np.diff(chain.rest_joints(), axis=0)
    flat = links - (links @ normal)[:, None] * normal
    before, after = flat[:-1], flat[1:]
    return np.arctan2(np.cross(before, after) @ normal, np.sum(before * after, axis=-1))
